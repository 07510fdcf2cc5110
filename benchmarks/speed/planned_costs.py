"""Planned costs beside CPU times: of trainings, of the time left at half time, and of each stage of the plan.

The ratios by stages are what the constants of `relevance_bayes.tasks.supervised.cost` are fitted to.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from app.jobs.worker.worker import measured_speed
from benchmarks.fitting import NO_DATASET, SETTINGS, dataset_of
from benchmarks.generators import TABLE_SEED, friedman
from benchmarks.options import Options
from benchmarks.report import Table
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.selection import Step, train
from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import Block, CategoryArray, Column, NumberArray
from relevance_bayes.tasks.fit import Limits
from relevance_bayes.tasks.supervised.cost import UNITS_PER_SECOND, Cost, planned_cost
from relevance_bayes.tasks.supervised.plan import plan_supervised
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from relevance_bayes.tasks.supervised.training import SupervisedTraining
from relevance_bayes.tasks.work_progress import WorkProgress

SIZES = ((40, 2), (120, 6), (300, 10), (600, 5), (1_000, 10), (2_000, 10), (4_000, 10))
QUICK_SIZES = ((40, 2),)

MIN_SECONDS = 0.005
"""A stage of less was left out."""

NOTES = (
    """\
Left: the time left that is reported at half time, over the real one. Seconds are those of a core of the speed that
this one measures.""",
    "Geometric means over the trainings that have the stage, whose share should be its chance.",
)

Target = Callable[[Array, Array, np.random.Generator], Array]
"""The targets (n,) of inputs (n, d) by a function of them (n,), of mean 0 and sd 1."""

TARGETS: dict[str, Target] = {
    "plain": lambda X, f, rng: f + 0.3 * rng.standard_normal(len(f)),
    "noisy": lambda X, f, rng: f + 1.5 * rng.standard_normal(len(f)),
    "quiet": lambda X, f, rng: f + 0.005 * rng.standard_normal(len(f)),
    "varying": lambda X, f, rng: f + 0.4 * np.exp(1.5 * X[:, 0] - 0.75) * rng.standard_normal(len(f)),
    "tails": lambda X, f, rng: f + 0.3 * rng.standard_t(2.5, len(f)),
    "positive": lambda X, f, rng: np.exp(f + 0.3 * rng.standard_normal(len(f))),
    "linear": lambda X, f, rng: X.sum(axis=1) + 0.3 * rng.standard_normal(len(f)),
    "steps": lambda X, f, rng: 2.0 * (X[:, 0] > 0.5) + X[:, -1] + 0.2 * rng.standard_normal(len(f)),
    "count": lambda X, f, rng: rng.poisson(3.0 * np.exp(f)).astype(np.float64),
}
CLASSES = (2, 3)


@dataclass(frozen=True)
class TrainedStages:
    """The `seconds` of a training, those of its stages by name, and the time `left` at half time over the real one."""

    name: str
    cost: Cost
    speed: float
    seconds: float
    stages: dict[str, float]
    left: float

    @property
    def ratio(self) -> float:
        """The planned over the real time."""
        return self.cost.at(self.speed).cpu_seconds / self.seconds


def planned_costs(options: Options) -> list[Table]:
    """Return the trainings and the stages, by names."""
    sizes = QUICK_SIZES if options.quick else SIZES
    trained = [one for rows, inputs in sizes for one in _of_size(rows, inputs)]
    right = sum(1.0 / 1.5 <= one.ratio <= 1.5 for one in trained), sum(0.7 <= one.left <= 1.3 for one in trained)
    rows = [(one.name, f"{one.seconds:.2f}", f"{one.ratio:.2f}", f"{one.left:.2f}") for one in trained]
    rows.append((f"right, of {len(trained)}", "", str(right[0]), str(right[1])))
    first = Table("Planned costs", ("Training", "CPU s", "Planned / CPU", "Left"), tuple(rows), NOTES[:1])
    header = ("Stage", "Planned", "Compared", "Chance", "Measured / planned")
    return [first, Table("Stages", header, tuple(_stages(trained)), NOTES[1:])]


def _of_size(rows: int, inputs: int) -> list[TrainedStages]:
    rng = np.random.default_rng((TABLE_SEED, rows, inputs))
    X = rng.random((rows, inputs))
    f = friedman(1, np.column_stack([X, rng.random((rows, max(0, 5 - inputs)))]))
    f = (f - f.mean()) / f.std()
    targets: dict[str, Column] = {name: NumberArray(target(X, f, rng)) for name, target in TARGETS.items()}
    for classes in CLASSES:
        latent = f + rng.standard_normal(rows)
        bounds = np.quantile(latent, np.linspace(0.0, 1.0, classes + 1)[1:-1])
        labels = tuple(f"class {number}" for number in range(classes))
        targets[f"{classes} classes"] = CategoryArray(np.searchsorted(bounds, latent).astype(np.int32), labels)
    columns: dict[str, Column] = {f"x{number}": NumberArray(column) for number, column in enumerate(X.T)}
    return [measured(f"{name}, {rows:,} x {inputs}", {**columns, "y": target}) for name, target in targets.items()]


def measured(name: str, block: Block) -> TrainedStages:
    """Train in this process."""
    dataset, speed, now = dataset_of(block), measured_speed(), 0.0
    plan = plan_supervised(SupervisedRequest(NO_DATASET, "y"), dataset)
    cost, stages, left = planned_cost(plan, dataset.rows), defaultdict[str, float](float), list[tuple[float, float]]()
    start = process_time()
    progress, stage = WorkProgress(cost, speed, clock=lambda: now), ""
    with TemporaryDirectory() as path:
        training = SupervisedTraining.prepare(
            plan, dataset, lambda: iter([(0, block)]), Path(path), max_cells=SETTINGS["max_training_cells"]
        )
        for step in training.fit.steps(train, Limits(1, None, SETTINGS["max_candidate_cells"]), FitLog()):
            before, now = now, process_time() - start
            stages[stage] += now - before
            if isinstance(step, Step):
                stage = next((_name(cost, place) for place, one in enumerate(cost.stages) if one.has(step)), stage)
                left.append((now, progress.after(step).seconds_left))
    seconds = process_time() - start
    half = seconds / 2.0
    at, found = max((one for one in left if one[0] <= half), default=(0.0, seconds))
    return TrainedStages(name, cost, speed, seconds, stages, (found - (half - at)) / half)


def _name(cost: Cost, place: int) -> str:
    stage = cost.stages[place]
    return stage.phases[0] if stage.number is None else f"{stage.phases[0]} {stage.number}"


def _stages(trained: list[TrainedStages]) -> list[tuple[str, ...]]:
    ratios, planned, chances = defaultdict[str, list[float]](list), defaultdict[str, int](int), dict[str, float]()
    for one in trained:
        for place, stage in enumerate(one.cost.stages):
            name, units = _name(one.cost, place), stage.expected * stage.units
            planned[name] += 1
            chances[name] = stage.chance
            if one.stages.get(name, 0.0) > MIN_SECONDS:
                ratios[name].append(one.stages[name] * one.speed * UNITS_PER_SECOND / units)
    return [
        (
            name,
            str(count),
            str(len(ratios[name])),
            f"{chances[name]:.2f}",
            f"{exp(np.mean([log(ratio) for ratio in ratios[name]])):.2f}" if ratios[name] else "",
        )
        for name, count in planned.items()
    ]
