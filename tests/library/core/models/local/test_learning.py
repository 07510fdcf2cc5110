"""Learning of a nearest-neighbour process, and its validation."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.errors import DataError, IllegalCombinationError
from relevance_bayes.core.kernels import Gaussian, Matern32
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.local.learning import (
    LocalState,
    LocalTask,
    ScoredKernel,
    Stage,
    Stages,
    advance,
    learn,
    validated,
)
from relevance_bayes.core.models.local.neighbours import LocalKernel
from relevance_bayes.core.types import Array
from tests.library.core.drawn import LIKELIHOODS
from tests.library.core.models.local.drawn_locally import plausible, posed, rough, wavy

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


def scored(task: LocalTask, *, noise: float = 0.1, width: float = 1.0) -> ScoredKernel:
    h = plausible(task.problem, noise=noise)
    widths = replace(h.input_map, widths=width * h.input_map.widths)
    return ScoredKernel(Gaussian(), replace(h, input_map=widths), 0.0)


def test_a_process_that_holds_is_accepted_with_its_variances() -> None:
    task = LocalTask(posed(*wavy()), neighbours=64)
    found = validated(task, scored(task))
    assert found.refusal is None
    assert found.rows == 100
    assert found.score > found.linear + 0.5
    assert found.variance_factor == pytest.approx(1.0, abs=0.4)
    assert 0.9 <= found.coverage <= 1.0
    assert 1.0 / found.hyperparameters.beta == pytest.approx(found.variance_factor * 0.01)


def test_the_factor_mends_the_variances_and_no_mean() -> None:
    task = LocalTask(posed(*wavy()), neighbours=64)
    given = scored(task, noise=0.08)
    found = validated(task, given)
    before, after = (task.held_out(Gaussian(), one, 64) for one in (given.hyperparameters, found.hyperparameters))
    np.testing.assert_allclose(after.mean, before.mean, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(after.t, task.rows.t[task.learned :])
    assert float(np.mean((after.t - after.mean) ** 2 / after.variance)) == pytest.approx(1.0, rel=1e-9)
    assert found.score == pytest.approx(float(after.log_density.mean()), rel=1e-9)
    assert found.score > float(before.log_density.mean())


def test_known_noise_keeps_its_variance() -> None:
    task = LocalTask(posed(*wavy(), GaussianNoise(0.08)), neighbours=64)
    found = validated(task, scored(task, noise=0.08))
    assert found.hyperparameters.beta == pytest.approx(0.08**-2)
    assert found.variance_factor > 1.1


def test_scales_that_see_no_structure_are_refused_beside_noise() -> None:
    rng = np.random.default_rng(0)
    task = LocalTask(posed(rng.standard_normal((400, 3)), rng.standard_normal(400)), neighbours=64)
    found = validated(task, scored(task))
    assert found.refusal == "no better than noise"


def test_scales_that_are_too_narrow_are_refused_beside_a_linear_model() -> None:
    X, _ = wavy(400)
    task = LocalTask(posed(X, X[:, 2] + 0.3 * np.random.default_rng(1).standard_normal(400)), neighbours=64)
    found = validated(task, scored(task, noise=0.3, width=0.3))
    assert found.refusal == "no better than a linear model"
    assert found.linear == pytest.approx(-0.5 * np.log(2.0 * np.pi * np.e * 0.09), abs=0.2)


def test_a_process_equal_to_a_linear_model_is_refused() -> None:
    X, _ = wavy(400)
    task = LocalTask(posed(X, X[:, 0] + 0.3 * np.random.default_rng(1).standard_normal(400)), neighbours=200)
    given = scored(task, noise=0.3, width=20.0)
    found = validated(task, replace(given, hyperparameters=replace(given.hyperparameters, signal_variance=200.0)))
    assert found.refusal == "no better than a linear model"
    assert found.score == pytest.approx(found.linear, abs=0.03)


def test_variances_that_are_far_from_errors_are_refused() -> None:
    task = LocalTask(posed(*wavy()), neighbours=64)
    found = validated(task, scored(task, noise=0.03))
    assert found.refusal == "predicted variances do not hold"
