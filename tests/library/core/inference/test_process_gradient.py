"""import tracemalloc"""

import tracemalloc
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from relevance_bayes.core import linalg
from relevance_bayes.core import rows as row_source
from relevance_bayes.core.algorithms.sequential import AtOnce, InBlocks, of_bound
from relevance_bayes.core.algorithms.task import ProcessTask
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.inference.process import ProcessRows, Vectors, bound, bound_gradient, summed_bound
from relevance_bayes.core.kernels import Covariance, Gaussian, Matern32
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap, Terms
from relevance_bayes.core.likelihoods import GaussianNoise, OneAgainstRest
from relevance_bayes.core.models.fitting import fit, iterates, pose
from relevance_bayes.core.rows import ArrayRows
from tests.library.core.drawn import friedman, process_spec

X, T, _ = friedman(60, 0)
T -= T.mean()
ALPHA = np.array([1.0, 0.3, 0.2])
WARPED = InputMap(np.linspace(2.0, 6.0, 10), np.full(10, 0.2), np.full(10, -0.1))
PLACES = np.array([3, 17, 44, 8])
STAY, MOVED = Vectors(PLACES, X[PLACES]), Vectors(PLACES, X[PLACES], X[PLACES] + 0.3)
FIXED = (60, 61, 64)
PLAIN = Hyperparameters(3.0, 7.0, ALPHA, WARPED)


def problem(targets: int, *, known_noise: bool) -> Problem:
    rng = np.random.default_rng(1)
    posed = pose(X, T, process_spec(GaussianNoise(), inputs=True))
    t = T if targets == 1 else rng.standard_normal((60, targets))
    precisions = rng.uniform(0.2, 3.0, 60) if known_noise else None
    likelihood = GaussianNoise() if targets == 1 else OneAgainstRest(targets)
    return replace(posed, source=posed.source.with_targets(t, precisions), likelihood=likelihood)


