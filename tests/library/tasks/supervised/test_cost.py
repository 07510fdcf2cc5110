"""The planned cost of trainings: from plan and rows alone, growing with both, and by the speed of a core."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.values import Effort
from relevance_bayes.tables.columns import NumberArray
from relevance_bayes.tasks.supervised.cost import UNITS_PER_SECOND, Cost, WorkStage, folds_of, planned_cost
from relevance_bayes.tasks.supervised.request import Budget, SupervisedPlan, SupervisedRequest
from relevance_bayes.tasks.union import plan
from tests.library.tasks.supervised import test_planning_pools as pools_of
from tests.library.tasks.supervised.test_planning_pools import REQUEST
from tests.small_tables import DATASET_ID, dataset_of, texts


def planned(rows: int = 1_000, effort: Effort = "normal", budget: float | None = None) -> SupervisedPlan:
    request = replace(REQUEST, effort=effort, budget=None if budget is None else Budget(budget))
    return pools_of.planned(request, rows=rows, inputs=10)


def test_equal_plans_have_equal_costs() -> None:
    assert planned_cost(planned(), 1_000) == planned_cost(planned(), 1_000)


@pytest.mark.parametrize("effort", ["quick", "normal", "thorough"])
def test_more_rows_cost_more_work_and_memory(effort: Effort) -> None:
    costs = [planned_cost(planned(rows, effort), rows) for rows in (100, 500, 1_000, 3_000, 5_000)]
    work, memory = [one.work_units for one in costs], [one.memory_bytes for one in costs]
    assert memory == sorted(memory)
    assert work[:3] == sorted(work[:3])
    assert work[2] < work[-1] or effort == "quick"


@pytest.mark.parametrize(
    ("rows", "effort", "peak"),
    [
        (30_000, "normal", 294e6),
        (100_000, "normal", 232e6),
        (300_000, "normal", 212e6),
        (1_000_000, "normal", 328e6),
        (10_000_000, "normal", 1_148e6),
        (30_000, "quick", 126e6),
        (100_000, "quick", 126e6),
        (300_000, "quick", 133e6),
        (1_000_000, "quick", 143e6),
        (10_000_000, "quick", 416e6),
    ],
)
def test_the_memory_of_many_rows_is_planned_within_a_factor_of_1_5_of_a_measured_peak(
    rows: int, effort: Effort, peak: float
) -> None:
    """The peaks are of the private memory of a fit to Friedman's function of ten inputs, in a worker's child."""
    assert peak / 1.5 <= planned_cost(planned(1_000, effort), rows).memory_bytes <= 1.5 * peak


@pytest.mark.parametrize(
    ("rows", "effort", "seconds"),
    [
        (4_000, "normal", 6.9),
        (300_000, "normal", 23.8),
        (1_000_000, "normal", 28.7),
        (10_000_000, "normal", 110.0),
        (1_000, "quick", 0.52),
        (4_000, "quick", 0.92),
        (20_000, "quick", 1.05),
        (300_000, "quick", 5.2),
    ],
)
def test_the_work_of_many_rows_is_planned_within_a_factor_of_2_of_the_measured_seconds(
    rows: int, effort: Effort, seconds: float
) -> None:
    """The CPU seconds are of a fit to Friedman's function of ten inputs, on one core at a speed of about 1."""
    planned_seconds = planned_cost(planned(rows, effort), rows).work_units / UNITS_PER_SECOND
    assert seconds / 2 <= planned_seconds <= 2 * seconds


@pytest.mark.parametrize("rows", [1_000, 2_000, 4_000, 10_000])
def test_a_quick_training_is_planned_with_less_than_0_15_of_the_work(rows: int) -> None:
    quick, normal = (planned_cost(planned(rows, effort), rows).work_units for effort in ("quick", "normal"))
    assert quick <= 0.15 * normal


def test_a_core_of_twice_the_speed_takes_half_the_seconds() -> None:
    cost = Cost((WorkStage(("fit",), 1_500.0), WorkStage(("done",), 500.0)), 10)
    assert cost.at(2.0).cpu_seconds == pytest.approx(2_000.0 / UNITS_PER_SECOND / 2.0)
    assert cost.at(2.0).speed_of == "workers"


def test_without_a_worker_the_speed_is_that_of_the_reference_core() -> None:
    expected = Cost((WorkStage(("fit",), 1_500.0),), 10).at(None)
    assert (expected.cpu_seconds, expected.speed, expected.speed_of) == (1.5, 1.0, "reference")


def test_a_large_budget_leaves_nothing_out() -> None:
    found = planned(budget=1e5)
    assert found.budget is not None
    assert found.budget.omitted == ()
    assert replace(found, budget=None) == planned()


@pytest.mark.parametrize("rows", [500, 4_000, 20_000])
def test_the_planned_work_is_within_every_budget(rows: int) -> None:
    full = planned_cost(planned(rows), rows).work_units
    shares = [1.0, 0.7, 0.5, 0.3, 0.25]
    for share in shares:
        budget = share * full / UNITS_PER_SECOND
        found = planned(rows, budget=budget)
        assert planned_cost(found, rows).work_units <= share * full * (1.0 + 1e-9)
        assert found.budget is not None
        assert (found.budget.omitted == ()) == (share == 1.0)


def test_a_smaller_budget_leaves_out_what_a_larger_one_does_or_more() -> None:
    full = planned_cost(planned(4_000), 4_000).work_units / UNITS_PER_SECOND
    pools = [len(planned(4_000, budget=share * full).pool) for share in (1.0, 0.8, 0.6, 0.4, 0.2, 0.1)]
    folds = [folds_of(planned(4_000, budget=share * full)) for share in (1.0, 0.8, 0.6, 0.4, 0.2, 0.1)]
    assert pools == sorted(pools, reverse=True)
    assert folds == sorted(folds, reverse=True)
    assert pools[0] > pools[-1] == folds[-1] == 0


def test_rows_are_left_out_last() -> None:
    quick = planned_cost(planned(4_000, "quick"), 4_000).work_units / UNITS_PER_SECOND
    enough, less = planned(4_000, budget=quick).budget, planned(4_000, budget=0.6 * quick).budget
    assert enough is not None
    assert less is not None
    assert enough.rows is None
    assert less.rows is not None
    assert 50 <= less.rows < 4_000


def test_a_budget_too_small_for_anything_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match=r"budget of 0.001 CPU seconds is too small") as refused:
        planned(budget=0.001)
    assert refused.value.faults[0].pointer == "/budget/cpu_seconds"


def test_many_classes_cost_by_rows_and_classes_and_not_by_a_model_of_each() -> None:
    few, more, longer = (planned_of_classes(classes, rows) for classes, rows in ((20, 2_000), (40, 2_000), (20, 4_000)))
    assert few.work_units < more.work_units < 1.5 * few.work_units
    assert few.work_units < longer.work_units < 2.0 * few.work_units
    assert few.memory_bytes < more.memory_bytes < 2 * few.memory_bytes


def planned_of_classes(classes: int, rows: int) -> Cost:
    each = np.arange(float(rows))
    t = texts(*(f"c{row % classes:02}" for row in range(rows)))
    dataset = dataset_of({"x": NumberArray(np.sqrt(each)), "z": NumberArray(np.cos(each)), "t": t})
    found = plan(SupervisedRequest(DATASET_ID, "t"), dataset)
    assert isinstance(found, SupervisedPlan)
    return planned_cost(found, rows)
