import numpy as np
import pytest

from relevance_bayes.core.algorithms import greedy
from relevance_bayes.core.algorithms.hyperparameter_space import Objective
from relevance_bayes.core.algorithms.task import ProcessTask, farthest_first
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.kernels import CityBlock
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth, EvidenceWidth
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise, Likelihood
from relevance_bayes.core.models.fitting import iterates, pose
from relevance_bayes.core.types import Array, Mask
from tests.library.core.drawn import by_differences, friedman, problem_for, process_spec, rows_for

each_likelihood = pytest.mark.parametrize(
    "likelihood", [GaussianNoise(), GaussianNoise(0.1), Bernoulli()], ids=["learned", "known", "classes"]
)


def distances(U: Array, Z: Array) -> Array:
    return np.asarray(np.linalg.norm(U[:, None] - Z[None], axis=2))


@pytest.mark.parametrize("inputs", [1, 2, 5])
def test_each_row_is_the_most_distant_from_those_before(inputs: int) -> None:
    U = np.random.default_rng(inputs).standard_normal((30, inputs))
    places = farthest_first(U, 8)
    assert len(places) == 8
    assert places[0] == distances(U, U.mean(axis=0)[None])[:, 0].argmin()
    for size in range(1, 8):
        nearest = distances(U, U[places[:size]]).min(axis=1)
        assert nearest[places[size]] == pytest.approx(nearest.max())


def test_rows_at_one_place_count_once() -> None:
    U = np.tile(np.random.default_rng(0).standard_normal((5, 2)), (4, 1))
    places = farthest_first(U, 60)
    assert sorted((places % 5).tolist()) == [0, 1, 2, 3, 4]
    assert farthest_first(np.ones((6, 2)), 60).tolist() == [0]


@each_likelihood
def test_every_start_lies_within_the_box_whatever_the_units(likelihood: Likelihood) -> None:
    X, t = rows_for(likelihood, 20, 0)
    for unit in (1.0,) if isinstance(likelihood, Bernoulli) else (1.0, 1e-4, 1e4):
        task = ProcessTask.of(pose(X * unit, t * unit, process_spec(likelihood, warp="evidence", inputs=True)))
        for number in range(3):
            start = task.space.start(number)
            low, high = task.space.box(start, 100.0)
            theta = start.packed()
            free = task.space.free(start)
            assert (low[free] <= theta[free]).all()
            assert (theta[free] <= high[free]).all()


@each_likelihood
def test_noise_is_free_where_it_is_learned(likelihood: Likelihood) -> None:
    X, t = rows_for(likelihood, 20, 0)
    task = ProcessTask.of(pose(X, t, process_spec(likelihood)))
    assert bool(task.space.free(task.space.start(0))[0]) == (likelihood == GaussianNoise())


def test_columns_without_a_kernel_are_distinguished_from_those_with_one() -> None:
    X, t = rows_for(Bernoulli(), 20, 0)
    task = ProcessTask.of(pose(X, t, process_spec(Bernoulli(), inputs=True)))
    assert task.first == 0
    assert task.space.fixed_numbers() == (20, 21, 22)
    start = task.space.start(0)
    np.testing.assert_allclose(start.alpha, np.array([1.0, 2.0, 2.0]) / start.signal_variance)
    assert task.space.ties(start).tolist()[:5] == [0, 1, 2, 3, 3]


def test_a_problem_without_a_process_is_refused() -> None:
    with pytest.raises(SparseBayesError, match="Gaussian process prior"):
        ProcessTask.of(problem_for(GaussianNoise()))


def test_a_kernel_that_sums_over_inputs_starts_as_wide_as_others_reach() -> None:
    X, t, _ = friedman(30, 0)
    for width in (EvidencePerInputWidth(), EvidenceWidth()):
        usual = ProcessTask.of(pose(X, t, process_spec(GaussianNoise(), width=width))).space.start(0).input_map.widths
        summed = ProcessTask.of(pose(X, t, process_spec(GaussianNoise(), width=width, kernel=CityBlock()))).space.start(
            0
        )
        np.testing.assert_allclose(summed.input_map.widths, usual * np.sqrt(10.0))


