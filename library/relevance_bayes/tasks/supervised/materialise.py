"""The rows of a supervised training as a file: requested, held out, encoded; duplicates.

Two observations with independent noise never have the same number to the last digit, so a repeated row is a copy and
has no information. Counted twice, it would make intervals too narrow by the root of two, and would justify more
functions than the data does. Where targets are counts or rounded to few values, equal rows are separate observations,
and all are kept.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, TypeAlias

import numpy as np

from relevance_bayes.core.folds import content_keys, subset
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.selection import Trained
from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.records.errors import Fault, TrainingFailedError
from relevance_bayes.records.reports import ClassRows
from relevance_bayes.tables.columns import Block, CategoryArray, taken
from relevance_bayes.tables.encoding import (
    EncodedNumber,
    EncodedTarget,
    Encoding,
    InputEncoding,
    OrdinaryRange,
    columns_of,
    encode_inputs,
    encode_noise,
    encode_target,
    real_values,
)
from relevance_bayes.tasks.planning import held_out_rows
from relevance_bayes.tasks.rows import (
    CompleteRows,
    Parts,
    Ranks,
    Read,
    RowSample,
    canonical_order,
    complete_rows,
    content_hash,
    refuse_too_few,
    refuse_too_many,
)
from relevance_bayes.tasks.supervised.fit import FILE, LOGARITHMS_FILE, TEXTS_FILE, names_columns
from relevance_bayes.tasks.supervised.request import GroupSplit, RandomSplit, SupervisedPlan
from relevance_bayes.tasks.supervised.rows import (
    NOTHING,
    Cut,
    InputLevels,
    RecurringRows,
    TrainingStatistics,
    cut,
    effect_folds,
    fold_keys,
    ranks,
)
from relevance_bayes.tasks.supervised.target import is_near, too_far

AllLimits: TypeAlias = Mapping[str, OrdinaryRange]
"""The limits of each input, by name."""

MAX_NAMED = 10
"""The most rows that are reported for an input."""

MIN_SHARE = 0.4
"""The share of an input's squared distances from the median, above which a value determines the effect of the input
far out, ..."""

MIN_RATIO = 2.5
"""... if its distance is also more than so many times the next one, ..."""

MIN_ROWS = 20
"""... of at least so many rows. Of normal inputs such a value is in one table of 250 with 20 rows, and in none with
100."""


@dataclass(frozen=True)
class OutlyingInput:
    """An input with outlying values: the number of rows, and the dataset row numbers of the first of them."""

    name: str
    limits: OrdinaryRange
    count: int
    rows: tuple[int, ...]


def outside(part: CompleteRows, limits: AllLimits) -> Mask:
    """Return the mask (N,) of a part's rows with an input outside its limits."""
    found = np.zeros(len(part.numbers), np.bool_)
    for name, one in limits.items():
        found |= one.outside(_numbers(part, name))
    return found


def _numbers(part: CompleteRows, name: str) -> Array:
    column = part.block[name]
    if isinstance(column, CategoryArray):
        raise TypeError(f"column {name!r}: expected numbers, got texts")
    return real_values(column)


def outlying_inputs(parts: Iterable[CompleteRows], limits: AllLimits) -> tuple[OutlyingInput, ...]:
    """Return the rows with outlying values, for each input."""
    rows: dict[str, list[int]] = {name: [] for name in limits}
    counts = dict.fromkeys(limits, 0)
    for part in parts:
        for name, one in limits.items():
            found = part.numbers[one.outside(_numbers(part, name))]
            counts[name] += len(found)
            rows[name] = sorted([*rows[name], *map(int, found.tolist())])[:MAX_NAMED]
    return tuple(OutlyingInput(name, one, counts[name], tuple(rows[name])) for name, one in limits.items())


@dataclass(frozen=True)
class DistantValue:
    """The value of an input in the dataset's `row`, `ratio` times as far from the median as any other."""

    name: str
    row: int
    ratio: float


