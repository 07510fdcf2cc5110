"""The rows of a training, how they are split, rows that recur, and statistics.

Each row has a rank, an unsigned 64-bit number; the rows of smallest rank are held out. The cut follows from all ranks,
so two passes over a table are enough, whatever its division into blocks.

A model trained on one of two equal rows knows the other: held out, that measures memorisation. Where all inputs are
categories with many rows for each combination (`is_cells`), or more rows are equal than are to be held out, each row is
an observation of its own, and they are divided.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from relevance_bayes.core.folds import MIN_DISTINCT, ROWS_PER_CELL
from relevance_bayes.core.likelihoods import LogGaussian
from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.values import Missing
from relevance_bayes.tables.columns import Block, CategoryArray, ColumnSummary, TableSummary, block_rows, taken
from relevance_bayes.tables.encoding.columns import (
    FOLDS,
    EffectStatistics,
    EncodedEffects,
    EncodedInput,
    EncodedNumber,
    EncodedTarget,
    Encoding,
    OrdinaryRange,
    encoded_effects,
)
from relevance_bayes.tables.encoding.table import encode_target, gaps, real_values
from relevance_bayes.tables.moments import Moments
from relevance_bayes.tables.statistics import ColumnStatistics, InputStatistics
from relevance_bayes.tasks.planning import (
    Placed,
    gap_faults,
    has_effects,
    held_out_rows,
    is_constant,
    share_faults,
    unknown_column,
)
from relevance_bayes.tasks.rows import Ranks, content_hash, mixed
from relevance_bayes.tasks.supervised.request import (
    MAX_FOLDS,
    MIN_FOLDS,
    GroupSplit,
    OrderSplit,
    RandomSplit,
    Split,
    SupervisedPlan,
    SupervisedRequest,
)


def split_faults(dataset: TableSummary, split: Split, *, target: str) -> list[Fault]:
    """Return the faults of a split's column."""
    if isinstance(split, RandomSplit) or split.column is None:
        return []
    name = split.column
    column = dataset.column(name)
    if column is None:
        wrong = unknown_column(dataset, name)
    elif name == target:
        wrong = f"`{name}` is the target, so it can't be the split's column."
    elif isinstance(split, OrderSplit) and column.kind not in {"number", "timestamp"}:
        kind = "texts" if column.kind == "category" else "true and false"
        wrong = f"`{name}` has {kind}; rows can be ordered only by numbers or timestamps."
    elif is_constant(column) or column.missing == dataset.rows:
        wrong = f"`{name}` is the same in every row, so it can't divide rows."
    else:
        return []
    return [Fault(wrong, "/split/column", column=name)]


def row_faults(
    dataset: TableSummary, request: SupervisedRequest, missing: Missing, needed: Placed, inputs: Placed
) -> list[Fault]:
    """Return faults for missing values that are refused, and too few rows.

    `needed` and `inputs` are pointers and columns; rows without one of those needed are left out.
    """
    gaps = gap_faults(dataset, [*needed, *inputs]) if missing == "error" else []
    dropped_by = {"error": [], "drop_rows": [*needed, *inputs], "indicator": needed}[missing]
    dropping = [column for _, column in dropped_by]
    shares = share_faults(dataset, request.holdout, dropping)
    return [*gaps, *(shares or _fold_faults(dataset, request, dropping))]


def _fold_faults(dataset: TableSummary, request: SupervisedRequest, dropping: Sequence[ColumnSummary]) -> list[Fault]:
    """Return faults for too few or too many folds, or more than rows or groups; the held-out share is valid."""
    if request.validation is None:
        return []
    folds = request.validation.folds
    if not MIN_FOLDS <= folds <= MAX_FOLDS:
        detail = f"Expected from {MIN_FOLDS} to {MAX_FOLDS} folds, got {folds}."
        return [Fault(detail, "/validation/folds")]
    rows = dataset.rows - max((column.missing for column in dropping), default=0)
    rows -= held_out_rows(rows, request.holdout)
    needed = folds + 1 if isinstance(request.split, OrderSplit) else folds
    if rows < needed:
        detail = f"{folds} folds need at least {needed} rows to train on, and there are {rows}; use fewer folds."
        return [Fault(detail, "/validation/folds")]
    if not isinstance(request.split, GroupSplit):
        return []
    column = dataset.column(request.split.column)
    if column is None or column.distinct is None:
        return []
    groups = column.distinct - (1 if request.holdout > 0 else 0)
    if groups >= folds:
        return []
    left = "are left to train on" if request.holdout > 0 else "are there"
    detail = f"{folds} folds need as many groups of `{column.name}`, and at most {groups} {left}; use fewer folds."
    return [Fault(detail, "/validation/folds", column=column.name)]


