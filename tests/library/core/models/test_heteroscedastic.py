"""A function and its log noise variance: the bound by brute force, and what is predicted."""

from dataclasses import replace
from itertools import product
from typing import TypeVar

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from relevance_bayes.core.algorithms import Greedy, Sequential
from relevance_bayes.core.basis import Bias, ConstantFunction, InputFunctions, Inputs, KernelBasis, KernelFunctions
from relevance_bayes.core.errors import IllegalCombinationError, SparseBayesError
from relevance_bayes.core.inference.process import ProcessRows, Vectors, bound
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, FixedWidth, Hyperparameters, InputMap
from relevance_bayes.core.likelihoods import GaussianNoise, LogVariance
from relevance_bayes.core.models.effects import joint
from relevance_bayes.core.models.fitting import FitLog, fit, pose
from relevance_bayes.core.models.heteroscedastic import CEILING, TwoFunctions, at_scales, heteroscedastic
from relevance_bayes.core.models.model import Model, Spec, check
from relevance_bayes.core.models.prediction import Ready, RealPrediction, latent
from relevance_bayes.core.models.prediction import predict as predicted
from relevance_bayes.core.priors import JITTER, GaussianProcess, Independent
from relevance_bayes.core.selection import FitContext, Rows, Selection, Trained, train
from relevance_bayes.core.types import Array
from tests.library.core.generators import returned

T = TypeVar("T")
VARYING = GaussianNoise("heteroscedastic")


def spec(likelihood: GaussianNoise = VARYING) -> Spec:
    basis = (KernelBasis(Gaussian(), EvidencePerInputWidth()), Bias(), Inputs())
    return Spec(likelihood, basis, GaussianProcess("rows", 1.0), Greedy())


def predict(model: Model, X: Array) -> RealPrediction:
    found = predicted(model, X)
    assert isinstance(found, RealPrediction)
    return found


def both(X: Array, t: Array) -> TwoFunctions:
    return returned(heteroscedastic(Rows(X, t), spec(), FitLog()))


def silence_and_noise(rows: int, seed: int) -> tuple[Array, Array, Array]:
    """A wave that is quiet at first, loud in the middle, and quieter again, as X (N, 1), t and noise sd (N,)."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2.0, 2.0, rows)
    sd = 0.05 + 0.6 * np.exp(-0.5 * ((x - 0.5) / 0.6) ** 2)
    return x[:, None], np.sin(3.0 * x) * np.exp(-0.5 * x**2) + sd * rng.standard_normal(rows), sd


def constant_noise(rows: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.4 * rng.standard_normal(rows)


def log_evidence(t: Array, of_mean: Array, of_noise: Array) -> float:
    """log p(t): f in closed form, g over a grid of Gauss-Hermite's points; both covariances are (N, N)."""
    points, weights = np.polynomial.hermite_e.hermegauss(20)
    weights = weights / weights.sum()
    g = np.array(list(product(points, repeat=len(t)))) @ np.linalg.cholesky(of_noise).T
    shares = np.array(list(product(weights, repeat=len(t)))).prod(axis=1)
    covariances = of_mean + np.exp(g)[:, :, None] * np.eye(len(t))
    inverses = np.linalg.inv(covariances)
    _, log_determinants = np.linalg.slogdet(2.0 * np.pi * covariances)
    exponents = -0.5 * (log_determinants + np.einsum("i,nij,j->n", t, inverses, t))
    return float(np.log(shares @ np.exp(exponents)))


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_in_turn_the_bound_rises_to_just_below_the_evidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, t = rng.standard_normal((3, 1)), rng.standard_normal(3)
    F = np.ones((3, 1))
    h = Hyperparameters(1.0, 0.8, np.array([0.5]), InputMap(np.array([1.2])))
    U = h.input_map(X)
    prior = h.signal_variance * (Gaussian()(U, U) + JITTER * np.eye(3)) + F @ F.T / h.alpha
    vectors = Vectors(np.arange(3), X)
    squares, values = t**2 + 1.0, list[float]()
    for _ in range(12):
        of_noise = bound(ProcessRows(X, squares, F), vectors, Gaussian(), LogVariance(), h).optimum
        divergence = float(of_noise.sites.value.sum()) - of_noise.value
        precisions = np.exp(0.5 * of_noise.v - of_noise.f)
        of_mean = bound(ProcessRows(X, t, F, precisions), vectors, Gaussian(), GaussianNoise("rows"), h).optimum
        values.append(of_mean.value - divergence - 0.25 * float(of_noise.v.sum()))
        squares = (t - of_mean.f) ** 2 + of_mean.v
    exact = log_evidence(t, prior, prior)
    assert (np.diff(values) >= -1e-9).all()
    assert exact - 0.8 < values[-1] < exact


