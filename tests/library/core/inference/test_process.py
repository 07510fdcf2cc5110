"""import tracemalloc"""

import tracemalloc
from dataclasses import replace
from itertools import product
from typing import get_args

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from relevance_bayes.core import linalg
from relevance_bayes.core import priors as gaussian_process
from relevance_bayes.core.inference.coupled import TOLERANCE_NEAR
from relevance_bayes.core.inference.exact_process import ExactProcess
from relevance_bayes.core.inference.process import ProcessRows, Vectors, bound, bound_gradient
from relevance_bayes.core.kernels import Covariance, Gaussian
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap, Terms
from relevance_bayes.core.likelihoods import (
    Bernoulli,
    Categorical,
    GaussianNoise,
    Likelihood,
    LogVariance,
    OneAgainstRest,
    bernoulli,
)
from relevance_bayes.core.types import Array
from tests.library.core.drawn import by_differences

KERNELS: list[Covariance] = [member() for member in get_args(Covariance)]

each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.type)
each_likelihood = pytest.mark.parametrize(
    "likelihood",
    [GaussianNoise(), Bernoulli(), Categorical(3), OneAgainstRest(3), LogVariance()],
    ids=lambda member: member.type,
)
each_number_of_widths = pytest.mark.parametrize("one", [True, False], ids=["one width", "each"])
warped_or_not = pytest.mark.parametrize("warp", [True, False], ids=["warped", "plain"])


def drawn(likelihood: Likelihood, *, rows: int = 20, inputs: int = 2, columns: int = 2, seed: int = 0) -> ProcessRows:
    """Rows with a bias, and the inputs as columns after it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, inputs))
    curve = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, -1] + 0.2 * rng.standard_normal(rows)
    match likelihood:
        case Bernoulli():
            t = (curve > 0.0).astype(np.float64)
        case Categorical() | OneAgainstRest():
            t, _ = likelihood.working(np.digitize(curve, [-0.4, 0.4]).astype(np.float64))
        case LogVariance():
            t = np.square(curve)
        case _:
            t = curve
    return ProcessRows(X, t, np.column_stack([np.ones(rows), X])[:, :columns])


def guessed(columns: int = 2, inputs: int = 2, *, one: bool = False, warp: bool = False) -> Hyperparameters:
    widths = np.array([1.7]) if one else np.linspace(1.2, 2.1, inputs)
    bends = (np.linspace(0.2, -0.3, inputs), np.linspace(-0.2, 0.1, inputs)) if warp else (None, None)
    return Hyperparameters(12.0, 0.8, np.linspace(0.5, 2.0, columns), InputMap(widths, *bends))


def on_rows(rows: ProcessRows, places: list[int]) -> Vectors:
    chosen = np.array(places, np.intp)
    return Vectors(chosen, rows.X[chosen])


def prior_covariance(rows: ProcessRows, kernel: Covariance, h: Hyperparameters) -> Array:
    """Of the latent at all rows: s K + F diag(1/alpha) F'."""
    U = h.input_map(rows.X)
    covariance: Array = h.signal_variance * kernel(U, U) + (rows.F / h.alpha) @ rows.F.T
    return covariance


def log_normal(t: Array, covariance: Array) -> float:
    return float(multivariate_normal(np.zeros(len(t)), covariance).logpdf(t))


@each_kernel
@warped_or_not
def test_the_evidence_of_the_process_is_a_normal_density(kernel: Covariance, warp: bool) -> None:
    rows, h = drawn(GaussianNoise()), guessed(warp=warp)
    value = ExactProcess.of(rows, kernel, h).value
    C = prior_covariance(rows, kernel, h) + np.eye(20) / h.beta
    assert value == pytest.approx(log_normal(rows.t, C), rel=1e-10)


@each_kernel
@each_number_of_widths
@warped_or_not
def test_the_evidence_of_the_process_has_its_gradient(kernel: Covariance, one: bool, warp: bool) -> None:
    rows, h = drawn(GaussianNoise()), guessed(one=one, warp=warp)
    gradient = ExactProcess.of(rows, kernel, h).gradient
    slopes = by_differences(lambda theta: ExactProcess.of(rows, kernel, h.unpacked(theta)).value, h.packed())
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-7)


