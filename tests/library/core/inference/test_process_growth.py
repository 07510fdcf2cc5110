"""Functions chosen beside those in the model: what each brings on all rows."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core import rows as row_source
from relevance_bayes.core.algorithms import greedy as phases
from relevance_bayes.core.algorithms import scales as short_scales
from relevance_bayes.core.algorithms import task as tasks
from relevance_bayes.core.algorithms.state import Iterate
from relevance_bayes.core.algorithms.task import ProcessTask, process_of
from relevance_bayes.core.inference.evidence import Chosen
from relevance_bayes.core.inference.process import ProcessRows, Vectors, bound, choose_more, row_sums
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, InputMap
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.linalg import root_of_gram
from relevance_bayes.core.models.fitting import fit, iterates, learned, pose, pose_rows
from relevance_bayes.core.models.prediction import RealPrediction, predict
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.rows import ArrayRows, Sampler
from relevance_bayes.core.types import Array, Indices
from tests.library.core.drawn import friedman, process_spec
from tests.library.core.sources import generated, partitioned

ROWS = 150
X, T, _ = friedman(ROWS, 0)
T -= T.mean()
H = Hyperparameters(
    0.7, 20.0, np.array([0.5, 0.1, 2.0]), InputMap(np.linspace(2.0, 6.0, 10), np.full(10, 0.2), np.full(10, -0.1))
)
FIXED = (ROWS, ROWS + 1, ROWS + 4)  # after the kernel functions, the bias and two inputs
MOVED = InputMap(np.ones(1), H.input_map.skew, H.input_map.tail)(X[[3, 17, 44, 8]]) + 0.1
PRECISIONS = np.linspace(0.5, 2.0, ROWS)
CANDIDATES = X[60:100]


def vectors(more: Array | None = None) -> Vectors:
    """Four that moved, and more on rows."""
    unscaled = InputMap(np.ones(1), H.input_map.skew, H.input_map.tail)
    moved = MOVED if more is None else np.concatenate([MOVED, unscaled(more)])
    return Vectors(np.zeros(len(moved), np.intp), moved, moved)


def chosen(precisions: Array | None, *, min_gain: float = 0.1, maximum: int = 6, h: Hyperparameters = H) -> Chosen:
    spec = process_spec(GaussianNoise(), inputs=True)
    problem = pose(X, T, spec)
    problem = replace(problem, source=problem.source.with_targets(T, precisions))
    sums = row_sums(problem, FIXED, vectors(), Gaussian(), h, np.zeros(7))
    near = row_sums(problem, FIXED, vectors(), Gaussian(), h, sums.at(h).posterior.mean)
    return choose_more(
        problem, FIXED, vectors(), Gaussian(), h, near, CANDIDATES, min_gain=min_gain, max_functions=maximum
    )


def bound_with(places: Indices, precisions: Array | None, h: Hyperparameters = H) -> float:
    F = np.column_stack([np.ones(ROWS), X[:, [0, 3]]])
    return bound(ProcessRows(X, T, F, precisions), vectors(CANDIDATES[places]), Gaussian(), GaussianNoise(), h).value


@pytest.mark.parametrize("precisions", [None, PRECISIONS], ids=["one noise", "noise by row"])
@pytest.mark.parametrize("beta", [0.7, 1e6], ids=["noisy", "next to no noise"])
def test_each_gain_is_what_the_bound_on_all_rows_rises_by(precisions: Array | None, beta: float) -> None:
    h = replace(H, beta=beta)
    found = chosen(precisions, h=h)
    assert len(found.places) == 6
    values = [bound_with(found.places[:size], precisions, h) for size in range(7)]
    np.testing.assert_allclose(found.gains, np.diff(values), rtol=1e-6)
    others = np.setdiff1d(np.arange(len(CANDIDATES)), found.places)
    rises = [bound_with(np.append(found.places, place), precisions, h) - values[-1] for place in others]
    assert found.next_gain == pytest.approx(max(rises), rel=1e-6)


def test_a_copy_of_a_function_in_the_model_brings_nothing() -> None:
    own = InputMap(np.ones(1), H.input_map.skew, H.input_map.tail).inverse(MOVED)
    problem = pose(X, T, process_spec(GaussianNoise(), inputs=True))
    sums = row_sums(problem, FIXED, vectors(), Gaussian(), H, np.zeros(7))
    found = choose_more(problem, FIXED, vectors(), Gaussian(), H, sums, own, min_gain=0.1, max_functions=4)
    assert len(found.places) == 0
    assert abs(found.next_gain) < 1e-3


def test_blocks_of_rows_compute_what_all_rows_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    complete = chosen(None)
    monkeypatch.setattr(row_source, "BLOCK_ROWS", 13)
    parts = chosen(None)
    np.testing.assert_array_equal(parts.places, complete.places)
    np.testing.assert_allclose(parts.gains, complete.gains, rtol=1e-9)


def test_a_root_of_a_gram_matrix_has_its_rank_and_gives_it_back_whatever_the_columns_sizes() -> None:
    Y = np.random.default_rng(0).standard_normal((40, 5)) * [1.0, 1e-6, 1e6, 1.0, 0.0]
    Y = np.column_stack([Y, Y[:, 0] + Y[:, 3]])
    gram = Y.T @ Y
    root = root_of_gram(gram)
    assert root.shape == (4, 6)
    sizes = np.sqrt(gram.diagonal())
    np.testing.assert_allclose(root.T @ root, gram, rtol=0.0, atol=1e-14 * np.outer(sizes, sizes).max())
    assert np.square(root[:, 1]).sum() == pytest.approx(gram[1, 1], rel=1e-12)


@pytest.fixture
def few_rows_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are many more than the functions are chosen on at first."""
    small = {"ROWS_FOR_SCALES": 150, "ROWS_FOR_STARTS": 60, "ROWS_FOR_FUNCTIONS": (150, 150)}
    for name, value in {**small, "MIN_ROWS_TOGETHER": 150, "ROWS_PER_FUNCTION": 2, "FEW_CELLS": 0}.items():
        monkeypatch.setattr(tasks, name, value)