def distant_values(rows: Array, encoding: InputEncoding) -> tuple[DistantValue, ...]:
    """Return those of the training rows (N, k), whose first columns are encoded inputs and whose last are numbers.

    The share of the squares is that of the leverage of a row under a line in this input. The inputs with one value in
    all other rows have none: such a row is as rare as its category.
    """
    if len(rows) < MIN_ROWS:
        return ()
    layout = encoding.layout
    places = zip(layout.numbers, layout.places.tolist(), strict=True)
    found = ((one.name, _most_distant(np.array(rows[:, place]))) for one, place in places if one.kind == "number")
    return tuple(DistantValue(name, int(rows[one[0], -1]), one[1]) for name, one in found if one is not None)


def _most_distant(values: Array) -> tuple[int, float] | None:
    """Return the index and the ratio of the most distant of values (N,), None where it is ordinary."""
    distances = np.abs(values - np.median(values))
    place = int(distances.argmax())
    first, second = float(distances[place]), float(np.partition(distances, -2)[-2])
    if not second > 0.0 or first <= MIN_RATIO * second:
        return None
    return (place, first / second) if np.square(distances / first).sum() < 1.0 / MIN_SHARE else None


@dataclass(frozen=True)
class Holdout:
    """The threshold of the ranks and, at random, those of rows with equal inputs, else None."""

    plan: SupervisedPlan
    where: Cut
    recurring: RecurringRows | None = None

    @classmethod
    def of(cls, plan: SupervisedPlan, parts: Iterable[CompleteRows]) -> "Holdout":
        """Return the holdout of all usable rows; raises TrainingFailedError where none can be held out as planned."""
        contents, places = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
        levels = InputLevels([column.name for column in plan.inputs])
        at_random = isinstance(plan.split, RandomSplit)
        for part in parts:
            contents.append(_ranks(plan, part))
            if at_random:
                places.append(_places(plan, part))
                levels.add(part.block)
        everything, recurring = np.concatenate(contents), None
        if at_random:
            maximum = held_out_rows(len(everything), plan.holdout)
            recurring = RecurringRows.of(everything, np.concatenate(places), few_levels=levels.is_few, maximum=maximum)
            everything = recurring.begun()(everything, np.concatenate(places))
        where = cut(plan.split, everything, plan.holdout)
        if where == NOTHING and len(everything) > 1 and not isinstance(plan.split, RandomSplit):
            column = plan.split.column
            raise TrainingFailedError(
                f"`{column}` is the same in all rows without gaps, so none can be held out by it; split by another"
                " column.",
                kind="nothing-to-hold-out",
            )
        return cls(plan, where, recurring)

    def divide(self, parts: Iterable[CompleteRows]) -> Iterator[tuple[CompleteRows, Mask]]:
        """Yield every part of a pass with the mask (N,) of its held-out rows."""
        where, recurring = self.where, None if self.recurring is None else self.recurring.begun()
        for part in parts:
            if where == NOTHING:
                yield part, np.zeros(len(part.numbers), np.bool_)
                continue
            found = _ranks(self.plan, part)
            held_out, where = where.apply(found if recurring is None else recurring(found, _places(self.plan, part)))
            yield part, held_out


def _ranks(plan: SupervisedPlan, part: CompleteRows) -> Ranks:
    names = [plan.target, *(column.name for column in plan.inputs)]
    return ranks(plan.split, part.block, numbers=part.numbers, names=names, seed=plan.spec.seed)


def _places(plan: SupervisedPlan, part: CompleteRows) -> Ranks:
    return content_hash(part.block, [column.name for column in plan.inputs], plan.spec.seed)


MAX_AGREEMENT = 0.01
"""Targets count as measured where two distinct rows agree in theirs with less than this probability."""

MAX_ROWS = 1_000_000
"""The most rows that are searched for copies: each takes 40 bytes of memory."""

DUPLICATE_COLUMNS = 4
"""The columns after the inputs: t, the noise sd, the fold key and the number of the dataset row."""