def test_a_process_without_columns_is_the_kernel_alone() -> None:
    rows, h = drawn(GaussianNoise(), columns=0), guessed(0)
    process = ExactProcess.of(rows, Gaussian(), h)
    value, gradient = process.value, process.gradient
    assert value == pytest.approx(log_normal(rows.t, prior_covariance(rows, Gaussian(), h) + np.eye(20) / h.beta))
    assert len(gradient) == 4


def closed_form(rows: ProcessRows, E: Array, E_mm: Array, h: Hyperparameters) -> float:
    """L with T in the weights of the functions themselves, rho = 0 [THEORY 9]."""
    F, N = len(h.alpha), len(rows.t)
    P = np.hstack([rows.F, E])
    A = np.zeros((P.shape[1], P.shape[1]))
    A[:F, :F], A[F:, F:] = np.diag(h.alpha), E_mm / h.signal_variance
    c = h.signal_variance * (1.0 - np.einsum("nm,mn->n", E, np.linalg.solve(E_mm, E.T)))
    precision = A + h.beta * P.T @ P
    mu = np.linalg.solve(precision, h.beta * P.T @ rows.t)
    r = rows.t - P @ mu
    log_determinants = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(A)[1] - N * np.log(h.beta)
    fit = N * np.log(2.0 * np.pi) + log_determinants + h.beta * r @ r + mu @ A @ mu
    return float(-0.5 * fit - 0.5 * h.beta * c.sum())


@each_kernel
@pytest.mark.parametrize("columns", [0, 2])
def test_with_gaussian_noise_the_bound_is_its_closed_form(kernel: Covariance, columns: int) -> None:
    rows, h = drawn(GaussianNoise(), columns=columns), guessed(columns, warp=True)
    vectors = on_rows(rows, [3, 17, 8, 0])
    found = bound(rows, vectors, kernel, GaussianNoise(), h)
    U, V = h.input_map(rows.X), vectors.mapped(h)
    E, E_mm = kernel(U, V), kernel(V, V) + gaussian_process.JITTER * np.eye(4)
    assert found.value == pytest.approx(closed_form(rows, E, E_mm, h), rel=1e-9)