_SIGN = np.uint64(1 << 63)
_EXACT_BITS = np.uint64(11)
"""A hash without its last 11 bits is an integer that float64 represents exactly."""


def ranks(split: Split, block: Block, *, numbers: Array, names: Iterable[str], seed: int) -> Ranks:
    """Return the rank (N,) of each row of a block; `numbers` (N,) are its rows' indices in the table, `names` its
    content.

    Random: a hash of the content. By column: a hash of the group. By order: the later a row, the smaller.
    """
    match split:
        case RandomSplit():
            return content_hash(block, names, seed)
        case GroupSplit(column=column):
            return content_hash(block, (column,), seed)
        case OrderSplit():
            return ~_in_order(_times(split, block, numbers))


def fold_keys(split: Split, block: Block, *, numbers: Array) -> Array:
    """Return the keys of folds (N,): a number for each group, or the position in time; 0 at random."""
    match split:
        case RandomSplit():
            return np.zeros(block_rows(block))
        case GroupSplit(column=column):
            return (content_hash(block, (column,), 0) >> _EXACT_BITS).astype(np.float64)
        case OrderSplit():
            return _times(split, block, numbers)


@dataclass(frozen=True)
class Cut:
    """The rows of rank below `rank`, and the first `ties` of those of equal rank, are held out."""

    rank: int
    ties: int

    def apply(self, block_ranks: Ranks) -> tuple[Mask, "Cut"]:
        """Return the rows (N,) of a block to hold out, and the cut for the following rows."""
        level = np.uint64(self.rank)
        held_out = block_ranks < level
        taken = np.flatnonzero(block_ranks == level)[: self.ties]
        held_out[taken] = True
        return held_out, replace(self, ties=self.ties - len(taken))


NOTHING = Cut(0, 0)


def cut(split: Split, all_ranks: Ranks, share: float) -> Cut:
    """Return the cut that holds out about the share of the rows (N,). `all_ranks` is sorted in place.

    Random and by column: the nearest number of whole sets of one rank (rows that stay together, or groups), at least
    one on either side; exactly `held_out_rows` where all ranks differ. By order: rows of one time stay together, in the
    past where the cut is among them, unless nothing would be left to hold out. `NOTHING` where the share is 0, or all
    rows are one group or one time.
    """
    required = held_out_rows(len(all_ranks), share)
    if not required or len(all_ranks) < 2:
        return NOTHING
    all_ranks.sort()
    starts = np.flatnonzero(np.r_[True, all_ranks[1:] != all_ranks[:-1]])
    ends = np.r_[starts[1:], len(all_ranks)]
    if len(ends) < 2:
        return NOTHING
    candidates = ends[:-1]
    if not isinstance(split, OrderSplit):
        chosen = int(np.argmin(np.abs(candidates - required)))
    else:
        chosen = max(0, int(np.searchsorted(candidates, required, side="right")) - 1)
    return Cut(int(all_ranks[starts[chosen]]), int(ends[chosen] - starts[chosen]))


def _times(split: OrderSplit, block: Block, numbers: Array) -> Array:
    if split.column is None:
        return numbers
    column = block[split.column]
    if isinstance(column, CategoryArray):
        raise TypeError(f"column {split.column!r}: expected numbers or timestamps to order by, got texts")
    return real_values(column)


def _in_order(values: Array) -> Ranks:
    """Return integers (N,) in the order of the values: the bits of a float64, inverted for negative ones."""
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


