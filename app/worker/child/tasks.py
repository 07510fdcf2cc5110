"""What a child is asked for, and what comes of it: for each kind of task a file of rows, and what to learn of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import numpy as np

from app.worker.child.components import ComponentsTask, FoundComponents, found_components
from app.worker.child.limits import Limits
from app.worker.child.mapped import MappedRows, mapped
from relevance_bayes.core.approximation import Approximation, Expansion, approximating, negative_mass, proper_steps
from relevance_bayes.core.images import ImageCode, steps
from relevance_bayes.core.selection import MAX_SCORE_LOSS, Bounds, Folding, Rows, Step, Trained
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.trail import Mark, Trail
from relevance_bayes.core.types import Array

EXTRA_COLUMNS = 4


@dataclass(frozen=True)
class SupervisedTask:
    """Numbers or classes to fit: a file of float64, `training` rows, then `held_out` ones.

    Each row is its `inputs` numbers, then t, its noise sd, the fold key and the number of its dataset row.
    """

    path: Path
    training: int
    held_out: int
    inputs: int
    spec: Spec
    by: Literal["random", "groups", "order"]
    rivals: tuple[Spec, ...] = ()
    folds: int = 0
    bounds: Bounds | None = None
    pool: tuple[Spec, ...] = ()
    alternatives: tuple[Spec, ...] = ()
    max_score_loss: float = MAX_SCORE_LOSS


@dataclass(frozen=True)
class ApproximationTask:
    """A sum of Gaussians to be told by few: a file of float64, of `rows` terms.

    Each row is its `inputs` numbers, its coefficient and the number of its dataset row; without `coefficients` all
    count the same, and integrate to 1.
    """

    path: Path
    rows: int
    widths: tuple[float, ...]
    coefficients: bool
    constant: float
    tolerance: float
    most: int | None
    density: bool


@dataclass(frozen=True, eq=False)
class Approximated:
    """The terms kept, the integral of all there were, and of what lies below 0 of them before they were a density."""

    found: Approximation
    integral: float
    negative: float


@dataclass(frozen=True)
class ImageTask:
    """An image to be told by few wavelets: a file of float64, an intensity and a row's number for each pixel.

    Up to so many `functions`, or until the root mean square of what they miss is `error`; else noise is left, of
    `noise_sd` or learned.
    """

    path: Path
    height: int
    width: int
    functions: int | None
    error: float | None
    noise_sd: float | None


Task: TypeAlias = SupervisedTask | ApproximationTask | ImageTask | ComponentsTask
Result: TypeAlias = Trained | Approximated | ImageCode | FoundComponents


@dataclass(frozen=True, eq=False)
class Rested:
    """How far a fit is, to be kept: another child goes on from there."""

    trail: tuple[Mark, ...]


class Trainer(Protocol):
    """`relevance_bayes.core.selection.train`, or what stands for it."""

    def __call__(
        self,
        rows: Rows,
        spec: Spec,
        *,
        rivals: tuple[Spec, ...] = (),
        pool: tuple[Spec, ...] = (),
        alternatives: tuple[Spec, ...] = (),
        folding: Folding,
        held_out: Rows | None = None,
        folds: int = 0,
        bounds: Bounds | None = None,
        max_score_loss: float = MAX_SCORE_LOSS,
        threads: int = 1,
        trail: Trail | None = None,
        max_cells: int | None = None,
    ) -> Iterator[Step | Trained]: ...


def results(
    task: Task, train: Trainer, limits: Limits, trail: tuple[Mark, ...] = ()
) -> Iterator[Step | Rested | Result]:
    """The steps of a task from where an earlier child's `trail` ends, then what came of it; raises SparseBayesError."""
    now = Trail(trail)
    match task:
        case SupervisedTask():
            return _resting(_trained(task, train, limits, now), now)
        case ApproximationTask():
            return _resting(_approximated(task, now), now)
        case ImageTask():
            return _resting(_encoded(task, now), now)
        case ComponentsTask():
            return _resting(found_components(task, now), now)