def test_latents_of_the_bound_are_what_it_predicts_at_its_rows() -> None:
    rows, h = drawn(GaussianNoise()), guessed()
    vectors = on_rows(rows, [3, 17, 8, 0])
    found = bound(rows, vectors, Gaussian(), GaussianNoise(), h)
    U, V = h.input_map(rows.X), vectors.mapped(h)
    E, E_mm = Gaussian()(U, V), Gaussian()(V, V) + gaussian_process.JITTER * np.eye(4)
    # What the vectors explain, as one Gaussian process: Q = s E E_mm^-1 E' + F diag(1/alpha) F'.
    explained = h.signal_variance * E @ np.linalg.solve(E_mm, E.T)
    Q = explained + (rows.F / h.alpha) @ rows.F.T
    C = Q + np.eye(20) / h.beta
    c = h.signal_variance - explained.diagonal()
    np.testing.assert_allclose(found.optimum.f, Q @ np.linalg.solve(C, rows.t), rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(found.optimum.v, c + (Q - Q @ np.linalg.solve(C, Q)).diagonal(), rtol=1e-6, atol=1e-10)


@each_kernel
@pytest.mark.parametrize("places", [[], [0], list(range(20))], ids=["none", "one", "all"])
def test_the_bound_stays_below_the_evidence(kernel: Covariance, places: list[int]) -> None:
    rows, h = drawn(GaussianNoise()), guessed()
    value = ExactProcess.of(rows, kernel, h).value
    assert bound(rows, on_rows(rows, places), kernel, GaussianNoise(), h).value <= value


@each_kernel
def test_with_a_vector_on_every_row_the_bound_is_the_evidence(
    kernel: Covariance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gaussian_process, "JITTER", 1e-9)
    rows, h = drawn(GaussianNoise()), guessed()
    process = ExactProcess.of(rows, kernel, h)
    value, gradient = process.value, process.gradient
    vectors = on_rows(rows, list(range(20)))
    found = bound(rows, vectors, kernel, GaussianNoise(), h)
    assert found.value == pytest.approx(value, abs=1e-6 * 20)
    slope, _ = bound_gradient(rows, vectors, kernel, h, found)
    np.testing.assert_allclose(slope, gradient, rtol=1e-4, atol=1e-4)


@each_likelihood
@each_kernel
def test_another_vector_never_lowers_the_bound(likelihood: Likelihood, kernel: Covariance) -> None:
    rows, h = drawn(likelihood), guessed()
    order = np.random.default_rng(1).permutation(20).tolist()
    values = [bound(rows, on_rows(rows, order[:size]), kernel, likelihood, h).value for size in (0, 1, 2, 4, 8, 12, 20)]
    assert (np.diff(values) >= -1e-8 * np.abs(values[1:])).all()


def class_evidence(rows: ProcessRows, h: Hyperparameters) -> float:
    """log p(t) of few rows, the latent summed over a grid of Gauss-Hermite's points."""
    points, weights = np.polynomial.hermite_e.hermegauss(48)
    weights = weights / weights.sum()
    N = len(rows.t)
    lower = np.linalg.cholesky(prior_covariance(rows, Gaussian(), h))
    grid = np.array(list(product(points, repeat=N)))
    shares = np.array(list(product(weights, repeat=N))).prod(axis=1)
    signs = 2.0 * rows.t - 1.0
    return float(np.log(shares @ (1.0 / (1.0 + np.exp(-signs * (grid @ lower.T)))).prod(axis=1)))


@pytest.mark.parametrize(("rows", "seed"), [(2, 0), (3, 0), (3, 1)])
@pytest.mark.parametrize("amplitude", [0.3, 3.0])
def test_the_bound_of_classes_stays_just_below_the_evidence(rows: int, seed: int, amplitude: float) -> None:
    few, h = drawn(Bernoulli(), rows=rows, columns=1, seed=seed), replace(guessed(1), signal_variance=amplitude)
    value = class_evidence(few, h)
    every = bound(few, on_rows(few, list(range(rows))), Gaussian(), Bernoulli(), h).value
    one = bound(few, on_rows(few, [0]), Gaussian(), Bernoulli(), h).value
    assert one <= every + 1e-9
    assert value - 0.1 * amplitude < every < value


def test_the_posterior_of_classes_rests() -> None:
    """At rest m = A^-1 P'g, whatever way led there."""
    rows, h = drawn(Bernoulli(), rows=40), guessed()
    found = bound(rows, on_rows(rows, [3, 17, 8, 30]), Gaussian(), Bernoulli(), h)
    rest = found.columns.array().T @ found.optimum.sites.gradient / found.optimum.posterior.alpha
    np.testing.assert_allclose(found.optimum.posterior.mean, rest, atol=1e-3)
    np.testing.assert_allclose(
        found.optimum.f, found.columns.array() @ found.optimum.posterior.mean, rtol=1e-9, atol=1e-12
    )


@each_likelihood
@each_number_of_widths
@warped_or_not
@pytest.mark.parametrize("moves", [True, False], ids=["moved", "on rows"])
def test_the_bound_has_its_gradient(likelihood: Likelihood, one: bool, warp: bool, moves: bool) -> None:
    rows, h = drawn(likelihood), guessed(one=one, warp=warp)
    vectors = on_rows(rows, [3, 17, 8, 0])
    if moves:
        places = vectors.X + 0.1 * np.random.default_rng(5).standard_normal((4, 2))
        vectors = replace(vectors, moved=InputMap(np.ones(1), h.input_map.skew, h.input_map.tail)(places))
    n = len(h.packed())

    def value(joined: Array) -> float:
        moved = None if vectors.moved is None else joined[n:].reshape(4, 2)
        there = replace(vectors, moved=moved)
        return bound(rows, there, Gaussian(), likelihood, h.unpacked(joined[:n])).value

    found = bound(rows, vectors, Gaussian(), likelihood, h)
    gradient, places_slope = bound_gradient(rows, vectors, Gaussian(), h, found)
    assert (places_slope is None) == (not moves)
    joined, complete = h.packed(), gradient
    if vectors.moved is not None and places_slope is not None:
        joined, complete = np.append(joined, vectors.moved), np.append(gradient, places_slope)
    # The posterior of classes rests to some digits only.
    tolerance = 1e-6 if likelihood.has_constant_precision else 2e-4
    np.testing.assert_allclose(complete, by_differences(value, joined, 1e-4), rtol=tolerance, atol=tolerance)


@each_kernel
@pytest.mark.parametrize("inputs", [1, 5])
def test_the_bound_has_its_gradient_under_every_kernel(kernel: Covariance, inputs: int) -> None:
    rows, h = drawn(GaussianNoise(), inputs=inputs), guessed(inputs=inputs)
    vectors = on_rows(rows, [3, 17, 8, 0])
    found = bound(rows, vectors, kernel, GaussianNoise(), h)
    gradient, _ = bound_gradient(rows, vectors, kernel, h, found)
    slopes = by_differences(
        lambda theta: bound(rows, vectors, kernel, GaussianNoise(), h.unpacked(theta)).value, h.packed()
    )
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6)