def states_of(rows: int, *, maximum: int | None = None) -> list[Iterate]:
    drawn, t, _ = friedman(rows, 3)
    spec = process_spec(GaussianNoise(), inputs=True, max_functions=maximum)
    return list(iterates(pose(drawn, t, spec), spec))


@pytest.mark.usefixtures("few_rows_first")
def test_functions_grow_in_rounds_until_none_gains() -> None:
    found = states_of(2_000)
    sizes = [len(now.state.active) for now in found]
    first = next(size for size, now in zip(sizes, found, strict=True) if process_of(now.state).phase == "noise")
    last = process_of(found[-1].state)
    assert sizes[-1] > first
    assert last.round is not None
    assert last.round >= 2
    assert last.next_gain is not None
    assert last.next_gain < 3.0


@pytest.mark.parametrize("leading", [0, 1])
def test_candidates_for_growth_are_those_that_are_not_in_the_model_wherever_the_kernel_is(leading: int) -> None:
    drawn, t, _ = friedman(40, 3)
    spec = process_spec(GaussianNoise(), inputs=True, max_functions=8)
    kernel, *others = spec.basis
    spec = replace(spec, basis=(*others[:leading], kernel, *others[leading:]))
    problem = pose(drawn, t, spec)
    state, task = list(iterates(problem, spec))[-1].state, ProcessTask.of(problem)
    assert task.first == leading
    own, candidates = set(state.active), set((task.first + task.places_for_growth(state, problem.rows)).tolist())
    functions = set(range(task.first, task.first + task.functions.size))
    assert len(own & functions) > 0
    assert candidates == functions - own