def prior_precision(model: Model, alpha: dict[type, float]) -> Array:
    """Of the weights of the functions as they stand: E_mm/s of the kernel's, alpha of the others."""
    blocks = []
    for functions in model.functions:
        if isinstance(functions, KernelFunctions):
            K = functions(functions.centres, np.arange(functions.size)) + JITTER * np.eye(functions.size)
            assert model.signal_variance is not None
            blocks.append(K / model.signal_variance)
        else:
            blocks.append(alpha[type(functions)] * np.eye(functions.size))
    size = sum(len(block) for block in blocks)
    full, first = np.zeros((size, size)), 0
    for block in blocks:
        full[first : first + len(block), first : first + len(block)] = block
        first += len(block)
    return full


def divergence(model: Model, offset: float) -> float:
    """KL(N(m, S) || N(0, A^-1)), where the constant's prior has this mean."""
    alpha = {}
    first = 0
    for functions in model.functions:
        alpha[type(functions)] = float(model.alpha[first]) if functions.size else 1.0
        first += functions.size
    A = prior_precision(model, alpha)
    mean = model.mean.copy()
    mean[[isinstance(one, ConstantFunction) for one in model.functions for _ in range(one.size)]] -= offset
    _, of_prior = np.linalg.slogdet(A)
    _, of_posterior = np.linalg.slogdet(model.covariance)
    return 0.5 * float(np.trace(A @ model.covariance) + mean @ A @ mean - len(mean) - of_prior - of_posterior)


def test_the_bound_that_is_reported_is_that_of_the_model_alone() -> None:
    """Its definition, from what a model holds: expectations by quadrature, divergences by dense matrices."""
    X, t, _ = silence_and_noise(60, 1)
    found = both(X, t)
    model = found.model
    assert model.log_noise is not None
    f, g = latent(model, X), latent(model.log_noise.model, X)
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / weights.sum()
    logs = g.mean[:, None] + np.sqrt(g.variance)[:, None] * points
    squares = (t - f.mean) ** 2 + f.variance
    expected = -0.5 * (np.log(2.0 * np.pi) + logs + squares[:, None] * np.exp(-logs)) @ weights
    lam = np.exp(0.5 * g.variance - g.mean)
    centre = float(lam @ t / lam.sum())
    # The log noise is learned about that of the mean of the squares that it was learned from.
    values = [
        float(expected.sum()) - divergence(model, centre) - divergence(model.log_noise.model, raised)
        for raised in np.log(squares.mean()) + np.linspace(-0.02, 0.02, 3)
    ]
    assert min(values) - 1e-3 < model.evidence.value < max(values) + 1e-3


def test_the_noise_is_the_expectation_of_its_exponential() -> None:
    X, t, _ = silence_and_noise(80, 2)
    model = both(X, t).model
    assert model.log_noise is not None
    at = np.linspace(-1.5, 1.5, 5)[:, None]
    g = latent(model.log_noise.model, at)
    expected = [
        quad(lambda z, m=m, sd=sd: float(np.exp(m + sd * z) * norm.pdf(z)), -12.0, 12.0)[0]
        for m, sd in zip(g.mean, np.sqrt(g.variance), strict=True)
    ]
    np.testing.assert_allclose(predict(model, at).noise, expected, rtol=1e-7)