@pytest.mark.parametrize("block_rows", [60, 13])
@pytest.mark.parametrize("known_noise", [False, True], ids=["one noise", "noise by row"])
@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("vectors", [STAY, MOVED], ids=["on rows", "moved"])
@pytest.mark.parametrize(
    ("h", "kernel"),
    [
        (PLAIN, Gaussian()),
        (replace(PLAIN, input_map=InputMap(np.array([4.0]))), Matern32()),
        (replace(PLAIN, terms=Terms((2, 5), np.array([-0.5, 0.3]))), Gaussian()),
    ],
    ids=["warped", "one width", "terms"],
)
def test_two_passes_over_blocks_know_the_bound_and_its_whole_gradient(
    h: Hyperparameters,
    kernel: Covariance,
    vectors: Vectors,
    targets: int,
    known_noise: bool,
    block_rows: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(row_source, "BLOCK_ROWS", block_rows)
    monkeypatch.setattr(linalg, "PIECE_BYTES", 8 * 10 * 11)
    posed = problem(targets, known_noise=known_noise)
    rows = ProcessRows(X, posed.t, posed.columns(FIXED), posed.precisions)
    found = bound(rows, vectors, kernel, posed.likelihood, h)
    slope, places = bound_gradient(rows, vectors, kernel, h, found)
    reached, summed, moved = summed_bound(posed, FIXED, vectors, kernel, h, posed.unweighted(7) + 0.5)
    assert reached.value == pytest.approx(found.value, rel=1e-11)
    np.testing.assert_allclose(summed, slope, rtol=1e-10, atol=1e-10 * float(np.abs(slope).max()))
    assert (places is None) == (moved is None)
    if places is not None and moved is not None:
        np.testing.assert_allclose(moved, places, rtol=1e-10, atol=1e-10 * float(np.abs(places).max()))


def test_the_bound_and_its_gradient_take_the_memory_of_a_piece_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the kernel's columns at all rows, 12.8 MB, no copy is held."""
    monkeypatch.setattr(linalg, "PIECE_BYTES", 2**18)
    rng = np.random.default_rng(0)
    X, places = rng.standard_normal((20_000, 3)), np.arange(80)
    posed = pose(X, X.sum(axis=1), process_spec(GaussianNoise()))
    fixed, vectors = (len(X),), Vectors(places, X[places], X[places])
    h = Hyperparameters(10.0, 1.0, np.ones(1), InputMap(np.full(3, 2.0)))
    tracemalloc.start()
    summed_bound(posed, fixed, vectors, Gaussian(), h, posed.unweighted(81))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5e6


@pytest.mark.parametrize("vectors", ["optimised", "rows"])
def test_what_is_climbed_in_blocks_is_what_is_climbed_on_all_rows_at_once(
    vectors: Literal["optimised", "rows"], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, t, _ = friedman(120, 3)
    spec = process_spec(GaussianNoise(), inputs=True, vectors=vectors, max_functions=6)
    posed = pose(X, t - t.mean(), spec)
    task, state = (
        ProcessTask.of(posed),
        next(now.state for now in iterates(posed, spec) if now.state.process and now.state.process.phase == "together"),
    )
    assert state.process is not None
    h, moved = state.process.hyperparameters, state.process.moved
    joined = h.packed() if moved is None else np.append(h.packed(), moved)
    rows = task.rows(state)
    value, slope, places = AtOnce(task, rows)(task.vectors(state), h)
    prior, slope_of_prior = task.space.log_prior(h)
    value, slope = value + prior, slope + slope_of_prior
    if places is not None:
        slope = np.append(slope, places)
    for block_rows in (4_096, 50):
        monkeypatch.setattr(row_source, "BLOCK_ROWS", block_rows)
        summed, slopes = of_bound(task, state, task.together(state), h)(joined)
        assert summed == pytest.approx(value, rel=1e-11)
        np.testing.assert_allclose(slopes, slope, rtol=1e-6, atol=1e-8 * float(np.abs(slope).max()))


def test_next_to_no_noise_loses_nothing_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    posed = problem(1, known_noise=False)
    task, h = ProcessTask.of(posed), replace(PLAIN, beta=1e12)
    rows = ProcessRows(X, posed.t, posed.columns(FIXED))
    at_once, slope, _ = AtOnce(task, rows)(STAY, h)
    monkeypatch.setattr(row_source, "BLOCK_ROWS", 13)
    first = InBlocks(task, posed, FIXED, posed.unweighted(7))
    first(STAY, h)
    value, slopes, _ = first(STAY, h)
    assert value == pytest.approx(at_once, rel=1e-13)
    np.testing.assert_allclose(slopes, slope, rtol=1e-6)


def test_a_fit_in_blocks_is_as_good_as_one_on_all_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, t, _ = friedman(150, 2)
    spec = process_spec(GaussianNoise(), inputs=True)
    at_once = fit(X, t, spec)
    monkeypatch.setattr(row_source, "BLOCK_ROWS", 40)
    in_blocks = fit(X, t, spec)
    assert isinstance(in_blocks.functions[0], KernelFunctions)
    assert in_blocks.evidence.value == pytest.approx(at_once.evidence.value, abs=1.0)
    assert in_blocks.noise_sd == pytest.approx(at_once.noise_sd, rel=0.02)


def test_only_gaussian_noise_that_takes_nothing_of_what_is_left_out_is_summed() -> None:
    rows = ProcessRows(np.zeros((5_000, 1)), np.zeros(5_000), np.zeros((5_000, 0)))
    posed = problem(1, known_noise=False)
    assert ProcessTask.of(posed).in_blocks(rows) is not None
    assert ProcessTask.of(replace(posed, prior=replace(ProcessTask.of(posed).prior, rho=0.3))).in_blocks(rows) is None
    part = ProcessTask.of(posed).in_blocks(rows)
    assert part is not None
    assert isinstance(part.source, ArrayRows)