class InputLevels:
    """The distinct values of inputs, collected block by block up to a maximum."""

    def __init__(self, names: Sequence[str]) -> None:
        self._seen: dict[str, set[float | str]] = {name: set() for name in names}

    def add(self, block: Block) -> None:
        """Add the next rows."""
        for name, seen in self._seen.items():
            column = block[name]
            if len(seen) >= MIN_DISTINCT:
                continue
            if isinstance(column, CategoryArray):
                seen.update(column.labels[code] for code in np.unique(column.codes).tolist() if code >= 0)
            else:
                seen.update(np.unique(real_values(column)).tolist())

    @property
    def is_few(self) -> bool:
        """Return whether each input has fewer than MIN_DISTINCT values."""
        return all(len(seen) < MIN_DISTINCT for seen in self._seen.values())


@dataclass
class RecurringRows:
    """The input hashes that more than one row has, with their common ranks, or whether their rows are divided.

    `places` (k,) are ascending hashes, with their `ranks` and `divided` (k,); `counts` are rows of the same content so
    far in a pass.
    """

    places: Ranks
    ranks: Ranks
    divided: Mask
    counts: Counter[int] = field(default_factory=Counter)

    @classmethod
    def of(cls, contents: Ranks, places: Ranks, *, few_levels: bool, maximum: int) -> "RecurringRows":
        """Return the recurring rows from the hashes (N,) of all rows' contents and inputs; `maximum` is that of rows
        which are held out together."""
        found, sizes = np.unique(places, return_counts=True)
        if len(found) == len(places):
            none = np.zeros(0, np.uint64)
            return cls(none, none, np.zeros(0, np.bool_))
        order = np.argsort(places, kind="stable")
        minimum = np.minimum.reduceat(contents[order], np.cumsum(sizes) - sizes)
        cells = few_levels and len(places) >= ROWS_PER_CELL * len(found)
        recur = sizes > 1
        return cls(found[recur], minimum[recur], (sizes[recur] > maximum) | cells)

    def begun(self) -> "RecurringRows":
        """Return the same with the counts of the beginning of a pass."""
        return RecurringRows(self.places, self.ranks, self.divided)

    def __call__(self, contents: Ranks, places: Ranks) -> Ranks:
        """Return the ranks (n,) of the next rows of a pass."""
        if not len(self.places):
            return contents
        at = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        recurs = self.places[at] == places
        whole = recurs & ~self.divided[at]
        ranks = np.where(whole, self.ranks[at], contents)
        for row in np.flatnonzero(recurs & ~whole).tolist():
            content = int(contents[row])
            if self.counts[content]:
                ranks[row] = mixed(contents[row : row + 1] ^ np.uint64(self.counts[content]))[0]
            self.counts[content] += 1
        return ranks


def effect_folds(plan: SupervisedPlan, block: Block, draws: Ranks) -> Indices:
    """Return the fold (N,) of each row of a block for the effects of texts; `draws` (N,) are a uniform number of each.

    Rows of one group stay together, and copies of a row where they are left out of the training. Elsewhere copies are
    observations as others are: the rows of one text and class, were they together, would have no part in their own
    encoding, which would then be that of the other classes.
    """
    split = plan.split
    if isinstance(split, GroupSplit):
        keys = content_hash(block, [split.column], plan.spec.seed)
    elif plan.spec.likelihood.has_target_units:
        keys = content_hash(block, [*(column.name for column in plan.inputs), plan.target], plan.spec.seed)
    else:
        keys = mixed(draws + mixed(np.array([plan.spec.seed], np.uint64)))
    return (keys % np.uint64(FOLDS)).astype(np.intp)


def _of_effects(column: EncodedInput, effects: EffectStatistics, without: int | None) -> EncodedEffects:
    found = encoded_effects(effects, without=without)
    fill = None if column.fill is None else 0.0
    return EncodedEffects(column.name, effects.texts, found, fill=fill, indicator=column.indicator)


MIN_GAPS = 20
"""The least number of missing values of an input with an indicator of them, where others are drawn, ..."""

MIN_GAP_SHARE = 0.02
"""... and their least share of the rows: the effect of fewer is not learned."""