def test_one_width_of_classes_has_one_start_and_several_have_three() -> None:
    X, t = rows_for(Bernoulli(), 20, 0)
    assert ProcessTask.of(pose(X, t, process_spec(Bernoulli(), width=EvidenceWidth()))).space.starts == 1
    assert ProcessTask.of(pose(X, t, process_spec(Bernoulli()))).space.starts == 3
    assert ProcessTask.of(pose(X, t, process_spec(GaussianNoise(), width=EvidenceWidth()))).space.starts == 3


def test_the_log_prior_draws_widths_together_where_that_is_requested() -> None:
    X, t = rows_for(Bernoulli(), 20, 0)
    tasks = [ProcessTask.of(pose(X, t, process_spec(Bernoulli(), width=EvidencePerInputWidth(s)))) for s in (0.0, 2.0)]
    free, drawn = (task.space for task in tasks)
    start = free.start(0)
    theta = start.packed() + np.linspace(0.0, 1.0, len(start.packed()))
    h = start.unpacked(theta)
    common, _ = h.common_width(drawn.problem.spread, 2.0)
    assert common < -0.01
    assert drawn.log_prior(h)[0] == pytest.approx(free.log_prior(h)[0] + common)
    slope = by_differences(lambda there: drawn.log_prior(start.unpacked(there))[0], theta)
    np.testing.assert_allclose(drawn.log_prior(h)[1], slope, atol=1e-7)


@pytest.mark.parametrize(("rows", "expected"), [(600, 600), (3_000, 1_000), (8_000, 2_000), (30_000, 5_000)])
def test_functions_are_chosen_on_a_quarter_of_the_rows_between_two_bounds(rows: int, expected: int) -> None:
    X, t, _ = friedman(rows, 0)
    spec = process_spec(GaussianNoise())
    problem = pose(X, t, spec)
    state = next(iter(iterates(problem, spec))).state
    places, drawn = ProcessTask.of(problem).rows_for_functions(state)
    assert len(drawn.t) == expected
    assert len(places) == min(rows, 1_000)
    np.testing.assert_array_equal(drawn.X[: len(places)], ProcessTask.of(problem).functions.centres[places])
    assert len(np.unique(drawn.X, axis=0)) == expected


def wide(likelihood: Likelihood, *, rows: int = 60, each: bool = True) -> ProcessTask:
    """A task of 32 inputs, of which one matters."""
    X = np.random.default_rng(5).standard_normal((rows, 32))
    t = (X[:, 0] > 0.0).astype(np.float64) if isinstance(likelihood, Bernoulli) else np.sin(X[:, 0])
    width = EvidencePerInputWidth() if each else EvidenceWidth()
    return ProcessTask.of(pose(X, t, process_spec(likelihood, width=width, vectors="rows")))


def test_a_table_is_wide_where_a_width_for_each_of_many_inputs_is_learned_by_exact_evidence() -> None:
    assert wide(GaussianNoise()).is_wide
    for task in (wide(GaussianNoise(), each=False), wide(Bernoulli()), wide(GaussianNoise(), rows=256)):
        assert not task.is_wide


def test_all_hyperparameters_of_a_wide_table_are_learned_together_in_few_iterations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = list[int]()

    def counted(
        objective: Objective, start: Array, free: Mask, box: tuple[Array, Array], iterations: int, **_: object
    ) -> tuple[Array, float]:
        limits.append(iterations)
        return start, objective(start)[0]

    monkeypatch.setattr(greedy, "maximise", counted)
    for task in (wide(GaussianNoise()), wide(GaussianNoise(), rows=256)):
        assert [*iterates(task.problem, process_spec(GaussianNoise(), vectors="rows"))][-1].state.termination
    assert limits == [greedy.ITERATIONS_OF_WIDE, greedy.VERY_LONG]
