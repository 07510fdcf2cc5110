"""The progress of a whole training: it never falls, and the time left follows from the planned work."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.selection import Rows, Selection, Step, train
from relevance_bayes.tables.columns import NumberArray
from relevance_bayes.tasks.supervised.cost import Cost, WorkStage, bounds_of, folds_of, planned_cost
from relevance_bayes.tasks.supervised.request import SupervisedPlan, SupervisedRequest
from relevance_bayes.tasks.union import plan
from relevance_bayes.tasks.work_progress import WorkProgress
from tests.small_tables import DATASET_ID, dataset_of, flags

COST = Cost(
    (
        WorkStage(("fit",), 2_000.0),
        WorkStage(("folds",), 4_000.0, True),
        WorkStage(("fit", "folds"), 1_900.0),
        WorkStage(("done",), 100.0),
    ),
    0,
)
"""8 s of the reference core."""


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def steps(pace: float) -> list[tuple[float, Step]]:
    """The steps of such a training, each with its time, where a unit takes `pace` ms."""
    found = [(0.0, "fit", 0, None), (1.0, "fit", 3, None), (2.0, "folds", 0, 5)]
    found += [(2.0 + 0.8 * fold, "folds", fold, 5) for fold in range(1, 6)]
    found += [(6.0, "fit", 0, None), (7.0, "folds", 5, 5), (7.9, "done", 5, 5)]
    return [(pace * at, Step(phase, completed, total, "units")) for at, phase, completed, total in found]


@pytest.mark.parametrize("pace", [0.3, 1.0, 5.0])
def test_the_share_never_falls_over_phases_and_ends_near_one(pace: float) -> None:
    clock = Clock()
    work, shares = WorkProgress(COST, 1.0, clock=clock), []
    for clock.now, step in steps(pace):
        shares.append(work.after(step).share)
    assert shares == sorted(shares)
    assert 0.98 < shares[-1] <= 1.0


@pytest.mark.parametrize("pace", [0.3, 1.0, 3.0])
def test_at_half_time_the_time_left_is_right_whatever_the_pace_of_the_machine(pace: float) -> None:
    clock = Clock()
    work = WorkProgress(COST, 1.0, clock=clock)
    found = [(clock.now, work.after(step)) for clock.now, step in steps(pace)]
    half = max(at for at, _ in found if at <= 4.0 * pace)
    (left,) = (one.seconds_left for at, one in found if at == half)
    assert left - (4.0 * pace - half) == pytest.approx(4.0 * pace, rel=0.3)


def test_a_resumed_attempt_begins_at_the_share_of_the_one_before_it() -> None:
    work = WorkProgress(COST, 1.0, share=0.6, is_resumed=True, clock=Clock())
    assert work.after(Step("fit", 0, None, "iterations")).share == 0.6


def test_the_pace_of_a_resumed_attempt_is_not_that_of_reading_its_log() -> None:
    clock = Clock()
    work = WorkProgress(COST, 1.0, share=0.6, is_resumed=True, clock=clock)
    found = [work.after(step).seconds_left for clock.now, step in steps(1e-3)[:9]]
    assert found[-1] == pytest.approx(2.0, rel=0.3)


def test_a_stage_that_takes_longer_than_planned_is_not_complete() -> None:
    clock = Clock()
    work = WorkProgress(COST, 1.0, clock=clock)
    clock.now = 1_000.0
    assert work.after(Step("fit", 9, None, "iterations")).share < 0.25


RACED = Cost(
    (
        WorkStage(("fit",), 1_000.0, number=0),
        WorkStage(("fit",), 1_000.0, number=1),
        WorkStage(("alternatives",), 2_000.0, number=0, is_raced=True),
        WorkStage(("alternatives",), 4_000.0, number=1, chance=0.3, is_raced=True),
        WorkStage(("reduction",), 1_000.0, number=0),
        WorkStage(("done",), 1_000.0),
    ),
    0,
)
"""6 s of the reference core, or 10 s with the second alternative, or 4 s without any."""


def left_after(cost: Cost, *events: tuple[float, str, int, int | None]) -> list[float]:
    """The time left after each event, (time, phase, completed, total), in seconds."""
    clock = Clock()
    work, found = WorkProgress(cost, 1.0, clock=clock), []
    for clock.now, phase, completed, total in events:
        found.append(work.after(Step(phase, completed, total, "units")).seconds_left)
    return found


def test_a_stage_that_is_left_out_is_no_longer_planned_as_soon_as_a_later_one_begins() -> None:
    found = left_after(RACED, (0.0, "fit", 0, 2), (1.0, "fit", 1, 2), (2.0, "reduction", 0, 3), (3.0, "done", 1, 1))
    assert found == pytest.approx([6.0, 5.0, 2.0, 1.0])


def test_a_stage_that_the_rows_decide_on_is_planned_as_soon_as_it_begins() -> None:
    found = left_after(RACED, (0.0, "fit", 0, 2), (1.0, "fit", 1, 2), (2.0, "alternatives", 1, 2))
    assert found == pytest.approx([6.0, 5.0, 6.0])


def test_an_alternative_that_ends_early_does_not_make_the_rest_faster() -> None:
    found = left_after(
        RACED, (0.0, "fit", 0, 2), (1.0, "fit", 1, 2), (2.0, "alternatives", 0, 2), (2.1, "reduction", 0, 3)
    )
    assert found[-1] == pytest.approx(2.0)


def test_where_fewer_fits_are_counted_the_work_of_the_others_is_no_longer_planned() -> None:
    folds = WorkStage(("folds",), 20_000.0, True)
    found = left_after(Cost((folds,), 0), (0.0, "folds", 0, 20), (4.0, "folds", 4, 8), (5.0, "folds", 5, 8))
    assert found == pytest.approx([20.0, 4.0, 3.0])


def test_what_folds_share_is_complete_with_the_first() -> None:
    folds = WorkStage(("folds",), 10_000.0, True, before_first=0.5)
    found = left_after(Cost((folds,), 0), (0.0, "folds", 0, 5), (6.0, "folds", 1, 5), (7.0, "folds", 2, 5))
    assert found == pytest.approx([10.0, 4.0, 3.0])


def after_steps(cost: Cost, *events: tuple[float, Step]) -> list[float]:
    """The time left after each step, in seconds."""
    clock = Clock()
    work, found = WorkProgress(cost, 1.0, clock=clock), []
    for clock.now, step in events:
        found.append(work.after(step).seconds_left)
    return found


def test_an_alternative_that_residuals_announce_is_planned_before_it_begins() -> None:
    first, second = Step("fit", 0, 2, "units"), Step("fit", 1, 2, "units")
    found = after_steps(RACED, (0.0, first), (1.0, second), (1.0, replace(second, announced=(1,))))
    assert found == pytest.approx([6.0, 5.0, 9.0])
    unannounced = after_steps(RACED, (0.0, first), (1.0, replace(second, announced=())))
    assert unannounced == pytest.approx([6.0, 5.0])


def test_an_alternative_that_takes_longer_than_planned_is_as_complete_as_its_folds() -> None:
    race = Cost((WorkStage(("alternatives",), 1_000.0, number=0, is_raced=True),), 0)
    begun = Step("alternatives", 0, 1, "models")
    found = after_steps(race, (0.0, begun), *((4.0 * fold, replace(begun, share=0.2 * fold)) for fold in (1, 2, 3, 4)))
    assert found[2:] == pytest.approx([12.0, 8.0, 4.0], rel=0.3)


def test_a_clock_that_does_not_advance_leaves_the_plan_as_it_is() -> None:
    race = Cost((WorkStage(("alternatives",), 1_000.0, number=0, is_raced=True),), 0)
    begun = Step("alternatives", 0, 1, "models")
    found = after_steps(race, (0.0, begun), (0.0, replace(begun, share=0.2)), (4.0, replace(begun, share=0.4)))
    assert found[1] == pytest.approx(found[0])
    assert found[2] == pytest.approx(6.0, rel=0.3)


def test_folds_of_fewer_alternatives_than_planned_take_less() -> None:
    folds = WorkStage(("folds",), 20_000.0, True, expected=0.5, total=20)
    assert left_after(Cost((folds,), 0), (0.0, "folds", 0, 20)) == pytest.approx([10.0])
    found = left_after(Cost((folds,), 0), (0.0, "folds", 0, 5), (1.0, "folds", 1, 5), (3.0, "folds", 3, 5))
    assert found == pytest.approx([5.0, 4.0, 2.0])


def test_the_price_of_a_stage_is_expected_by_its_chance() -> None:
    assert RACED.work_units == pytest.approx(6_000.0 + 0.3 * 4_000.0)


def test_the_time_of_a_stage_follows_from_those_of_its_phase() -> None:
    stages = (("fit", 8_000.0, 0), ("reduction", 1_000.0, 0), ("reduction", 4_000.0, 1))
    cost = Cost(tuple(WorkStage((phase,), units, number=number) for phase, units, number in stages), 0)
    found = left_after(cost, (0.0, "fit", 0, 1), (8.0, "reduction", 0, 2), (18.0, "reduction", 1, 2))
    assert found[-1] == pytest.approx(40.0, rel=0.3)


@pytest.mark.parametrize("pace", [0.25, 1.0, 4.0])
def test_a_machine_of_another_speed_has_the_same_shares_where_its_speed_is_known(pace: float) -> None:
    shares = []
    for speed, times in ((1.0, 1.0), (1.0 / pace, pace)):
        clock = Clock()
        work = WorkProgress(COST, speed, clock=clock)
        shares.append([work.after(step).share for clock.now, step in steps(times)])
    assert shares[0] == pytest.approx(shares[1])


X = np.random.default_rng(0).uniform(size=(60, 2))
COLUMNS = {"x1": NumberArray(X[:, 0]), "x2": NumberArray(X[:, 1])}
REQUEST = SupervisedRequest(DATASET_ID, "y")


@pytest.mark.thorough
@pytest.mark.parametrize("of", ["numbers", "classes"])
def test_over_a_whole_training_every_step_is_of_a_planned_stage_and_no_share_falls(of: str) -> None:
    t = np.exp(np.sin(5.0 * X[:, 0]) + X[:, 1])
    if of == "classes":
        t = (t > 2.0).astype(np.float64)
    target = NumberArray(t) if of == "numbers" else flags(*(t > 0.0))
    planned = plan(REQUEST, dataset_of({**COLUMNS, "y": target}))
    cost, clock = planned_cost(planned, len(t)), Clock()
    work, shares = WorkProgress(cost, 1.0, clock=clock), []
    for step in train(Rows(X, t), selection(planned)):
        if isinstance(step, Step):
            clock.now += 0.01
            assert any(step.phase in stage.phases for stage in cost.stages), step
            shares.append(work.after(step).share)
    assert shares == sorted(shares)
    assert shares[0] < 0.2
    assert shares[-1] > 0.9


def selection(planned: SupervisedPlan) -> Selection:
    """The models of a plan."""
    found = Selection(planned.spec, planned.compared_models, planned.pool, planned.alternatives)
    return replace(found, folds=folds_of(planned), bounds=bounds_of(planned))