@pytest.mark.usefixtures("few_rows_first")
def test_where_functions_are_at_their_most_the_next_gain_is_that_at_the_widths_of_the_end() -> None:
    """Learned together, eight functions represent what many more would have where they were at first."""
    found = states_of(2_000, maximum=8)
    first = next(process_of(now.state) for now in found if process_of(now.state).phase == "noise")
    last = process_of(found[-1].state)
    assert len(found[-1].state.active) == 8 + 11
    assert first.next_gain is not None
    assert last.next_gain is not None
    assert 3.0 < last.next_gain < 0.5 * first.next_gain


@pytest.mark.thorough
@pytest.mark.usefixtures("few_rows_first")
def test_candidates_are_drawn_anew_where_the_first_ran_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "MAX_CANDIDATES", 10)
    monkeypatch.setattr(tasks, "MIN_CANDIDATES", 10)
    found = states_of(3_000, maximum=40)
    first = next(process_of(now.state) for now in found if process_of(now.state).phase == "noise")
    last = found[-1].state
    assert first.next_gain == 0.0
    assert len(last.active) > 10 + 11
    assert process_of(last).next_gain is not None
    assert process_of(last).next_gain != 0.0


@pytest.mark.usefixtures("few_rows_first")
def test_all_rows_are_read_a_block_at_a_time_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where everything is learned together on all rows, they are not had at once either."""
    monkeypatch.setattr(row_source, "BLOCK_ROWS", 100)
    monkeypatch.setattr(short_scales, "MIN_SAMPLE", 300)
    drawn, t, _ = friedman(700, 3)
    spec = process_spec(GaussianNoise(), inputs=True, max_functions=6)
    centres = Sampler(ArrayRows(drawn, t), 0).sample(200)
    ends = []
    for source in (ArrayRows(drawn, t), partitioned(ArrayRows(drawn, t), 3), generated(drawn, t)):
        problem = pose_rows(source, spec, centres=centres)
        *_, last = iterates(problem, spec)
        assert ProcessTask.of(problem).n_rows_together(last.state) == 700
        ends.append(learned(problem, last))
    for other in ends[1:]:
        np.testing.assert_array_equal(other.mean, ends[0].mean)
        np.testing.assert_array_equal(other.covariance, ends[0].covariance)
        assert other.next_gain == ends[0].next_gain


@pytest.mark.usefixtures("few_rows_first")
def test_a_fit_of_given_functions_does_not_grow() -> None:
    drawn, t, _ = friedman(600, 3)
    spec = process_spec(GaussianNoise(), inputs=True)
    problem = pose(drawn, t, spec)
    start = next(now.state for now in iterates(problem, spec) if process_of(now.state).phase == "noise")
    given = replace(start, process=replace(process_of(start), round=None))
    assert all(len(now.state.active) == len(start.active) for now in iterates(problem, spec, given))


@pytest.mark.usefixtures("few_rows_first")
@pytest.mark.parametrize("maximum", [4, 8])
def test_more_functions_than_are_chosen_at_once_come_in_rounds(maximum: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "MAX_FUNCTIONS", 2)
    drawn, t, _ = friedman(600, 3)
    spec = replace(process_spec(GaussianNoise()), prior=GaussianProcess(min_gain=1.0, max_functions=maximum))
    assert len(fit(drawn, t, spec).mean) == maximum + 1


@pytest.mark.thorough
@pytest.mark.usefixtures("few_rows_first")
def test_the_error_falls_with_the_rows() -> None:
    new, _, f = friedman(500, 99)
    errors = []
    for rows in (300, 1_200, 4_800):
        drawn, t, _ = friedman(rows, 3)
        model = fit(drawn, t, process_spec(GaussianNoise(), inputs=True), centres=np.arange(300))
        found = predict(model, new)
        assert isinstance(found, RealPrediction)
        errors.append(float(np.sqrt(np.mean(np.square(found.mean - f)))))
    assert errors[1] < 0.7 * errors[0]
    assert errors[2] < 0.8 * errors[1]
