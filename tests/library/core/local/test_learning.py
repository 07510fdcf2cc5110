from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.errors import DataError, IllegalCombinationError
from relevance_bayes.core.kernels import Gaussian, Matern32
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.local.choice import LocalKernel
from relevance_bayes.core.local.learning import (
    LocalState,
    LocalTask,
    ScoredKernel,
    Stage,
    Stages,
    advance,
    learn,
)
from relevance_bayes.core.types import Array
from tests.library.core.drawn import LIKELIHOODS
from tests.library.core.local.drawn_locally import plausible, posed, rough, wavy

GAUSSIAN: tuple[LocalKernel, ...] = (Gaussian(),)
ROUGH_OR_SMOOTH: tuple[LocalKernel, ...] = (Matern32(), Gaussian())

SHORT = Stages(Stage(150, 10, 10), Stage(200, 10, 10), Stage(300, 20, 20))
CONVERGED = Stages(Stage(150, 30, 30), Stage(200, 40, 40), Stage(300, 60, 60))


def last(task: LocalTask) -> ScoredKernel:
    *_, state = learn(task)
    assert state.found is not None
    assert state.completed == task.steps
    return state.found


def test_noise_and_the_inputs_that_matter_are_found() -> None:
    task = LocalTask(posed(*wavy()), GAUSSIAN, stages=SHORT)
    h = last(task).hyperparameters
    assert h.beta**-0.5 == pytest.approx(0.1, rel=0.15)
    assert h.input_map.widths[2] > 5.0 * h.input_map.widths[:2].max()


@pytest.mark.thorough
@pytest.mark.parametrize(("rows", "kernel"), [(wavy(), "gaussian"), (rough(), "matern_3_2")], ids=["smooth", "rough"])
def test_the_kernel_is_that_which_predicts_rows_kept_apart_best(rows: tuple[Array, Array], kernel: str) -> None:
    task = LocalTask(posed(*rows), ROUGH_OR_SMOOTH, stages=CONVERGED)
    states = list(learn(task))
    found = states[-1].found
    assert found is not None
    assert found.kernel.type == kernel
    assert found.score >= max(one.score for one in states[-1].scored)
    assert len(states[-1].scored) == 2


def test_learning_goes_on_from_any_state_to_the_same_bits() -> None:
    task = LocalTask(posed(*wavy(200)), GAUSSIAN, stages=SHORT)
    states = [LocalState(), *learn(task)]
    for state in states[:-1]:
        *_, end = learn(LocalTask(posed(*wavy(200)), GAUSSIAN, stages=SHORT), state)
        assert end.found is not None
        assert states[-1].found is not None
        np.testing.assert_array_equal(end.found.hyperparameters.packed(), states[-1].found.hyperparameters.packed())


def test_threads_change_no_bit() -> None:
    problem = posed(*wavy(300))
    one, several = (advance(LocalTask(problem, GAUSSIAN, stages=SHORT, threads=n), LocalState()).start for n in (1, 3))
    assert one is not None
    assert several is not None
    np.testing.assert_array_equal(one.packed(), several.packed())


def test_the_order_of_rows_does_not_count() -> None:
    X, t = wavy(300)
    other = np.random.default_rng(1).permutation(300)
    one, two = (LocalTask(posed(*rows), GAUSSIAN, stages=SHORT) for rows in ((X, t), (X[other], t[other])))
    np.testing.assert_array_equal(one.rows.X, two.rows.X)
    found = last(one), last(two)
    assert found[0].score == pytest.approx(found[1].score, abs=0.02)


def test_units_of_inputs_and_targets_do_not_count() -> None:
    X, t = wavy(300)
    task, other = (
        LocalTask(posed(X, t), GAUSSIAN, stages=SHORT),
        LocalTask(posed(X, 1e3 * t + 5e3), GAUSSIAN, stages=SHORT),
    )
    np.testing.assert_array_equal(task.order, other.order)
    one, two = last(task), last(other)
    assert two.score == pytest.approx(one.score - np.log(1e3), abs=0.02)
    np.testing.assert_allclose(
        two.hyperparameters.input_map.widths[:2], one.hyperparameters.input_map.widths[:2], rtol=0.1
    )


def test_noise_that_is_known_stays() -> None:
    task = LocalTask(posed(*wavy(200), GaussianNoise(0.3)), GAUSSIAN, stages=SHORT)
    assert last(task).hyperparameters.beta == pytest.approx(0.3**-2)


def test_few_rows_are_refused() -> None:
    with pytest.raises(DataError, match="100 rows"):
        LocalTask(posed(*wavy(99)))


def test_other_noise_is_refused() -> None:
    X, t = wavy(120)
    with pytest.raises(IllegalCombinationError, match="Gaussian noise"):
        LocalTask(posed(X, (t > 0.0).astype(np.float64), LIKELIHOODS["classes"]))


def test_terms_of_single_inputs_are_refused() -> None:
    problem = posed(*wavy(120))
    with pytest.raises(IllegalCombinationError, match="single inputs"):
        LocalTask(replace(problem, learning=replace(problem.learning, additive=True)))


def test_scales_without_a_factorisation_score_least() -> None:
    X, t = wavy(120)
    X[:, :] = X[0]
    X[100:] += 1.0
    task = LocalTask(posed(X, t), GAUSSIAN)
    h = plausible(task.problem)
    assert task.score(GAUSSIAN[0], replace(h, beta=1e300)).score == -np.inf