class TrainingStatistics:
    """Statistics of inputs and target over the training rows, in bounded memory."""

    def __init__(self, plan: SupervisedPlan) -> None:
        self._plan = plan
        self._inputs = InputStatistics(
            plan.inputs,
            standardise=plan.standardise,
            missing=plan.missing,
            has_periods=plan.dates == "calendar",
            min_gaps=MIN_GAPS,
            min_share=MIN_GAP_SHARE,
        )
        self._target = ColumnStatistics()
        outputs = len(plan.classes) if len(plan.classes) > 2 else 1
        self._effects = {column.name: EffectStatistics(outputs) for column in plan.inputs if has_effects(column)}
        likelihoods = [spec.likelihood for spec in (plan.spec, *plan.compared_models)]
        self._has_unit = all(one.targets not in {"count", "share", "amount"} for one in likelihoods)
        self._positive = self._has_unit and any(isinstance(one, LogGaussian) for one in likelihoods)
        self._log_targets = Moments()

    def add(self, block: Block, chosen: Mask, draws: Ranks) -> None:
        """Add the rows of `block` for which `chosen` (N,) is true; `draws` (N,) are a uniform number of each row."""
        name = self._plan.target
        self._inputs.add(block, chosen)
        self._target.add(block, name, chosen)
        self._add_effects(block, chosen, draws)
        column = block[name]
        if self._positive and not isinstance(column, CategoryArray):
            self._log_targets += Moments.of(np.log(real_values(column)[chosen & ~gaps(column)]))

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self._inputs.rows

    def limits(self) -> dict[str, OrdinaryRange]:
        """Return the limits of the standardised inputs with outlying values, by name."""
        return self._inputs.limits()

    @property
    def has_one_target(self) -> bool:
        """Return whether all targets are equal."""
        return self._target.is_constant

    def encoding(self) -> Encoding:
        """Return the encoding from these rows."""
        return self._encoding()

    def logarithms(self) -> tuple[EncodedNumber, ...]:
        """Return the encodings by logarithms of the standardised numbers with heavy tails."""
        return self._inputs.logarithms()

    def sparse_texts(self) -> tuple[str, ...]:
        """Return the texts that are encoded by their effects and have few rows each; none without other inputs."""
        found = tuple(name for name, effects in self._effects.items() if effects.is_sparse)
        return found if len(found) < len(self._plan.inputs) else ()

    def fold_encodings(self) -> tuple[Encoding, ...]:
        """Return the encodings of the training rows of each fold, by the effects of texts in the others; none without
        texts that are encoded by their effects."""
        return tuple(self._encoding(without=fold) for fold in range(FOLDS)) if self._effects else ()

    def _encoding(self, *, without: int | None = None) -> Encoding:
        inputs = (
            _of_effects(column, self._effects[column.name], without) if column.name in self._effects else column
            for column in self._inputs.encoding().inputs
        )
        return Encoding(tuple(inputs), self._encoded_target())

    def _add_effects(self, block: Block, chosen: Mask, draws: Ranks) -> None:
        if not self._effects:
            return
        plan, rows = self._plan, np.flatnonzero(chosen)
        t = encode_target(EncodedTarget(plan.target, plan.target_kind, 0.0, 1.0, plan.classes), block)[rows]
        several = len(plan.classes) > 2
        targets = (t[:, None] == np.arange(len(plan.classes))).astype(np.float64) if several else t[:, None]
        folds = effect_folds(plan, block, draws)[rows]
        for name, effects in self._effects.items():
            column = taken(block[name], rows)
            if isinstance(column, CategoryArray):
                effects.add(column, targets, folds)

    def _encoded_target(self) -> EncodedTarget:
        plan, seen = self._plan, self._target.moments
        shift, scale = 0.0, 1.0
        if self._positive:
            # The geometric mean, where the mean logarithm is 0: it is between the least and the greatest target.
            with np.errstate(over="ignore"):
                scale = float(np.clip(np.exp(self._log_targets.mean), seen.minimum, seen.maximum))
        elif self._has_unit and plan.spec.likelihood.targets == "real":
            shift, scale = seen.mean, seen.sd or 1.0
        logarithmic = isinstance(plan.spec.likelihood, LogGaussian)
        return EncodedTarget(plan.target, plan.target_kind, shift, scale, plan.classes, logarithmic, plan.noise_column)