@each_likelihood
@pytest.mark.parametrize("inputs", [1, 5])
def test_without_vectors_the_columns_are_left_and_the_whole_process_is_noise(
    likelihood: Likelihood, inputs: int
) -> None:
    rows, h = drawn(likelihood, inputs=inputs), guessed(inputs=inputs)
    found = bound(rows, on_rows(rows, []), Gaussian(), likelihood, h)
    gradient, _ = bound_gradient(rows, on_rows(rows, []), Gaussian(), h, found)
    np.testing.assert_allclose(
        found.optimum.v,
        h.signal_variance + ((rows.F @ found.optimum.posterior.covariance) * rows.F).sum(axis=1),
    )
    slopes = by_differences(
        lambda theta: bound(rows, on_rows(rows, []), Gaussian(), likelihood, h.unpacked(theta)).value, h.packed(), 1e-4
    )
    np.testing.assert_allclose(gradient, slopes, rtol=2e-4, atol=2e-4)


APART = Terms((2, 0), np.array([-0.6, 0.3]))


@each_kernel
@warped_or_not
def test_with_terms_the_evidence_has_its_gradient(kernel: Covariance, warp: bool) -> None:
    rows, h = drawn(GaussianNoise(), inputs=4), replace(guessed(inputs=4, warp=warp), terms=APART)
    process = ExactProcess.of(rows, kernel, h)
    value, gradient = process.value, process.gradient
    U = h.input_map(rows.X)
    K = sum(share * kernel(U[:, [k]], U[:, [k]]) for k, share in zip(APART.alone, APART.shares, strict=True))
    K = K + (1.0 - APART.shares.sum()) * kernel(U[:, [1, 3]], U[:, [1, 3]])
    C = h.signal_variance * K + (rows.F / h.alpha) @ rows.F.T + np.eye(20) / h.beta
    assert value == pytest.approx(log_normal(rows.t, C), rel=1e-10)
    slopes = by_differences(lambda theta: ExactProcess.of(rows, kernel, h.unpacked(theta)).value, h.packed())
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-7)


@each_kernel
@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_with_terms_the_bound_has_its_gradient_under_every_kernel(kernel: Covariance, rho: float) -> None:
    rows, h = drawn(GaussianNoise(), inputs=4), replace(guessed(inputs=4), terms=APART)
    vectors = on_rows(rows, [3, 17, 8, 0])
    found = bound(rows, vectors, kernel, GaussianNoise(), h, rho)
    gradient, _ = bound_gradient(rows, vectors, kernel, h, found)
    slopes = by_differences(
        lambda theta: bound(rows, vectors, kernel, GaussianNoise(), h.unpacked(theta), rho).value, h.packed()
    )
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6)


@each_likelihood
def test_with_terms_the_bound_has_its_gradient_where_vectors_move(likelihood: Likelihood) -> None:
    rows, h = drawn(likelihood, inputs=4), replace(guessed(inputs=4, warp=True), terms=APART)
    vectors = on_rows(rows, [3, 17, 8, 0])
    vectors = replace(vectors, moved=vectors.X + 0.1 * np.random.default_rng(5).standard_normal((4, 4)))
    n = len(h.packed())

    def value(joined: Array) -> float:
        there = replace(vectors, moved=joined[n:].reshape(4, 4))
        return bound(rows, there, Gaussian(), likelihood, h.unpacked(joined[:n])).value

    found = bound(rows, vectors, Gaussian(), likelihood, h)
    gradient, places = bound_gradient(rows, vectors, Gaussian(), h, found)
    assert vectors.moved is not None
    assert places is not None
    slopes = by_differences(value, np.append(h.packed(), vectors.moved), 1e-4)
    tolerance = 1e-6 if likelihood.has_constant_precision else 2e-4
    np.testing.assert_allclose(np.append(gradient, places), slopes, rtol=tolerance, atol=tolerance)


