"""from dataclasses import dataclass, field, replace"""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from relevance_bayes.core import linalg
from relevance_bayes.core import rows as row_source
from relevance_bayes.core.algorithms import task as tasks
from relevance_bayes.core.basis import KernelFunctions, evaluate
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.inference.process import Bound, ProcessRows, RowSums, Vectors, bound, bound_gradient, row_sums
from relevance_bayes.core.kernels import Covariance, Gaussian
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import fit, iterates, pose
from relevance_bayes.core.priors import JITTER, GaussianProcess
from relevance_bayes.core.rows import BLOCK_ROWS, ArrayRows, Reduction, S
from tests.library.core.drawn import friedman, process_spec

X, T, _ = friedman(60, 0)
T -= T.mean()
H = Hyperparameters(
    0.7, 20.0, np.array([0.5, 0.1, 2.0]), InputMap(np.linspace(2.0, 6.0, 10), np.full(10, 0.2), np.full(10, -0.1))
)
PLACES = np.array([3, 17, 44, 8])
VECTORS = Vectors(PLACES, X[PLACES])
FIXED = (60, 61, 64)  # after 60 kernel functions, the bias and two inputs


def problem(threads: int = 1) -> Problem:
    return pose(X, T, process_spec(GaussianNoise(), inputs=True), threads=threads)


def sums(origin: float = 0.0, *, threads: int = 1, kernel: Covariance = Gaussian()) -> RowSums:  # noqa: B008
    return row_sums(problem(threads), FIXED, VECTORS, kernel, H, np.full(7, origin))


def on_all_rows_at_once(h: Hyperparameters) -> tuple[ProcessRows, Bound]:
    rows = ProcessRows(X, T, problem().columns(FIXED))
    return rows, bound(rows, VECTORS, Gaussian(), GaussianNoise(), h)


@pytest.mark.parametrize("origin", [0.0, 3.0], ids=["from zero", "from elsewhere"])
def test_sums_know_the_bound_its_posterior_and_its_gradient(origin: float) -> None:
    h = replace(H, beta=3.0, signal_variance=7.0, alpha=np.array([1.0, 0.3, 0.2]))
    rows, found = on_all_rows_at_once(h)
    gradient, _ = bound_gradient(rows, VECTORS, Gaussian(), h, found)
    reached = sums(origin).at(h)
    assert reached.value == pytest.approx(found.value, rel=1e-11)
    np.testing.assert_allclose(reached.gradient, gradient[:5], rtol=1e-8)
    np.testing.assert_allclose(reached.posterior.mean, found.optimum.posterior.mean, rtol=1e-8)
    np.testing.assert_allclose(reached.posterior.covariance, found.optimum.posterior.covariance, rtol=1e-8, atol=1e-14)


def test_blocks_of_rows_compute_what_all_rows_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    complete = sums()
    monkeypatch.setattr(row_source, "BLOCK_ROWS", 13)
    monkeypatch.setattr(linalg, "PIECE_BYTES", 8 * 10 * 7)  # seven rows of ten inputs
    parts = sums()
    assert parts.rows == complete.rows == 60
    np.testing.assert_allclose(parts.gram, complete.gram, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(parts.slope, complete.slope, rtol=1e-11, atol=1e-11)
    assert (parts.square, parts.left) == pytest.approx((complete.square, complete.left), rel=1e-12)


def test_how_many_threads_sum_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_source, "BLOCK_ROWS", 7)
    one, three = sums(), sums(threads=3)
    np.testing.assert_array_equal(one.gram, three.gram)
    np.testing.assert_array_equal(one.slope, three.slope)
    assert (one.square, one.left) == (three.square, three.left)


def test_next_to_no_noise_loses_nothing_to_cancellation() -> None:
    h = replace(H, beta=1e12)
    _, found = on_all_rows_at_once(h)
    near = row_sums(problem(), FIXED, VECTORS, Gaussian(), h, found.optimum.posterior.mean)
    assert near.at(h).value == pytest.approx(found.value, rel=1e-13)


@dataclass(frozen=True, eq=False)
class CountedRows(ArrayRows):
    """Rows in memory that note which passes over them are made."""

    passes: list[str] = field(default_factory=list)

    def reduce(self, reduction: Reduction[S], max_rows: int = BLOCK_ROWS) -> S:
        self.passes.append(type(reduction).__name__)
        return super().reduce(reduction, max_rows)


@pytest.mark.parametrize("rho", [0.0, 0.4])
def test_a_fit_sums_all_rows_once_and_what_is_kept_of_its_end_is_the_same_to_the_bit_when_made_anew(
    rho: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MIN_ROWS_TOGETHER", 150)
    monkeypatch.setattr(tasks, "ROWS_PER_FUNCTION", 0)
    X, t, _ = friedman(400, 1)
    spec = process_spec(GaussianNoise(), inputs=True)
    spec = replace(spec, prior=GaussianProcess(min_gain=3.0, rho=rho))
    source = CountedRows(X, t - t.mean())
    problem = replace(pose(X, t - t.mean(), spec), source=source)
    *_, before, last = iterates(problem, spec)
    kept = last.kept(problem)
    assert source.passes.count("SumRows") == 1
    for start in (before.state, last.state):
        *_, again = iterates(problem, spec, start)
        anew = again.kept(problem)
        np.testing.assert_array_equal(anew.mean, kept.mean)
        np.testing.assert_array_equal(anew.covariance, kept.covariance)


def test_a_fit_to_more_rows_than_are_learned_from_together_ends_with_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "MIN_ROWS_TOGETHER", 150)
    monkeypatch.setattr(tasks, "ROWS_PER_FUNCTION", 0)
    X, t, f = friedman(400, 1)
    t, f = t - t.mean(), f - t.mean()
    model = fit(X, t, process_spec(GaussianNoise(), inputs=True))
    kernel, *_ = model.functions
    assert isinstance(kernel, KernelFunctions)
    assert model.signal_variance is not None
    assert model.noise_sd is not None
    # The posterior by its definition, under N(0, s E_mm^-1) on the weights of the kernel's functions.
    P, m = evaluate(model.functions, X), kernel.size
    A = np.diag(model.alpha)
    A[:m, :m] = (kernel(kernel.centres, np.arange(m)) + JITTER * np.eye(m)) / model.signal_variance
    precision = A + P.T @ P / model.noise_sd**2
    mean = np.linalg.solve(precision, P.T @ t / model.noise_sd**2)
    np.testing.assert_allclose(P @ model.mean, P @ mean, atol=1e-4)
    spread = np.einsum("nr,nr->n", P, np.linalg.solve(precision, P.T).T)
    np.testing.assert_allclose(np.einsum("nr,nr->n", P @ model.covariance, P), spread, rtol=1e-4)
    assert np.sqrt(np.mean((P @ model.mean - f) ** 2)) < 0.5