def _resting(found: Iterator[Step | Result], trail: Trail) -> Iterator[Step | Rested | Result]:
    """All that is found, and what there is to keep once that is more than it was."""
    kept = trail.marks
    for one in found:
        yield one
        marks = trail.marks
        if len(marks) != len(kept) or any(now is not before for now, before in zip(marks, kept, strict=True)):
            kept = marks
            yield Rested(marks)


def _trained(task: SupervisedTask, train: Trainer, limits: Limits, trail: Trail) -> Iterator[Step | Trained]:
    table = mapped(task.path, task.training + task.held_out, task.inputs + EXTRA_COLUMNS)
    keys = np.ascontiguousarray(table[: task.training, task.inputs + 2])
    rows = _rows(task, table[: task.training])
    return train(
        replace(rows, source=MappedRows(task.path, table.shape[1], task.inputs, rows.t, threads=limits.threads)),
        task.spec,
        rivals=task.rivals,
        pool=task.pool,
        alternatives=task.alternatives,
        folding=Folding(task.by, None if task.by == "random" else keys),
        held_out=_rows(task, table[task.training :]) if task.held_out else None,
        folds=task.folds,
        bounds=task.bounds,
        max_score_loss=task.max_score_loss,
        threads=limits.threads,
        trail=trail,
        max_cells=limits.candidate_cells,
    )


def _approximated(task: ApproximationTask, trail: Trail) -> Iterator[Step | Approximated]:
    yield Step("approximating", 0, 1, "function", functions=0)
    inputs = len(task.widths)
    terms = mapped(task.path, task.rows, inputs + 1 + task.coefficients)
    widths = np.tile(task.widths, (task.rows, 1))
    coefficients = terms[:, inputs] if task.coefficients else np.ones(task.rows)
    whole = Expansion(
        np.ascontiguousarray(terms[:, :inputs]), np.ascontiguousarray(coefficients), widths, task.constant
    )
    if not task.coefficients:
        whole = Expansion(whole.centres, whole.coefficients / whole.mass, widths, task.constant)
    for found in approximating(whole, error=task.tolerance, most=task.most, trail=trail):
        if isinstance(found, int):
            yield Step("approximating", 0, 1, "function", functions=found)
            continue
        yield Step("approximating", 1, 1, "function", functions=found.expansion.size)
        yield from _improved(task, whole, found, trail)


def _improved(
    task: ApproximationTask, whole: Expansion, found: Approximation, trail: Trail
) -> Iterator[Step | Approximated]:
    """What was found, made a density where it is to be one."""
    negative = negative_mass(found.expansion)
    if not task.density:
        yield Approximated(found, whole.mass, negative)
        return
    for better in proper_steps(whole, found, most=task.most, trail=trail):
        if isinstance(better, int):
            yield Step("density", 0, 1, "function", functions=better)
        else:
            yield Approximated(better, whole.mass, negative)


def _encoded(task: ImageTask, trail: Trail) -> Iterator[Step | ImageCode]:
    pixels = mapped(task.path, task.height * task.width, 2)[:, 0].reshape(task.height, task.width)
    place = trail.place
    for step in steps(
        np.array(pixels),
        functions=task.functions,
        error=task.error,
        noise_sd=task.noise_sd,
        start=trail.passed(),
    ):
        if step.rest is not None:
            trail.settle(place, step.rest)
        if step.code is not None:
            yield step.code
        else:
            functions = step.functions
            yield Step(str(step.phase), functions, task.functions, "function", None, functions, step.noise_sd)


def _rows(task: SupervisedTask, part: Array) -> Rows:
    noise_sd = np.ascontiguousarray(part[:, task.inputs + 1]) if task.spec.likelihood.noise_by_row else None
    return Rows(part[:, : task.inputs], np.ascontiguousarray(part[:, task.inputs]), noise_sd)