def test_noise_is_never_less_than_at_the_rows_and_bounded_far_away() -> None:
    X, t, _ = silence_and_noise(80, 3)
    model = both(X, t).model
    learned = predict(model, X).noise
    far = predict(model, np.array([[-1e6], [-30.0], [30.0], [1e6]])).noise
    assert (far >= learned.min() * (1.0 - 1e-9)).all()
    assert (far <= CEILING * learned.max() * (1.0 + 1e-9)).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("rows", [60, pytest.param(150, marks=pytest.mark.thorough)])
def test_rows_are_as_probable_as_their_own_noise_allows(rows: int, seed: int) -> None:
    X, t, _ = silence_and_noise(rows, seed)
    at, then, sd = silence_and_noise(1_000, seed + 100)
    found, alike = predict(both(X, t).model, at), predict(fit(X, t, spec(GaussianNoise())), at)
    assert found.log_density(then).mean() > alike.log_density(then).mean() + 0.3
    assert np.corrcoef(np.log(found.noise), 2.0 * np.log(sd))[0, 1] > 0.9
    lower, upper = found.interval(0.95)
    assert 0.86 < ((lower <= then) & (then <= upper)).mean() < 0.99


@pytest.mark.parametrize("rows", [30, pytest.param(120, marks=pytest.mark.thorough)])
def test_noise_of_one_size_is_found_to_be_that(rows: int) -> None:
    lost = []
    for seed in range(6):
        X, t = constant_noise(rows, seed)
        at, then = constant_noise(1_000, seed + 100)
        alike = predict(fit(X, t, spec(GaussianNoise())), at)
        lost.append(float((alike.log_density(then) - predict(both(X, t).model, at).log_density(then)).mean()))
    assert np.mean(lost) < 0.03
    assert max(lost) < 0.15