@dataclass(frozen=True)
class WrittenRows:
    """A file of float64: `training` rows, then `held_out` ones, of `inputs` numbers and DUPLICATE_COLUMNS each."""

    path: Path
    training: int
    held_out: int
    inputs: int

    def mapped(self) -> Array:
        """Return all rows, mapped read-only."""
        return np.memmap(self.path, "<f8", "r", shape=(self.training + self.held_out, self.inputs + DUPLICATE_COLUMNS))


def drop_duplicates(rows: WrittenRows, *, by_group: bool) -> int:
    """Rewrite the file without training rows that repeat an earlier one; return their number.

    Rows are equal where their inputs, targets and noise are, and with `by_group` their groups too.
    """
    if rows.training > MAX_ROWS:
        return 0
    table = rows.mapped()
    compared = rows.inputs + (3 if by_group else 2)
    _, first = np.unique(content_keys(table[: rows.training, :compared], 0), return_index=True)
    copies = rows.training - len(first)
    if not copies or not _are_measured(table[first, rows.inputs]):
        return 0
    _keep(rows, np.sort(first))
    return copies


def draw_rows(rows: WrittenRows, maximum: int, *, seed: int) -> int:
    """Rewrite the file with at most so many training rows, drawn by their content; return the number of the others."""
    if rows.training <= maximum:
        return 0
    table = rows.mapped()
    training = table[: rows.training]
    _keep(rows, subset(training[:, : rows.inputs], training[:, rows.inputs], maximum, seed))
    return rows.training - maximum


def _keep(rows: WrittenRows, training: Indices) -> None:
    """Rewrite the file with these training rows (n,), and all held-out ones."""
    table = rows.mapped()
    kept = np.concatenate([training, np.arange(rows.training, len(table))])
    shorter = rows.path.with_suffix(".kept")
    shorter.write_bytes(np.ascontiguousarray(table[kept], "<f8").data)
    del table
    shorter.replace(rows.path)


def _are_measured(t: Array) -> bool:
    """Return whether the targets t (n,) of distinct rows rarely agree by chance."""
    n = len(t)
    _, counts = np.unique(t, return_counts=True)
    return n > 1 and float(counts @ (counts - 1.0)) < MAX_AGREEMENT * n * (n - 1.0)


EXTRA_COLUMNS = 4
"""The columns of the file after the inputs: t, the noise sd, the fold key and the number of the dataset row."""

MAX_FAULTS_REPORTED = 20


