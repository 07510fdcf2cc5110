"""from typing import get_args"""

from typing import get_args

import numpy as np
import pytest

from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.inference.exact_process import ExactProcess
from relevance_bayes.core.inference.process import ProcessRows
from relevance_bayes.core.kernels import Covariance, Gaussian, Matern32
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap
from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.models.local import likelihood as conditioning
from relevance_bayes.core.models.local.likelihood import NeighbourLikelihood
from relevance_bayes.core.models.local.neighbours import ABSENT, Neighbourhoods, NeighbourSearch, earlier
from tests.library.core.drawn import by_differences

RADIAL: list[Radial] = [
    kernel for kernel in (member() for member in get_args(Covariance)) if isinstance(kernel, Radial)
]

each_kernel = pytest.mark.parametrize("kernel", RADIAL, ids=lambda kernel: kernel.type)
warped_or_not = pytest.mark.parametrize("warp", [True, False], ids=["warped", "plain"])
one_noise_or_each = pytest.mark.parametrize("each", [True, False], ids=["noise by row", "one noise"])


def drawn(rows: int = 40, inputs: int = 3, *, each: bool = False) -> ProcessRows:
    """Rows with a bias and the inputs as columns."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((rows, inputs))
    t = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, -1] + 0.2 * rng.standard_normal(rows)
    return ProcessRows(X, t, np.column_stack([np.ones(rows), X]), rng.uniform(0.5, 2.0, rows) if each else None)


def guessed(inputs: int = 3, *, warp: bool = False) -> Hyperparameters:
    bends = (np.linspace(0.2, -0.3, inputs), np.linspace(-0.2, 0.1, inputs)) if warp else (None, None)
    alpha = np.linspace(0.5, 2.0, 1 + inputs)
    return Hyperparameters(12.0, 0.8, alpha, InputMap(np.linspace(1.2, 2.1, inputs), *bends))


def of_few(rows: ProcessRows, kernel: Radial, h: Hyperparameters, m: int, threads: int = 1) -> NeighbourLikelihood:
    targets = np.arange(len(rows.t))
    return NeighbourLikelihood.of(rows, kernel, earlier(h.input_map(rows.X), targets, m), threads)


@each_kernel
@warped_or_not
@one_noise_or_each
def test_with_all_earlier_rows_as_neighbours_it_is_the_process_itself(kernel: Radial, warp: bool, each: bool) -> None:
    rows, h = drawn(each=each), guessed(warp=warp)
    value, gradient = of_few(rows, kernel, h, len(rows.t) - 1).gradient(h)
    assert isinstance(kernel, Covariance)
    process = ExactProcess.of(rows, kernel, h)
    complete, slope = process.value, process.gradient
    assert value == pytest.approx(complete, rel=1e-9)
    np.testing.assert_allclose(gradient, slope, rtol=1e-7, atol=1e-8)


@each_kernel
@warped_or_not
@one_noise_or_each
def test_with_few_neighbours_it_has_its_gradient(kernel: Radial, warp: bool, each: bool) -> None:
    rows, h = drawn(each=each), guessed(warp=warp)
    likelihood = of_few(rows, kernel, h, 5)
    _, gradient = likelihood.gradient(h)
    slopes = by_differences(lambda theta: likelihood.gradient(h.unpacked(theta))[0], h.packed())
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6)


def test_each_target_is_conditioned_on_its_neighbours_alone() -> None:
    rows, h, kernel = drawn(each=True), guessed(warp=True), Matern32()
    U = h.input_map(rows.X)
    assert rows.precisions is not None
    C = h.signal_variance * kernel(U, U) + (rows.F / h.alpha) @ rows.F.T + np.diag(1.0 / (h.beta * rows.precisions))
    likelihood = of_few(rows, kernel, h, 4)
    found, total = likelihood.conditionals(h), 0.0
    for i, (mean, variance) in enumerate(zip(found.mean, found.variance, strict=True)):
        near = sorted(range(i), key=lambda j: float(np.sum((U[i] - U[j]) ** 2)))[:4]
        w = np.linalg.solve(C[np.ix_(near, near)], C[near, i])
        assert mean == pytest.approx(float(w @ rows.t[near]), abs=1e-10)
        assert variance == pytest.approx(C[i, i] - float(w @ C[near, i]), rel=1e-9)
        total += -0.5 * (np.log(2.0 * np.pi * variance) + (rows.t[i] - mean) ** 2 / variance)
    assert total == pytest.approx(likelihood.gradient(h)[0], rel=1e-10)
    assert total == pytest.approx(float(found.log_density.sum()), rel=1e-12)


def test_more_neighbours_come_nearer_to_the_process() -> None:
    rows, h = drawn(200), guessed()
    complete = ExactProcess.of(rows, Gaussian(), h).value
    off = [abs(of_few(rows, Gaussian(), h, m).gradient(h)[0] - complete) for m in (2, 8, 32, 128)]
    assert off == sorted(off, reverse=True)
    assert off[-1] < 1.0 < 10.0 < off[0]


def test_neither_threads_nor_pieces_change_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, h = drawn(200), guessed(warp=True)
    value, gradient = of_few(rows, Matern32(), h, 6).gradient(h)
    monkeypatch.setattr(conditioning, "BLOCK_BYTES", 8 * 7 * 7 * 16)
    one, slope = of_few(rows, Matern32(), h, 6).gradient(h)
    several, shared = of_few(rows, Matern32(), h, 6, threads=3).gradient(h)
    assert one == several
    np.testing.assert_array_equal(slope, shared)
    assert one == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(slope, gradient, rtol=1e-10, atol=1e-10)


def test_rows_in_no_neighbourhood_do_not_count() -> None:
    rows, h = drawn(), guessed()
    targets = np.array([3, 9])
    some = Neighbourhoods(targets, NeighbourSearch(rows.X).elsewhere(rows.X[targets], 4))
    likelihood = NeighbourLikelihood.of(rows, Gaussian(), some)
    assert len(likelihood.rows.t) <= 10
    complete = NeighbourLikelihood(rows, Gaussian(), some)
    assert likelihood.gradient(h)[0] == pytest.approx(complete.gradient(h)[0], rel=1e-12)
    np.testing.assert_allclose(likelihood.gradient(h)[1], complete.gradient(h)[1], rtol=1e-10)


def test_a_target_without_neighbours_has_the_prior() -> None:
    rows, h = drawn(), guessed()
    alone = Neighbourhoods(np.array([7]), np.full((1, 3), ABSENT))
    found = NeighbourLikelihood.of(rows, Gaussian(), alone).conditionals(h)
    own = h.signal_variance + float(np.sum(rows.F[7] ** 2 / h.alpha)) + 1.0 / h.beta
    assert (found.mean[0], found.variance[0]) == (0.0, pytest.approx(own))


def test_rows_that_are_one_without_noise_are_refused() -> None:
    rows = ProcessRows(np.zeros((3, 1)), np.zeros(3), np.empty((3, 0)))
    h = Hyperparameters(1e300, 1.0, np.empty(0), InputMap(np.ones(1)))
    neighbourhoods = Neighbourhoods(np.array([2]), np.array([[0, 1]]))
    with pytest.raises(NotPositiveDefiniteError):
        NeighbourLikelihood.of(rows, Gaussian(), neighbourhoods).gradient(h)