@pytest.mark.parametrize("share", [0.1, 0.2])
@pytest.mark.parametrize("seed", [0, 1])
def test_noise_in_proportion_is_covered_outside_the_data(share: float, seed: int) -> None:
    """y = 80 + .5 x, x up to 2,500: at 4,444, where 2,302 is true, and on rows half as far again as the data."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 2_500.0, 200)
    y = (80.0 + 0.5 * x) * (1.0 + share * rng.standard_normal(200))

    def to_x(at: Array) -> Array:
        return np.asarray(((at - x.mean()) / x.std())[:, None])

    def to_t(at: Array) -> Array:
        return np.asarray((at - y.mean()) / y.std())

    model = both(to_x(x), to_t(y)).model
    lower, upper = predict(model, to_x(np.array([4_444.0]))).interval(0.95)
    assert lower[0] < to_t(np.array(2_302.0)) < upper[0]
    outside = rng.uniform(2_500.0, 3_750.0, 1_000)
    then = to_t((80.0 + 0.5 * outside) * (1.0 + share * rng.standard_normal(1_000)))
    lower, upper = predict(model, to_x(outside)).interval(0.95)
    assert ((lower <= then) & (then <= upper)).mean() > 0.93
    alike = predict(fit(to_x(x), to_t(y), spec(GaussianNoise())), to_x(outside))
    lower, upper = alike.interval(0.95)
    assert ((lower <= then) & (then <= upper)).mean() < 0.85


@pytest.mark.parametrize(("factor", "offset"), [(7.0, 0.0), (0.01, 0.0), (3.0, 1_000.0)])
def test_the_targets_unit_changes_nothing_but_units(factor: float, offset: float) -> None:
    X, t, _ = silence_and_noise(60, 4)
    here, there = predict(both(X, t).model, X), predict(both(X, factor * t + offset).model, X)
    np.testing.assert_allclose(there.mean, factor * here.mean + offset, rtol=1e-3, atol=2e-2 * factor)
    np.testing.assert_allclose(there.noise, factor**2 * here.noise, rtol=0.05)


def test_a_joint_covariance_has_the_variances_on_its_diagonal() -> None:
    X, t, _ = silence_and_noise(60, 5)
    ready = Ready.of(both(X, t).model)
    at = np.linspace(-2.0, 2.0, 7)[:, None]
    mean, covariance = joint(ready, at)
    prediction = predict(ready.model, at)
    np.testing.assert_allclose(mean, prediction.mean, rtol=1e-12)
    np.testing.assert_allclose(covariance.diagonal(), prediction.noise + prediction.weights + prediction.residual)
    assert np.linalg.eigvalsh(covariance).min() > 0.0


def test_a_training_goes_on_from_its_checkpoint() -> None:
    X, t, _ = silence_and_noise(60, 6)

    def trained(fit_log: FitLog, max_functions: int | None = None) -> Model | None:
        for number, one in enumerate(train(Rows(X, t), Selection(spec()), on=FitContext(fit_log))):
            if isinstance(one, Trained):
                return one.model
            if number == max_functions:
                return None
        return None

    full = trained(FitLog())
    assert full is not None
    for max_functions in (2, 9, 14):
        broken_off = FitLog()
        assert trained(broken_off, max_functions) is None
        again = trained(FitLog(broken_off.entries))
        assert again is not None
        np.testing.assert_array_equal(again.mean, full.mean)
        assert again.evidence.value == full.evidence.value


def test_folds_measure_both_functions() -> None:
    X, t, _ = silence_and_noise(80, 7)
    *_, found = train(Rows(X, t), Selection(spec(), folds=4), held_out=Rows(*silence_and_noise(300, 8)[:2]))
    assert isinstance(found, Trained)
    assert found.validation["rows"] == 80.0
    assert found.model.log_noise is not None
    assert found.model.size == len(found.model.mean) + found.model.log_noise.model.size
    assert abs(found.validation["nll"] - found.scores["nll"]) < 0.5


def test_it_is_for_a_process_alone_and_for_two_fits() -> None:
    basis = (KernelBasis(Gaussian(), FixedWidth(1.0)), Bias())
    with pytest.raises(IllegalCombinationError):
        check(Spec(VARYING, basis, Independent(), Sequential()))
    with pytest.raises(IllegalCombinationError):
        check(replace(spec(), prior=GaussianProcess("rows", 1.0, rho=0.5)))
    X, t, _ = silence_and_noise(20, 9)
    with pytest.raises(SparseBayesError):
        pose(X, t, spec())
    assert any(isinstance(one, InputFunctions) for one in both(X, t).model.functions)


def test_at_the_scales_of_all_rows_these_rows_have_the_same_model_and_others_nearly() -> None:
    X, t, _ = silence_and_noise(300, 5)
    rows, folds = Rows(X, t), (np.arange(300), np.arange(240))
    found = both(X, t)
    same, fewer = (returned(at_scales(rows, some, spec(), found)) for some in folds)
    expected = predict(found.model, X)
    for one, tolerance in ((same, 0.02), (fewer, 0.3)):
        here = predict(one, X)
        np.testing.assert_allclose(here.mean, expected.mean, atol=tolerance * t.std())
        np.testing.assert_allclose(np.log(here.noise), np.log(expected.noise), atol=2.0 * tolerance)
    assert same.size == fewer.size == found.model.size


def test_later_rounds_go_on_from_the_first_and_do_not_lower_the_bound() -> None:
    X, t, _ = silence_and_noise(200, 6)
    first = returned(heteroscedastic(Rows(X, t), spec(), FitLog(), max_rounds=1))
    later = returned(heteroscedastic(Rows(X, t), spec(), FitLog(), after=first))
    assert later.value >= first.value
    assert later.value == pytest.approx(both(X, t).value, abs=1e-9)
