"""The rows of a dataset as one file of numbers that a fit maps."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.selection import DerivedColumns
from relevance_bayes.core.types import Array, Mask
from relevance_bayes.plans.encoding_statistics import Statistics, effect_folds
from relevance_bayes.plans.likelihoods import is_near, too_far
from relevance_bayes.plans.requests import GroupSplit, RandomSplit, SupervisedPlan
from relevance_bayes.plans.split import NOTHING, fold_keys
from relevance_bayes.tables.columns import Block, taken
from relevance_bayes.tables.encoding import EncodedTarget, Encoding, encode_inputs, encode_noise, encode_target
from relevance_bayes.tasks.complete_rows import Part, Read, complete_rows, refuse_too_few, refuse_too_many
from relevance_bayes.tasks.row_sample import RowSample
from relevance_bayes.tasks.supervised.derived_columns import FILE
from relevance_bayes.tasks.supervised.duplicates import WrittenRows, drop_duplicates
from relevance_bayes.tasks.supervised.holdout import Holdout
from relevance_bayes.tasks.supervised.outlying_inputs import AllLimits, OutlyingInput, outlying_inputs, outside
from relevance_bayes.types.errors import Fault, TrainingFailedError
from relevance_bayes.types.reports import ClassRows

EXTRA_COLUMNS = 4
"""The columns of the file after the inputs: t, the noise sd, the fold key and the number of the dataset row."""

MAX_FAULTS_REPORTED = 20


@dataclass(frozen=True)
class Materialised:
    """A file of float64, little-endian, row by row: `training` rows, then `held_out` ones.

    Each row has its `inputs` encoded numbers, then t, its noise sd (0 without such a column), the fold key (the number
    of a group, or the position in time, else 0) and the number of its dataset row. `dropped` rows are in neither part:
    they have gaps or outlying inputs, repeat another row, or are held-out rows with values that the training rows lack.
    `copies` of them repeat another row, and `outlying` lists the outlying inputs. `sample` are training rows as they
    are in the dataset.
    """

    path: Path
    encoding: Encoding
    training: int
    held_out: int
    dropped: int
    inputs: int
    copies: int = 0
    outlying: tuple[OutlyingInput, ...] = ()
    sample: Block = field(default_factory=dict)

    def rows(self) -> Array:
        """Return all rows, mapped read-only."""
        return np.memmap(self.path, "<f8", "r", shape=(self.training + self.held_out, self.inputs + EXTRA_COLUMNS))

    def learned_from(self, derived: DerivedColumns | None) -> "Materialised":
        """Return the file that was learned from: where derived inputs were not kept, the one that the fit wrote."""
        if derived is None or derived.kept:
            return self
        encoding = self.encoding.without_periods()
        return replace(self, path=self.path.with_name(FILE), encoding=encoding, inputs=encoding.width)


def materialise(plan: SupervisedPlan, read: Read, directory: Path, *, max_cells: int) -> Materialised:
    """Write `rows.f64` in `directory`, in two passes over the blocks, three where rows are held out.

    Where inputs have outlying values there are two more: their rows are left out and reported. Positions of timestamps
    within periods are left out where only without them rows times inputs are within `max_cells`.

    Memory holds one block, an encoded part of it and the sample; while the rows to hold out are chosen, also 16 bytes a
    row. Raises TrainingFailedError where the remaining rows can't be learned from, or rows times inputs exceed
    `max_cells`.
    """
    holdout = _holdout(plan, read)
    limits: AllLimits = {}
    gathered = _gathered(plan, read, holdout, limits)
    outlying: tuple[OutlyingInput, ...] = ()
    if found := gathered.statistics.limits():
        limits, outlying = found, outlying_inputs(_complete(plan, read), found)
        gathered = _gathered(plan, read, holdout, limits)
    statistics, usable, dropped = gathered.statistics, gathered.usable, gathered.dropped
    encodings = Encodings(statistics.encoding(), statistics.fold_encodings())
    if usable * encodings.encoding.width > max_cells:
        encodings = encodings.without_periods()
    encoding = encodings.encoding
    _check(plan, statistics, cells=usable * encoding.width, max_cells=max_cells)
    _check_noise(plan, encoding.target)
    path, training = directory / "rows.f64", statistics.rows
    sample = RowSample([*(column.name for column in plan.inputs), plan.target], rows=training)
    divided = _sampled(_divided(plan, read, holdout, limits), sample)
    with path.open("wb") as file:
        measured = _write(file, divided, plan=plan, encodings=encodings, training=training)
    if plan.holdout and not measured:
        raise TrainingFailedError(
            "Every held-out row has a category that no training row has; choose another seed or a larger `holdout`,"
            " or leave that column out.",
            kind="nothing-to-hold-out",
        )
    copies = 0
    if plan.spec.likelihood.has_target_units:
        written = WrittenRows(path, training, measured, encoding.width)
        copies = drop_duplicates(written, by_group=isinstance(plan.split, GroupSplit))
    dropped += usable - training - measured + copies
    return Materialised(
        path, encoding, training - copies, measured, dropped, encoding.width, copies, outlying, sample.block()
    )


@dataclass(frozen=True)
class Encodings:
    """The encoding of rows to predict, and those of the training rows of each fold, none where they are the same."""

    encoding: Encoding
    folds: tuple[Encoding, ...]

    def without_periods(self) -> "Encodings":
        """Return the encodings with timestamps as numbers alone."""
        return Encodings(self.encoding.without_periods(), tuple(fold.without_periods() for fold in self.folds))

    def inputs(self, plan: SupervisedPlan, part: Part, held_out: Mask) -> tuple[Array, tuple[Fault, ...]]:
        """Return X (N, d) and faults of a part; training rows by the targets of other folds."""
        block = part.block
        matrix, faults = encode_inputs(self.encoding, block)
        if self.folds:
            of_row = effect_folds(plan, block, part.numbers)
            for fold, encoding in enumerate(self.folds):
                rows = np.flatnonzero((of_row == fold) & ~held_out)
                some = {name: taken(column, rows) for name, column in block.items()}
                matrix[rows] = encode_inputs(encoding, some)[0]
        return matrix, faults


@dataclass(frozen=True)
class _Gathered:
    """The result of a pass: statistics of training rows, numbers of usable and dropped rows."""

    statistics: Statistics
    usable: int
    dropped: int


def _gathered(plan: SupervisedPlan, read: Read, holdout: Holdout, limits: AllLimits) -> _Gathered:
    statistics, usable, dropped = Statistics(plan), 0, 0
    for part, held_out in _divided(plan, read, holdout, limits):
        statistics.add(part.block, ~held_out, part.numbers)
        usable += len(part.numbers)
        dropped += part.dropped
    return _Gathered(statistics, usable, dropped)


def training_rows(plan: SupervisedPlan, read: Read) -> Iterator[Block]:
    """Yield the training rows of the plan, block by block: the complete ones that are not held out.

    Raises TrainingFailedError where none can be held out as planned.
    """
    for part, held_out in _divided(plan, read, _holdout(plan, read), {}):
        kept = np.flatnonzero(~held_out)
        yield {name: taken(column, kept) for name, column in part.block.items()}


def _complete(plan: SupervisedPlan, read: Read) -> Iterator[Part]:
    """Yield the rows that have a target, its noise, a place in the split and, unless gaps are filled in, all inputs."""
    by = None if isinstance(plan.split, RandomSplit) else plan.split.column
    beside = [plan.target, *(name for name in (by, plan.noise_column) if name is not None)]
    needed = [] if plan.missing == "indicator" else [column.name for column in plan.inputs]
    return complete_rows(read, plan.inputs, beside=beside, needed=[*beside, *needed])


def _holdout(plan: SupervisedPlan, read: Read) -> Holdout:
    return Holdout.of(plan, _complete(plan, read)) if plan.holdout else Holdout(plan, NOTHING)


def _divided(plan: SupervisedPlan, read: Read, holdout: Holdout, limits: AllLimits) -> Iterator[tuple[Part, Mask]]:
    """Yield every part with the mask (N,) of its held-out rows, without rows that lie outside the limits."""
    for part, held_out in holdout.divide(_complete(plan, read)):
        ordinary = ~outside(part, limits)
        yield (part, held_out) if ordinary.all() else (part.take(ordinary), held_out[ordinary])


def _sampled(parts: Iterator[tuple[Part, Mask]], sample: RowSample) -> Iterator[tuple[Part, Mask]]:
    for part, held_out in parts:
        sample.add(part.block, ~held_out)
        yield part, held_out


def _check(plan: SupervisedPlan, statistics: Statistics, *, cells: int, max_cells: int) -> None:
    left_out = "rows with gaps and rows to hold out" if plan.holdout else "rows with gaps"
    refuse_too_few(statistics.rows, left_out=left_out)
    left = f"After leaving out {left_out}"
    if statistics.has_one_target:
        what = "one class" if plan.task == "classification" else "one value of the target"
        raise TrainingFailedError(
            f"{left} only {what} is left in `{plan.target}`, so there is nothing to learn;"
            " add rows that differ, or hold out fewer or others (`holdout`, `seed`, `split`).",
            kind="one-class" if plan.task == "classification" else "constant-target",
        )
    if cells == 0:
        raise TrainingFailedError(f"{left} no input has a value left; name other `inputs`.", kind="no-inputs")
    refuse_too_many(cells, maximum=max_cells)


def _check_noise(plan: SupervisedPlan, target: EncodedTarget) -> None:
    match plan.spec.likelihood:
        case GaussianNoise(noise_sd=float() | int() as noise_sd) if not is_near(noise_sd, target.scale):
            raise TrainingFailedError(too_far(noise_sd, target.name, target.scale), kind="too-large")
        case _:
            pass


def _write(
    file: BinaryIO,
    parts: Iterator[tuple[Part, Mask]],
    *,
    plan: SupervisedPlan,
    encodings: "Encodings",
    training: int,
) -> int:
    """Write the training rows and then the held-out ones; return the number of the latter that could be encoded."""
    encoding = encodings.encoding
    row_bytes = 8 * (encoding.width + EXTRA_COLUMNS)
    learned = measured = 0
    for part, held_out in parts:
        inputs, faults = encodings.inputs(plan, part, held_out)
        targets = encode_target(encoding.target, part.block)
        noise_sd, wrong = encode_noise(encoding.target, part.block)
        faults = (*faults, *wrong)
        noise = np.zeros(len(targets)) if noise_sd is None else noise_sd
        keys = fold_keys(plan.split, part.block, numbers=part.numbers)
        rows = np.column_stack([inputs, targets, noise, keys, part.numbers])
        finite = np.isfinite(rows).all(axis=1)
        if not (finite | held_out).all():
            raise TrainingFailedError(
                "Some rows have values that can't be computed with." + (f" {faults[0].detail}" if faults else ""),
                kind="too-large",
                faults=faults[:MAX_FAULTS_REPORTED],
            )
        file.seek(learned * row_bytes)
        learned += _put(file, rows[~held_out])
        file.seek((training + measured) * row_bytes)
        measured += _put(file, rows[held_out & finite])
    return measured


def _put(file: BinaryIO, rows: Array) -> int:
    file.write(np.ascontiguousarray(rows, "<f8").data)
    return len(rows)


def class_rows(made: Materialised) -> tuple[ClassRows, ...]:
    """Return the number of training rows of each class, in the encoding's order; none where numbers are predicted."""
    classes = made.encoding.target.classes
    if not classes:
        return ()
    places = made.rows()[: made.training, made.inputs].astype(np.intp)
    return tuple(map(ClassRows, classes, np.bincount(places, minlength=len(classes)).tolist()))