@dataclass(frozen=True)
class Materialised:
    """A file of float64, little-endian, row by row: `training` rows, then `held_out` ones, each in canonical order.

    Each row has its `inputs` encoded numbers, first those of the `encoding`, then those of `logarithms`, which take the
    place of the numbers of the same names where they predict better; then t, its noise sd (0 without such a column),
    the fold key (the number of a group, or the position in time, else 0) and the number of its dataset row. `dropped`
    rows are in neither part: they have gaps or outlying inputs, repeat another row, or are held-out rows with values
    that the training rows lack. A budget may leave rows out too. `copies` of them repeat another row, and `outlying`
    lists the outlying inputs. `sample` are training rows as they are in the dataset.
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
    logarithms: tuple[EncodedNumber, ...] = ()

    def rows(self) -> Array:
        """Return all rows, mapped read-only."""
        return np.memmap(self.path, "<f8", "r", shape=(self.training + self.held_out, self.inputs + EXTRA_COLUMNS))

    @property
    def replaced(self) -> tuple[int, ...]:
        """Return the columns of X that the logarithms would replace."""
        names = [one.name for one in self.logarithms]
        return tuple(columns.start for columns in columns_of(self.encoding, names))

    def learned_from(self, trained: Trained) -> "Materialised":
        """Return the file that was learned from: the last one that the fit wrote without columns that were not kept."""
        made, derived, texts = self, trained.derived, trained.texts
        if trained.logarithms is not None:
            encoding = self.encoding
            encoding = encoding.with_logarithms(self.logarithms) if trained.logarithms.kept else encoding
            path = self.path.with_name(LOGARITHMS_FILE)
            made = replace(made, path=path, encoding=encoding, inputs=encoding.width, logarithms=())
        if texts is not None and not texts.kept:
            encoding = made.encoding.without([one.name for _, one in made.encoding.layout.effects])
            made = replace(made, path=made.path.with_name(TEXTS_FILE), encoding=encoding, inputs=encoding.width)
        if derived is not None and not derived.kept:
            encoding = made.encoding.without_periods()
            made = replace(made, path=made.path.with_name(FILE), encoding=encoding, inputs=encoding.width)
        return made


def materialise(plan: SupervisedPlan, read: Read, directory: Path, *, max_cells: int) -> Materialised:
    """Write `rows.f64` in `directory`: inputs and rows are brought into canonical order, in one pass over the blocks.

    Of more rows than are ordered there are two more passes, three where rows are held out, and another two where inputs
    have outlying values: their rows are left out and reported. Positions of timestamps within periods are left out
    where only without them rows times inputs are within `max_cells`.

    Memory holds one block, an encoded part of it and the sample; while rows are ordered, or the rows to hold out are
    chosen, also a column and 32 bytes a row. Raises TrainingFailedError where the remaining rows can't be learned from,
    or rows times inputs exceed `max_cells`.
    """
    ordered = canonical_order(
        lambda: _complete(plan, read), plan.inputs, directory, target=plan.target, max_cells=max_cells
    )
    sampled = [*(column.name for column in plan.inputs), plan.target]
    plan, parts = replace(plan, inputs=ordered.inputs), ordered.parts
    holdout = _holdout(plan, parts)
    limits: AllLimits = {}
    gathered = _gathered(plan, parts, holdout, limits)
    outlying: tuple[OutlyingInput, ...] = ()
    if found := gathered.statistics.limits():
        limits, outlying = found, outlying_inputs(parts(), found)
        gathered = _gathered(plan, parts, holdout, limits)
    statistics, usable, dropped = gathered.statistics, gathered.usable, gathered.dropped
    logarithms = () if names_columns(plan.spec) else statistics.logarithms()
    encodings = Encodings(statistics.encoding(), statistics.fold_encodings(), logarithms)
    if plan.text == "target" and not names_columns(plan.spec):
        encodings = encodings.without(statistics.sparse_texts())
    if usable * encodings.width > max_cells:
        encodings = replace(encodings, logarithms=())
    if usable * encodings.width > max_cells:
        encodings = encodings.without_periods()
    encoding = encodings.encoding
    _check(plan, statistics, cells=usable * encoding.width, max_cells=max_cells)
    _check_noise(plan, encoding.target)
    path, training = directory / "rows.f64", statistics.rows
    sample = RowSample(sampled, rows=training)
    divided = _sampled(_divided(parts, holdout, limits), sample)
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
        written = WrittenRows(path, training, measured, encodings.width)
        copies = drop_duplicates(written, by_group=isinstance(plan.split, GroupSplit))
    dropped += usable - training - measured + copies
    training -= copies
    if plan.budget is not None and plan.budget.rows is not None:
        written = WrittenRows(path, training, measured, encodings.width)
        left_out = draw_rows(written, plan.budget.rows, seed=plan.spec.seed)
        training, dropped = training - left_out, dropped + left_out
    return Materialised(
        path,
        encoding,
        training,
        measured,
        dropped,
        encodings.width,
        copies,
        outlying,
        sample.block(),
        encodings.logarithms,
    )


@dataclass(frozen=True)
class Encodings:
    """The encoding of rows to predict, and those of the training rows of each fold, none where they are the same.

    Columns of `logarithms` follow: other encodings of some of the numbers.
    """

    encoding: Encoding
    folds: tuple[Encoding, ...]
    logarithms: tuple[EncodedNumber, ...] = ()

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return self.encoding.width + len(self.logarithms)

    def without_periods(self) -> "Encodings":
        """Return the encodings with timestamps as numbers alone."""
        folds = tuple(fold.without_periods() for fold in self.folds)
        return Encodings(self.encoding.without_periods(), folds, self.logarithms)

    def without(self, names: Collection[str]) -> "Encodings":
        """Return the encodings of inputs of other names."""
        folds = tuple(fold.without(names) for fold in self.folds)
        return Encodings(self.encoding.without(names), folds, self.logarithms)

    def inputs(self, plan: SupervisedPlan, part: CompleteRows, held_out: Mask) -> tuple[Array, tuple[Fault, ...]]:
        """Return X (N, d) and faults of a part; training rows by the targets of other folds."""
        block = part.block
        matrix, faults = encode_inputs(self.encoding, block)
        if self.folds:
            of_row = effect_folds(plan, block, part.draws)
            for fold, encoding in enumerate(self.folds):
                rows = np.flatnonzero((of_row == fold) & ~held_out)
                some = {name: taken(column, rows) for name, column in block.items()}
                matrix[rows] = encode_inputs(encoding, some)[0]
        if self.logarithms:
            matrix = np.hstack([matrix, encode_inputs(InputEncoding(self.logarithms), block)[0]])
        return matrix, faults


@dataclass(frozen=True)
class _Gathered:
    """The result of a pass: statistics of training rows, numbers of usable and dropped rows."""

    statistics: TrainingStatistics
    usable: int
    dropped: int


def _gathered(plan: SupervisedPlan, parts: Parts, holdout: Holdout, limits: AllLimits) -> _Gathered:
    statistics, usable, dropped = TrainingStatistics(plan), 0, 0
    for part, held_out in _divided(parts, holdout, limits):
        statistics.add(part.block, ~held_out, part.draws)
        usable += len(part.numbers)
        dropped += part.dropped
    return _Gathered(statistics, usable, dropped)


def training_rows(plan: SupervisedPlan, read: Read) -> Iterator[Block]:
    """Yield the training rows of the plan, block by block: the complete ones that are not held out.

    Raises TrainingFailedError where none can be held out as planned.
    """

    def parts() -> Iterator[CompleteRows]:
        return _complete(plan, read)

    for part, held_out in _divided(parts, _holdout(plan, parts), {}):
        kept = np.flatnonzero(~held_out)
        yield {name: taken(column, kept) for name, column in part.block.items()}


def _complete(plan: SupervisedPlan, read: Read) -> Iterator[CompleteRows]:
    """Yield the rows that have a target, its noise, a place in the split and, unless gaps are filled in, all inputs."""
    by = None if isinstance(plan.split, RandomSplit) else plan.split.column
    beside = [plan.target, *(name for name in (by, plan.noise_column) if name is not None)]
    needed = [] if plan.missing == "indicator" else [column.name for column in plan.inputs]
    return complete_rows(read, plan.inputs, beside=beside, needed=[*beside, *needed])


def _holdout(plan: SupervisedPlan, parts: Parts) -> Holdout:
    return Holdout.of(plan, parts()) if plan.holdout else Holdout(plan, NOTHING)


def _divided(parts: Parts, holdout: Holdout, limits: AllLimits) -> Iterator[tuple[CompleteRows, Mask]]:
    """Yield every part with the mask (N,) of its held-out rows, without rows that lie outside the limits."""
    for part, held_out in holdout.divide(parts()):
        ordinary = ~outside(part, limits)
        yield (part, held_out) if ordinary.all() else (part.take(ordinary), held_out[ordinary])


def _sampled(parts: Iterator[tuple[CompleteRows, Mask]], sample: RowSample) -> Iterator[tuple[CompleteRows, Mask]]:
    for part, held_out in parts:
        sample.add(part.block, ~held_out, part.draws)
        yield part, held_out


def _check(plan: SupervisedPlan, statistics: TrainingStatistics, *, cells: int, max_cells: int) -> None:
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
    parts: Iterator[tuple[CompleteRows, Mask]],
    *,
    plan: SupervisedPlan,
    encodings: "Encodings",
    training: int,
) -> int:
    """Write the training rows and then the held-out ones; return the number of the latter that could be encoded."""
    encoding = encodings.encoding
    row_bytes = 8 * (encodings.width + EXTRA_COLUMNS)
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
                faults=tuple(part.numbered(fault) for fault in faults[:MAX_FAULTS_REPORTED]),
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
