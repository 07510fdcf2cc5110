"""The planned work of trainings of small tables, against the operations that they have counted: no clock is read."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from relevance_bayes.core.inference.exact_process import ExactProcess
from relevance_bayes.core.rows import Rows, Step
from relevance_bayes.core.selection import train
from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import NumberArray
from relevance_bayes.tasks.supervised.cost import Cost, evaluation, information, planned_cost
from relevance_bayes.tasks.supervised.request import SupervisedPlan, SupervisedRequest
from relevance_bayes.tasks.union import plan
from relevance_bayes.tasks.work_progress import WorkProgress
from tests.library.tasks.test_work_progress import selection
from tests.small_tables import DATASET_ID, dataset_of

PHASES = ("fit", "folds")
"""Those of the processes of a pool and of their folds, whose work is that of evaluations and information."""


@dataclass
class Work:
    """The units of the evaluations and of the expected information that were computed so far."""

    units: float = 0.0
    at: list[tuple[float, Step]] = field(default_factory=list)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    found, factorised, informed = Work(), ExactProcess.of, ExactProcess.information_by

    def of(rows: object, *arguments: object, with_slopes: bool = True) -> ExactProcess:
        process = factorised(rows, *arguments, with_slopes=with_slopes)  # type: ignore[arg-type]
        found.units += evaluation(len(process.solved))
        return process

    def information_by(process: ExactProcess, probes: int) -> Array:
        known = informed(process, probes)
        found.units += information(len(known), len(process.solved))
        return known

    monkeypatch.setattr(ExactProcess, "of", of)
    monkeypatch.setattr(ExactProcess, "information_by", information_by)
    return found


def steps(rows: int, inputs: int) -> tuple[Array, Array]:
    """A smooth step in the first input and a slope in the others."""
    rng = np.random.default_rng((rows, inputs, 1))
    x = rng.standard_normal((rows, inputs))
    return x, np.tanh(3.0 * x[:, 0]) + 0.3 * x[:, 1:].sum(axis=1) + 0.3 * rng.standard_normal(rows)


def products(rows: int, inputs: int) -> tuple[Array, Array]:
    """A product of two inputs and a wave of the third."""
    rng = np.random.default_rng((rows, inputs, 2))
    x = rng.standard_normal((rows, inputs))
    return x, x[:, 0] * x[:, 1] + np.sin(2.0 * x[:, 2]) + 0.3 * rng.standard_normal(rows)


Draw = Callable[[int, int], tuple[Array, Array]]
STEPS: tuple[tuple[Draw, int, int], ...] = ((steps, 150, 4), (steps, 300, 3), (steps, 280, 6))
PRODUCTS: tuple[tuple[Draw, int, int], ...] = ((products, 120, 4), (products, 300, 5))


def counted(draw: Draw, rows: int, inputs: int, work: Work) -> Cost:
    """Return the planned work of a pool and its folds, after a training up to their end, whose work is counted."""
    x, t = draw(rows, inputs)
    columns = {f"x{place}": NumberArray(np.ascontiguousarray(column)) for place, column in enumerate(x.T)}
    planned = plan(SupervisedRequest(DATASET_ID, "y"), dataset_of({**columns, "y": NumberArray(t)}))
    assert isinstance(planned, SupervisedPlan)
    rows_of = Rows((x - x.mean(axis=0)) / x.std(axis=0), (t - t.mean()) / t.std())
    for step in train(rows_of, selection(planned)):
        if not isinstance(step, Step) or step.phase not in PHASES:
            break
        work.at.append((work.units, step))
    cost = planned_cost(planned, rows)
    return Cost(tuple(stage for stage in cost.stages if set(stage.phases) <= set(PHASES)), 0)


@pytest.mark.parametrize(("draw", "rows", "inputs"), [*STEPS, *PRODUCTS])
def test_the_price_is_the_counted_work_within_a_factor_of_1_5(draw: Draw, rows: int, inputs: int, work: Work) -> None:
    cost = counted(draw, rows, inputs, work)
    assert cost.work_units / 1.5 <= work.units <= 1.5 * cost.work_units


@pytest.mark.parametrize(("draw", "rows", "inputs"), STEPS)
def test_half_way_the_work_left_is_right_within_30_per_cent(draw: Draw, rows: int, inputs: int, work: Work) -> None:
    cost = counted(draw, rows, inputs, work)
    total, now = work.units, [0.0]
    progress, shares, left = WorkProgress(cost, 1.0, clock=lambda: now[0] / 1_000.0), list[float](), 0.0
    for now[0], step in work.at:
        found = progress.after(step)
        shares.append(found.share)
        if now[0] <= 0.5 * total:
            left = 1_000.0 * found.seconds_left - (0.5 * total - now[0])
    assert shares == sorted(shares)
    assert left == pytest.approx(0.5 * total, rel=0.3)
