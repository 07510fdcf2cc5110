"""Noise that is known for each row: what it must be the same as."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from relevance_bayes.core import linalg
from relevance_bayes.core.algorithms import Algorithm, ReEstimation, Sequential
from relevance_bayes.core.algorithms import task as tasks
from relevance_bayes.core.errors import DataError
from relevance_bayes.core.inference import process as process_sums
from relevance_bayes.core.inference.evidence import evidence
from relevance_bayes.core.inference.exact_process import ExactProcess
from relevance_bayes.core.inference.factors import build
from relevance_bayes.core.inference.posterior import Augmented
from relevance_bayes.core.inference.process import ProcessRows, Vectors, bound, bound_gradient
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, FixedWidth, Hyperparameters, InputMap
from relevance_bayes.core.likelihoods import GaussianNoise, LogGaussian
from relevance_bayes.core.models.effects import joint
from relevance_bayes.core.models.fitting import fit, pose
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import Ready, RealPrediction, latent, leave_one_out, predict
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.selection import Folding, Rows, Selection, Trained, train
from relevance_bayes.core.types import Array, Indices
from tests.library.core.drawn import by_differences, marginal_covariance, process_spec, sinc, spec_for

BY_ROW = GaussianNoise("rows")
WALKS: dict[str, Spec] = {
    "sequential": spec_for(BY_ROW),
    "single": spec_for(BY_ROW, algorithm=Sequential("single")),
    "priced": replace(spec_for(BY_ROW), prior=Independent(price=True)),
    "mackay": spec_for(BY_ROW, algorithm=ReEstimation()),
    "em": spec_for(BY_ROW, algorithm=ReEstimation("em")),
}
GREEDY: dict[str, Spec] = {
    "fixed width": process_spec(BY_ROW, width=FixedWidth(3.0)),
    "rows": process_spec(BY_ROW, width=EvidencePerInputWidth(), vectors="rows", inputs=True),
    "free": process_spec(BY_ROW, width=EvidencePerInputWidth(), warp="evidence"),
}
EACH = {**WALKS, **GREEDY}


def scattered(rows: int, seed: int) -> tuple[Array, Array, Array]:
    """sinc, every row with a noise sd of its own, (N,)."""
    rng = np.random.default_rng((seed, 2))
    sd = np.exp(rng.uniform(np.log(0.03), np.log(0.5), rows))
    X, f = sinc(rows, seed, noise=0.0)
    return X, f + sd * rng.standard_normal(rows), sd


def assert_same(found: Model, expected: Model, X: Array, *, tolerance: float) -> None:
    here, there = latent(found, X), latent(expected, X)
    np.testing.assert_allclose(here.mean, there.mean, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(here.weights, there.weights, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(here.residual, there.residual, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("sd", [0.1, 0.004])
@pytest.mark.parametrize("name", EACH)
def test_equal_sds_are_a_noise_that_is_known(name: str, sd: float) -> None:
    X, t = sinc(50, 3, noise=sd)
    found = fit(X, t, EACH[name], noise_sd=np.full(50, sd))
    known = fit(X, t, replace(EACH[name], likelihood=GaussianNoise(sd)))
    assert found.noise_sd == pytest.approx(sd, rel=1e-12)
    # L-BFGS carries a last bit far, on flat ground above all: what it climbs is compared below.
    tolerance = 1e-3 if name in {"rows", "free"} else 1e-10
    assert found.evidence.value == pytest.approx(known.evidence.value, rel=tolerance)
    assert_same(found, known, np.linspace(-15.0, 15.0, 40)[:, None], tolerance=tolerance)


@pytest.mark.parametrize("name", WALKS)
def test_rows_twice_with_twice_the_variance_are_the_rows(name: str) -> None:
    X, t, sd = scattered(40, 1)
    once = fit(X, t, WALKS[name], noise_sd=sd)
    centres: Indices = np.arange(40)
    twice = fit(np.vstack([X, X]), np.tile(t, 2), WALKS[name], centres=centres, noise_sd=np.tile(2.0**0.5 * sd, 2))
    fewer, more = (replace(model, augmentation=None) for model in (once, twice))
    assert_same(more, fewer, np.linspace(-12.0, 12.0, 30)[:, None], tolerance=1e-4)


@pytest.mark.parametrize("name", WALKS)
def test_an_uninformative_row_changes_nothing(name: str) -> None:
    X, t, sd = scattered(40, 2)
    expected = fit(X, t, WALKS[name], noise_sd=sd)
    X, t, sd = np.append(X, [[1.5]], axis=0), np.append(t, 1e5), np.append(sd, 1e6 * sd.max())
    found = fit(X, t, WALKS[name], centres=np.arange(40), noise_sd=sd)
    # Re-estimation comes to rest slowly, and stops before.
    tolerance = 1e-4 if isinstance(WALKS[name].algorithm, Sequential) else 5e-3
    assert_same(found, expected, np.linspace(-12.0, 12.0, 30)[:, None], tolerance=tolerance)


@pytest.mark.parametrize("name", GREEDY)
def test_an_uninformative_row_leaves_a_process_as_good(name: str) -> None:
    X, t, sd = scattered(60, 2)
    places = np.linspace(-10.0, 10.0, 50)[:, None]
    truth = np.sinc(places[:, 0] / np.pi)
    expected = latent(fit(X, t, GREEDY[name], noise_sd=sd), places).mean
    X, t, sd = np.append(X, [[1.5]], axis=0), np.append(t, 1e5), np.append(sd, 1e6 * sd.max())
    found = latent(fit(X, t, GREEDY[name], noise_sd=sd), places).mean
    assert np.abs(found - truth).mean() < np.abs(expected - truth).mean() + 0.01


def test_the_evidence_is_that_of_whitened_rows() -> None:
    X, t, sd = scattered(30, 4)
    problem = pose(X, t, WALKS["sequential"], noise_sd=sd)
    active, alpha = (2, 9, 17, 28, 30), np.array([0.3, 2.0, 1.0, 7.0, 0.5])
    found = evidence(build(problem, active, np.zeros(5)), alpha, 1.0, np.zeros(5))
    P = problem.columns(active)
    whitened, targets = P / sd[:, None], t / sd
    Sigma = np.linalg.inv(np.diag(alpha) + whitened.T @ whitened)
    np.testing.assert_allclose(found.posterior.covariance, Sigma, rtol=1e-9)
    np.testing.assert_allclose(found.posterior.mean, Sigma @ whitened.T @ targets, rtol=1e-8)
    C = marginal_covariance(P, alpha, sd**-2)
    assert found.value == pytest.approx(float(multivariate_normal.logpdf(t, np.zeros(30), C)), rel=1e-10)
    of_whitened = marginal_covariance(whitened, alpha, np.ones(30))
    there = float(multivariate_normal.logpdf(targets, np.zeros(30), of_whitened)) - float(np.log(sd).sum())
    assert found.value == pytest.approx(there, rel=1e-10)


def test_looks_growth_and_loss_are_those_of_whitened_rows() -> None:
    X, t, sd = scattered(30, 5)
    problem = pose(X, t, WALKS["sequential"], noise_sd=sd)
    alpha = np.array([0.3, 2.0, 1.0])
    grown = build(problem, (2, 9), np.zeros(2)).added(17, np.array([0.1, -0.2])).added(30, np.array([0.1, 0.0, 0.3]))
    factors = grown.keeping(np.array([0, 2, 3]), np.array([0.1, 0.0, 0.3, 0.2]))
    found = evidence(factors, alpha, 1.0, np.zeros(3))
    seen = factors.candidate_statistics(found.posterior, 1.0)
    C = marginal_covariance(problem.columns((2, 17, 30)), alpha, sd**-2)
    Phi = problem.columns(tuple(range(problem.candidates.size)))
    np.testing.assert_allclose(seen.S, np.einsum("nm,nm->m", Phi, np.linalg.solve(C, Phi)), rtol=1e-7)
    np.testing.assert_allclose(seen.Q, Phi.T @ np.linalg.solve(C, t), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(seen.alone, sd**-2 @ Phi**2, rtol=1e-10)
    slopes = by_differences(
        lambda log_alpha: evidence(factors, np.exp(log_alpha), 1.0, np.zeros(3)).value, np.log(alpha)
    )
    np.testing.assert_allclose(found.gradient[:-1], slopes, rtol=1e-6, atol=1e-7)


def drawn_process(rows: int) -> tuple[ProcessRows, Hyperparameters]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(rows, 2))
    h = Hyperparameters(1.0, 1.4, np.array([0.7, 2.0]), InputMap(np.array([0.9, 1.7])))
    F = np.column_stack([np.ones(rows), X[:, 0]])
    return ProcessRows(X, rng.normal(size=rows), F, np.exp(rng.normal(1.0, 1.5, rows))), h


def test_the_process_itself_is_a_normal_distribution_with_each_rows_noise() -> None:
    rows, h = drawn_process(25)
    assert rows.precisions is not None
    U = h.input_map(rows.X)
    C = np.diag(1.0 / rows.precisions) + h.signal_variance * Gaussian()(U, U) + (rows.F / h.alpha) @ rows.F.T
    process = ExactProcess.of(rows, Gaussian(), h)
    value, gradient = process.value, process.gradient
    assert value == pytest.approx(float(multivariate_normal.logpdf(rows.t, np.zeros(25), C)), rel=1e-10)
    slopes = by_differences(lambda theta: ExactProcess.of(rows, Gaussian(), h.unpacked(theta)).value, h.packed())
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-7)


def test_the_bound_has_each_rows_noise_and_its_gradient() -> None:
    rows, h = drawn_process(25)
    assert rows.precisions is not None
    places = np.array([1, 4, 20])
    vectors = Vectors(places, rows.X[places], rows.X[places] + 0.3)
    found = bound(rows, vectors, Gaussian(), BY_ROW, h)
    alpha = np.append(h.alpha, np.full(3, 1.0 / h.signal_variance))
    C = marginal_covariance(found.columns.array(), alpha, rows.precisions)
    left = 0.5 * h.signal_variance * float(rows.precisions @ found.left)
    expected = float(multivariate_normal.logpdf(rows.t, np.zeros(25), C)) - left
    assert found.value == pytest.approx(expected, rel=1e-10)
    theta, places_slopes = bound_gradient(rows, vectors, Gaussian(), h, found)
    assert places_slopes is not None
    n = len(h.packed())

    def value(joined: Array) -> float:
        there = replace(vectors, moved=joined[n:].reshape(3, 2))
        return bound(rows, there, Gaussian(), BY_ROW, h.unpacked(joined[:n])).value

    assert vectors.moved is not None
    slopes = by_differences(value, np.append(h.packed(), vectors.moved))
    np.testing.assert_allclose(np.append(theta, places_slopes), slopes, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("block", [8 * 7, 2**20])
def test_sums_over_rows_compute_the_bound_on_all(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(linalg, "PIECE_BYTES", 8 * block)
    X, t, sd = scattered(40, 3)
    problem = pose(X, t, GREEDY["fixed width"], noise_sd=sd)
    h = Hyperparameters(1.0, 1.4, np.array([0.7]), InputMap(np.array([3.0])))
    places = np.array([3, 17, 29])
    vectors = Vectors(places, X[places])
    rows = ProcessRows(X, problem.t, np.ones((40, 1)), sd**-2)
    found = bound(rows, vectors, Gaussian(), BY_ROW, h)
    gradient, _ = bound_gradient(rows, vectors, Gaussian(), h, found)
    reached = process_sums.row_sums(problem, (40,), vectors, Gaussian(), h, np.full(4, 0.3)).at(h)
    assert reached.value == pytest.approx(found.value, rel=1e-10)
    np.testing.assert_allclose(reached.posterior.mean, found.optimum.posterior.mean, rtol=1e-8)
    np.testing.assert_allclose(reached.gradient, gradient[:3], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", GREEDY)
def test_many_rows_are_learned_from_each_with_its_noise(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(tasks, "MIN_ROWS_TOGETHER", 60)
    monkeypatch.setattr(tasks, "ROWS_PER_FUNCTION", 0)
    X, t, sd = scattered(400, 3)
    places = np.linspace(-9.0, 9.0, 50)[:, None]
    found = latent(fit(X, t, GREEDY[name], noise_sd=sd), places)
    wrong = found.mean - np.sinc(places[:, 0] / np.pi)
    assert np.abs(wrong).max() < 0.1
    assert np.mean(np.square(wrong) < 4.0 * found.variance) > 0.75


def test_equal_precisions_are_one_of_all_in_value_and_gradient() -> None:
    rows, h = drawn_process(25)
    vectors = Vectors(np.array([1, 4, 20]), rows.X[[1, 4, 20]], rows.X[[1, 4, 20]] + 0.3)
    each, known = replace(rows, precisions=np.full(25, 37.0)), replace(rows, precisions=None)
    there = replace(h, beta=37.0)
    here, one = bound(each, vectors, Gaussian(), BY_ROW, h), bound(known, vectors, Gaussian(), BY_ROW, there)
    assert here.value == pytest.approx(one.value, rel=1e-13)
    slopes = bound_gradient(each, vectors, Gaussian(), h, here)
    for slope, expected in zip(slopes, bound_gradient(known, vectors, Gaussian(), there, one), strict=True):
        assert slope is not None
        assert expected is not None
        np.testing.assert_allclose(slope, expected, rtol=1e-10, atol=1e-11)
    process = ExactProcess.of(each, Gaussian(), h)
    value, gradient = process.value, process.gradient
    expected_process = ExactProcess.of(known, Gaussian(), there)
    expected_value, expected_gradient = expected_process.value, expected_process.gradient
    assert value == pytest.approx(expected_value, rel=1e-13)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-10)


def test_the_bound_of_rows_twice_with_twice_the_variance_falls_by_what_t_alone_decides() -> None:
    rows, h = drawn_process(25)
    assert rows.precisions is not None
    F = np.vstack([rows.F, rows.F])
    twice = ProcessRows(np.vstack([rows.X, rows.X]), np.tile(rows.t, 2), F, np.tile(0.5 * rows.precisions, 2))
    vectors = Vectors(np.array([1, 4]), rows.X[[1, 4]])
    here, there = (bound(some, vectors, Gaussian(), BY_ROW, h) for some in (rows, twice))
    np.testing.assert_allclose(there.optimum.posterior.mean, here.optimum.posterior.mean, rtol=1e-9)
    np.testing.assert_allclose(there.optimum.posterior.covariance, here.optimum.posterior.covariance, rtol=1e-9)
    normalisers = 0.5 * float(np.log(rows.precisions / (2.0 * np.pi)).sum())
    halves = float(np.log(0.5 * rows.precisions / (2.0 * np.pi)).sum())
    assert there.value - halves == pytest.approx(here.value - normalisers, rel=1e-9)


def test_what_a_new_point_brings_is_known_as_far_as_each_row_knows_it() -> None:
    X, t, sd = scattered(30, 6)
    model = fit(X, t, WALKS["sequential"], noise_sd=sd)
    assert model.augmentation is not None
    assert model.noise_sd is not None
    kept = Augmented.of(model.augmentation, model.functions, model.alpha, noise_sd=model.noise_sd, rows=30)
    new = np.array([[-14.0], [-3.3], [0.2], [11.0]])
    everywhere = model.augmentation.functions
    Phi, p = everywhere(X, np.arange(30)), everywhere(new, np.arange(30))
    P = np.hstack([functions(X, np.arange(functions.size)) for functions in model.functions])
    columns = np.hstack([functions(new, np.arange(functions.size)) for functions in model.functions])
    assert Phi.shape == (30, 30)
    C = marginal_covariance(P, model.alpha, sd**-2)
    weights = sd**-2 / np.sum(sd**-2)
    prior = float(weights @ (t - weights @ t) ** 2 - 30.0 / np.sum(sd**-2))
    assert kept.prior == pytest.approx(prior, rel=1e-10)
    for n in range(4):
        s = float(p[n] @ np.linalg.solve(C, p[n]))
        e = 1.0 - float(columns[n] / model.alpha @ P.T @ np.linalg.solve(C, p[n]))
        assert float(kept.left(new, columns)[n]) == pytest.approx(e**2 / (1.0 + prior * s), rel=1e-6)


@pytest.mark.parametrize("name", ["sequential", "free"])
def test_leave_one_out_is_what_a_fit_without_the_row_predicts_at_the_same_hyperparameters(name: str) -> None:
    X, t, sd = scattered(30, 8)
    t -= np.average(t, weights=sd**-2)
    model = replace(fit(X, t, EACH[name], noise_sd=sd), augmentation=None)
    found = leave_one_out(model, Rows(X, t, sd), 0.0)
    P = np.hstack([functions(X, np.arange(functions.size)) for functions in model.functions])
    precision = np.linalg.inv(model.covariance)
    residual = latent(model, X).residual
    missed, densities = [], []
    for n in range(30):
        others = np.arange(30) != n
        Sigma = np.linalg.inv(precision - np.outer(P[n], P[n]) / sd[n] ** 2)
        mean = float(P[n] @ Sigma @ (P[others].T @ (t[others] / sd[others] ** 2)))
        variance = sd[n] ** 2 + float(P[n] @ Sigma @ P[n]) + residual[n]
        missed.append((t[n] - mean) ** 2)
        densities.append(0.5 * (np.log(2.0 * np.pi * variance) + missed[-1] / variance))
    assert found["rmse"] == pytest.approx(np.mean(missed) ** 0.5, rel=1e-5)
    assert found["nll"] == pytest.approx(np.mean(densities), rel=1e-5)


def test_a_prediction_has_its_rows_noise_or_the_mean_square_of_those_learned_from() -> None:
    X, t, sd = scattered(30, 9)
    model = fit(X, t, GREEDY["free"], noise_sd=sd)
    square = float(np.mean(sd**2))
    assert model.noise_sd == pytest.approx(square**0.5, rel=1e-12)
    plain, own = predict(model, X), predict(model, X, 2.0 * sd)
    assert isinstance(plain, RealPrediction)
    assert isinstance(own, RealPrediction)
    np.testing.assert_allclose(plain.noise, np.full(30, square), rtol=1e-12)
    np.testing.assert_allclose(own.noise, 4.0 * sd**2, rtol=1e-12)
    np.testing.assert_array_equal(own.mean, plain.mean)
    ready = Ready.of(model)
    _, covariance = joint(ready, X, 2.0 * sd)
    _, without = joint(ready, X)
    np.testing.assert_allclose(covariance - without, np.diag(4.0 * sd**2 - square), atol=1e-12)


def test_noise_comes_with_rows_only_where_the_likelihood_has_it_as_known() -> None:
    X, t, sd = scattered(20, 0)
    for likelihood, noise_sd in ((BY_ROW, None), (GaussianNoise(), sd), (GaussianNoise(0.1), sd), (LogGaussian(), sd)):
        with pytest.raises(DataError):
            fit(X, np.exp(t), spec_for(likelihood), noise_sd=noise_sd)
    with pytest.raises(DataError, match="only where"):
        predict(fit(X, t, spec_for(GaussianNoise(0.1))), X, sd)
    with pytest.raises(DataError, match="20 rows"):
        predict(fit(X, t, WALKS["sequential"], noise_sd=sd), X, sd[:5])


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf])
def test_a_noise_that_is_none_is_refused(wrong: float) -> None:
    X, t, sd = scattered(20, 0)
    sd[4] = wrong
    with pytest.raises(DataError, match="above 0"):
        fit(X, t, WALKS["sequential"], noise_sd=sd)


@pytest.mark.parametrize("algorithm", [Sequential(), ReEstimation()])
def test_targets_that_are_all_the_same_can_be_learned_from(algorithm: Algorithm) -> None:
    X, _, sd = scattered(20, 0)
    model = fit(X, np.full(20, 0.7), spec_for(BY_ROW, algorithm=algorithm), noise_sd=sd)
    np.testing.assert_allclose(latent(model, X).mean, np.full(20, 0.7), atol=0.05)


def test_a_training_measures_with_each_rows_noise() -> None:
    X, t, sd = scattered(60, 11)
    rows, away = Rows(X, t, sd), Rows(*scattered(200, 12))
    spec, alternative = GREEDY["free"], replace(WALKS["priced"], basis=spec_for(BY_ROW).basis)
    *_, last = train(rows, Selection(spec, compared_models=(alternative,), folds=3), folding=Folding(), held_out=away)
    assert isinstance(last, Trained)
    assert last.validation["rows"] == 60.0
    for measured in (last.scores, last.validation, last.leave_one_out):
        assert 0.88 < measured["coverage_95"] <= 1.0
    without = predict(last.model, away.X).log_density(away.t)
    assert last.scores["nll"] < -float(without.mean()) - 0.1