@each_kernel
def test_with_terms_and_a_vector_on_every_row_the_bound_is_the_evidence(
    kernel: Covariance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gaussian_process, "JITTER", 1e-9)
    rows, h = drawn(GaussianNoise(), inputs=4), replace(guessed(inputs=4), terms=APART)
    value = ExactProcess.of(rows, kernel, h).value
    found = bound(rows, on_rows(rows, list(range(20))), kernel, GaussianNoise(), h)
    assert found.value == pytest.approx(value, abs=1e-6 * 20)


@pytest.mark.parametrize("likelihood", [Bernoulli(), Categorical(3)], ids=["two classes", "three"])
def test_from_sites_that_settled_nearby_the_bound_is_the_same(likelihood: Likelihood) -> None:
    rows, h = drawn(likelihood, rows=40), guessed()
    vectors = on_rows(rows, [3, 17, 8, 30])
    near = bound(rows, vectors, Gaussian(), likelihood, h.unpacked(h.packed() + 0.1)).optimum
    anew, goes_on = (bound(rows, vectors, Gaussian(), likelihood, h, near=start) for start in (None, near))
    assert goes_on.value == pytest.approx(anew.value, abs=TOLERANCE_NEAR * (1.0 + abs(anew.value)))
    slopes = [bound_gradient(rows, vectors, Gaussian(), h, found)[0] for found in (anew, goes_on)]
    np.testing.assert_allclose(slopes[1], slopes[0], atol=1e-3)


def test_the_bound_of_classes_and_its_gradient_hold_the_columns_at_all_rows_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """13 MB of columns and some 60 numbers a row; six times as much as the columns take was held."""
    monkeypatch.setattr(linalg, "PIECE_BYTES", 2**18)
    monkeypatch.setattr(bernoulli, "CELLS", 2**9)
    rng = np.random.default_rng(0)
    X, places = rng.standard_normal((20_000, 3)), np.arange(80)
    rows = ProcessRows(X, (X.sum(axis=1) + rng.standard_normal(20_000) > 0.0).astype(np.float64), np.ones((20_000, 1)))
    vectors, h = Vectors(places, X[places]), Hyperparameters(1.0, 1.0, np.ones(1), InputMap(np.full(3, 2.0)))
    tracemalloc.start()
    found = bound(rows, vectors, Gaussian(), Bernoulli(), h)
    bound_gradient(rows, vectors, Gaussian(), h, found)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2.2 * found.columns.array().nbytes


@pytest.mark.parametrize("likelihood", [Bernoulli(), GaussianNoise()], ids=lambda one: one.type)
def test_how_many_rows_are_computed_at_once_changes_nothing_but_rounding(
    likelihood: Likelihood, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    X, places = rng.standard_normal((50, 3)), np.arange(6)
    rows = ProcessRows(X, (X.sum(axis=1) > 0.0).astype(np.float64), np.column_stack([np.ones(50), X[:, 0]]))
    vectors = Vectors(places, X[places], X[places] + 0.1)
    h = Hyperparameters(4.0, 1.5, np.array([1.0, 0.3]), InputMap(np.full(3, 2.0), np.full(3, 0.2), np.full(3, -0.1)))

    def slopes() -> tuple[float, Array]:
        found = bound(rows, vectors, Gaussian(), likelihood, h)
        theta, moved = bound_gradient(rows, vectors, Gaussian(), h, found)
        assert moved is not None
        return found.value, np.append(theta, moved)

    value, complete = slopes()
    monkeypatch.setattr(linalg, "PIECE_BYTES", 8 * 8 * 7)  # seven rows of eight columns
    by_pieces, parts = slopes()
    assert by_pieces == pytest.approx(value, rel=1e-11)
    np.testing.assert_allclose(parts, complete, rtol=1e-9, atol=1e-9 * float(np.abs(complete).max()))
