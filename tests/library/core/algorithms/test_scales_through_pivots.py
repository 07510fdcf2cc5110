"""Scales through pivots: the gradient, the expected information, and the steps to the scales of some of the rows."""

import numpy as np
import pytest

from relevance_bayes.core.algorithms.hyperparameter_space import maximise
from relevance_bayes.core.algorithms.scales_through_pivots import (
    FEW_ROWS,
    USUAL,
    PivotEvaluation,
    PivotScales,
    ScalesOfAll,
    limits_of,
    scales_through_pivots,
)
from relevance_bayes.core.algorithms.sequential import of_process, with_hyperparameters
from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.algorithms.task import ProcessTask
from relevance_bayes.core.kernels import CityBlock, Covariance, Gaussian
from relevance_bayes.core.kernels.hyperparameters import EvidencePerInputWidth
from relevance_bayes.core.likelihoods import Bernoulli, Categorical, Likelihood, Poisson
from relevance_bayes.core.models.fitting import pose
from relevance_bayes.core.types import Array
from tests.library.core.drawn import by_differences, process_spec, ripley, rows_for

CAP = 20.0
KERNELS: list[Covariance] = [Gaussian(), CityBlock()]


def task_of(X: Array, t: Array, likelihood: Likelihood, kernel: Covariance | None = None) -> ProcessTask:
    width = EvidencePerInputWidth(1.0)
    spec = process_spec(likelihood, width=width, vectors="rows", kernel=kernel or Gaussian(), inputs=True)
    return ProcessTask.of(pose(X, t, spec))


def state_of(task: ProcessTask) -> State:
    spec = process_spec(task.problem.likelihood, width=EvidencePerInputWidth(1.0), vectors="rows", inputs=True)
    return spec.algorithm.init(task.problem).state


def at_start(task: ProcessTask) -> PivotEvaluation:
    h = task.space.start(0)
    return PivotScales(task, task.rows(state_of(task)), h, CAP)(h.packed())


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.type)
@pytest.mark.parametrize("likelihood", [Bernoulli(), Categorical(3), Poisson()], ids=lambda one: one.type)
def test_the_gradient_agrees_with_differences(likelihood: Likelihood, kernel: Covariance) -> None:
    task = task_of(*rows_for(likelihood, 40, 0), likelihood, kernel)
    rows, start = task.rows(state_of(task)), task.space.start(0)
    exact = PivotScales(task, rows, start, CAP, tolerance_of_sites=1e-13)
    here = exact(start.packed())

    def value(theta: Array) -> float:
        return exact(theta).value

    np.testing.assert_allclose(here.gradient[1:], by_differences(value, here.theta, 1e-4)[1:], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.type)
def test_the_information_is_that_of_gaussian_targets(kernel: Covariance) -> None:
    """1/2 tr(C^-1 C_i C^-1 C_j) by its definition, C_i by central differences."""
    task = task_of(*ripley(50, 0), Bernoulli(), kernel)
    here = at_start(task)
    rows, precision = here.rows, here.bound.optimum.sites.precision

    def covariance(theta: Array) -> Array:
        h = here.h.unpacked(theta)
        U = h.input_map(rows.X)
        prior = h.signal_variance * h.covariance(task.kernel)(U, U) + (rows.F / h.alpha) @ rows.F.T
        return np.asarray(prior + np.diag(1.0 / precision))

    inverse = np.linalg.inv(covariance(here.theta))
    slopes = []
    for step in 1e-5 * np.eye(len(here.theta)):
        slopes.append(inverse @ (covariance(here.theta + step) - covariance(here.theta - step)) / 2e-5)
    expected = np.array([[0.5 * np.vdot(one.T, other) for other in slopes] for one in slopes])
    np.testing.assert_allclose(here.information[1:, 1:], expected[1:, 1:], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda one: one.type)
def test_the_scales_are_those_of_a_search_without_the_information(kernel: Covariance) -> None:
    task = task_of(*ripley(120, 0), Bernoulli(), kernel)
    rows = task.rows(state_of(task))
    start = scales_through_pivots(task, rows, task.space.start(0), cap=CAP, is_start=True).hyperparameters
    found = scales_through_pivots(task, rows, start, cap=CAP, is_start=False)
    h, value = found.hyperparameters, found.objective
    _, highest = maximise(
        of_process(task, rows, h),
        h.packed(),
        task.space.free(h),
        task.space.box(h, CAP),
        200,
        flat=1e-10,
        ties=task.space.ties(h),
    )
    assert highest - value < 1.0


def test_rows_that_are_few_for_the_inputs_are_learned_more_accurately() -> None:
    X, t = ripley(40, 0)
    assert limits_of(task_of(X, t, Bernoulli())) == USUAL
    assert limits_of(task_of(np.hstack([X] * 3), t, Bernoulli())) == FEW_ROWS
    rare = np.zeros(40)
    rare[:7] = 1.0
    assert limits_of(task_of(X, rare, Bernoulli())) == FEW_ROWS


def test_sites_of_the_same_rows_change_nothing_but_the_start() -> None:
    task = task_of(*ripley(60, 0), Bernoulli())
    here = at_start(task)
    first = here.bound.optimum.latent_sites
    again = PivotScales(task, here.rows, here.h, CAP, 20, first=first)(here.theta)
    assert again.value == pytest.approx(PivotScales(task, here.rows, here.h, CAP, 20)(here.theta).value, abs=1e-3)


def test_the_scales_of_most_rows_are_a_few_steps_from_those_of_all() -> None:
    X, t = ripley(150, 0)
    task, others = task_of(X, t, Bernoulli()), np.arange(150) % 5 != 0
    rows = task.rows(state_of(task))
    start = scales_through_pivots(task, rows, task.space.start(0), cap=CAP, is_start=True).hyperparameters
    h = scales_through_pivots(task, rows, start, cap=CAP, is_start=False).hyperparameters
    scales = ScalesOfAll.of(task, with_hyperparameters(state_of(task), h))
    of_fold = task_of(X[others], t[others], Bernoulli())
    found = scales.stepped(of_fold, state_of(of_fold))
    assert found is not None
    value = scales_through_pivots(of_fold, of_fold.rows(state_of(of_fold)), h, cap=CAP, is_start=False).objective
    assert found.value > value - 0.5
    unmoved = PivotScales(of_fold, of_fold.rows(state_of(of_fold)), h, CAP)(h.packed())
    assert found.value >= unmoved.value
