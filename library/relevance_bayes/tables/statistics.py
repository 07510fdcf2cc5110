"""Statistics of a table's columns and the digest of its content, computed block by block in bounded memory."""

import hashlib
from collections.abc import Sequence

import numpy as np

from relevance_bayes.core.types import Array, Mask
from relevance_bayes.records.values import ColumnKind, InputColumn, Missing
from relevance_bayes.tables.columns import (
    MAX_CATEGORIES_LISTED,
    MAX_CLASSES,
    Block,
    CategoryArray,
    Column,
    ColumnSummary,
    block_rows,
)
from relevance_bayes.tables.encoding import real_values
from relevance_bayes.tables.encoding.columns import (
    EncodedCategory,
    EncodedInput,
    EncodedNumber,
    InputEncoding,
    OrdinaryRange,
    PeriodStatistics,
    ValueSample,
)
from relevance_bayes.tables.encoding.table import gaps
from relevance_bayes.tables.kinds import MAX_EXACT_INTEGER
from relevance_bayes.tables.moments import Moments, QuantileSketch, buffer_size, logarithmic_scale

MAX_CELLS_WAITING = 2**21
"""The number of cells up to which small blocks are buffered: a wide table arrives a few rows at a time."""

MAX_LABELS_COUNTED_IN_ALL = 100_000
"""The number of labels of all columns that are counted; of a column at most MAX_CLASSES."""

MAX_LABEL_LENGTH = 200
"""The maximum length of a category: a column with a longer text has none, so its texts are not counted."""

MISSING_TEXT = (0xFFFFFFFF).to_bytes(4, "little")


class TableStatistics:
    """Summaries and digest of a table in blocks.

    The digest is the SHA-256 over the number of columns and, column by column, its name, kind and SHA-256 of its
    values: float64, little-endian (missing: the quiet NaN; booleans 0 and 1; timestamps seconds UTC), or texts as UTF-8
    after their length in four bytes (missing: 0xFFFFFFFF). It depends neither on the division into blocks nor on the
    format of the table.
    """

    def __init__(self, names: Sequence[str], kinds: Sequence[ColumnKind]) -> None:
        max_labels = min(max(MAX_LABELS_COUNTED_IN_ALL // max(len(kinds), 1), MAX_CATEGORIES_LISTED), MAX_CLASSES)
        size = buffer_size(len(names) - kinds.count("category"))
        self._columns: dict[str, _Texts | _Numbers] = {
            name: _Texts(name, max_labels) if kind == "category" else _Numbers(name, kind, size, max_labels)
            for name, kind in zip(names, kinds, strict=True)
        }
        self._cells_waiting = 0
        self.rows = 0

    def add(self, block: Block) -> None:
        """Add the next rows."""
        rows = block_rows(block)
        self.rows += rows
        for name, gathering in self._columns.items():
            gathering.add(block[name])
        self._cells_waiting += rows * len(self._columns)
        if self._cells_waiting >= MAX_CELLS_WAITING:
            self._take_in()

    def _take_in(self) -> None:
        self._cells_waiting = 0
        for gathering in self._columns.values():
            gathering.import_file()

    def summaries(self) -> tuple[ColumnSummary, ...]:
        """Return a summary for each column, in the table's order."""
        self._take_in()
        return tuple(gathering.summary() for gathering in self._columns.values())

    def digest(self) -> str:
        """Return the digest of all rows so far, in hexadecimal digits."""
        self._take_in()
        whole = hashlib.sha256(len(self._columns).to_bytes(4, "little"))
        for name, gathering in self._columns.items():
            text = name.encode()
            whole.update(len(text).to_bytes(4, "little") + text + gathering.digest())
        return whole.hexdigest()


class _Numbers:
    """Statistics of numbers, booleans as 0 and 1, timestamps in seconds."""

    def __init__(self, name: str, kind: ColumnKind, size: int, max_labels: int) -> None:
        self._name = name
        self._kind: ColumnKind = kind
        self._missing = 0
        self._moments = Moments()
        self._integral = True
        self._max_labels = max_labels
        self._distinct: set[float] | None = set()
        self._hash = hashlib.sha256()
        self._waiting: list[Array] = []
        self._sketch = None if kind == "boolean" else QuantileSketch(size)

    def add(self, column: Column) -> None:
        if isinstance(column, CategoryArray):
            raise TypeError(f"the column {self._name!r} is text")
        self._waiting.append(real_values(column))

    def import_file(self) -> None:
        if not self._waiting:
            return
        values = np.concatenate(self._waiting)
        self._waiting = []
        missing = np.isnan(values)
        values[missing] = np.nan  # one bit pattern for all missing values
        self._hash.update(values.astype("<f8", copy=False).tobytes())
        present = values[~missing]
        self._missing += int(missing.sum())
        if not len(present):
            return
        self._moments += Moments.of(present)
        if self._sketch is not None:
            self._sketch.add(present)
        if self._integral:
            whole = (np.abs(present) < MAX_EXACT_INTEGER) & (np.floor(present) == present)
            self._integral = bool(whole.all())
        if self._distinct is not None:
            maximum = self._max_labels if self._integral else MAX_CATEGORIES_LISTED
            # For most columns of numbers the first few values exceed the maximum.
            self._distinct.update(present[: 2 * maximum].tolist())
            if len(self._distinct) <= maximum:
                self._distinct.update(np.unique(present).tolist())
            if len(self._distinct) > maximum:
                self._distinct = None

    def summary(self) -> ColumnSummary:
        seen = self._moments
        values = tuple(sorted(self._distinct or ()))
        has_few = len(values) <= MAX_CATEGORIES_LISTED
        distinct = len(values) if self._distinct is not None and has_few else None
        if not seen.count:
            return ColumnSummary(self._name, self._kind, self._missing, distinct=distinct)
        return ColumnSummary(
            self._name,
            self._kind,
            self._missing,
            minimum=seen.minimum,
            maximum=seen.maximum,
            mean=seen.mean,
            sd=seen.sd,
            integral=self._integral,
            distinct=distinct,
            values=values if self._kind == "number" and has_few else (),
            labels=() if self._kind != "number" or has_few else tuple(map(int, values)),
            quantiles=() if self._sketch is None else self._sketch.quantiles(),
            histogram=() if self._sketch is None else self._sketch.histogram(seen.minimum, seen.maximum),
        )

    def digest(self) -> bytes:
        return self._kind.encode() + b"\0" + self._hash.digest()


class _Texts:
    """Statistics of texts, counted up to the maximum number of labels."""

    def __init__(self, name: str, max_labels: int) -> None:
        self._name = name
        self._missing = 0
        self._max_labels = max_labels
        self._counts: dict[str, int] | None = {}
        self._hash = hashlib.sha256()

    def add(self, column: Column) -> None:
        if not isinstance(column, CategoryArray):
            raise TypeError(f"the column {self._name!r} is not text")
        encoded = [len(text).to_bytes(4, "little") + text for text in map(str.encode, column.labels)]
        encoded.append(MISSING_TEXT)  # at index -1
        self._hash.update(b"".join(map(encoded.__getitem__, column.codes.tolist())))
        counts = np.bincount(column.codes + 1, minlength=len(column.labels) + 1).tolist()
        self._missing += counts[0]
        self._count(column.labels, counts[1:])

    def import_file(self) -> None:
        """Process the texts now: buffered labels would take too much memory."""

    def _count(self, labels: Sequence[str], found: Sequence[int]) -> None:
        if self._counts is None:
            return
        for label, count in zip(labels, found, strict=True):
            if len(label) > MAX_LABEL_LENGTH:
                self._counts = None
                return
            if count:
                self._counts[label] = self._counts.get(label, 0) + count
        if len(self._counts) > self._max_labels:
            self._counts = None

    def summary(self) -> ColumnSummary:
        if self._counts is None:
            return ColumnSummary(self._name, "category", self._missing)
        ranked = sorted(self._counts.items(), key=lambda entry: (-entry[1], entry[0]))
        distinct = len(ranked) if len(ranked) <= MAX_CATEGORIES_LISTED else None
        return ColumnSummary(
            self._name,
            "category",
            self._missing,
            distinct=distinct,
            categories=tuple(ranked[:MAX_CATEGORIES_LISTED]),
            labels=tuple(sorted(self._counts)) if distinct is None else (),
        )

    def digest(self) -> bytes:
        return b"category\0" + self._hash.digest()


class ColumnStatistics:
    """Statistics of one column over the training rows."""

    def __init__(self, *, sampled: bool = False, has_periods: bool = False) -> None:
        self.gaps = 0
        self.moments = Moments()
        self.counts: dict[str, int] = {}
        self.sample = ValueSample() if sampled else None
        self.dates = PeriodStatistics() if has_periods else None

    def add(self, block: Block, name: str, chosen: Mask) -> None:
        """Add the column's cells in the rows of `block` for which `chosen` (N,) is true."""
        column = block[name]
        missing = gaps(column)
        present = chosen & ~missing
        self.gaps += int((chosen & missing).sum())
        if isinstance(column, CategoryArray):
            found = np.bincount(column.codes[present], minlength=len(column.labels)).tolist()
            for label, count in zip(column.labels, found, strict=True):
                if count:
                    self.counts[label] = self.counts.get(label, 0) + count
        else:
            values = real_values(column)[present]
            self.moments += Moments.of(values)
            if self.sample is not None:
                self.sample.add(values)
            if self.dates is not None:
                self.dates.add(values)

    @property
    def limits(self) -> OrdinaryRange | None:
        """Return the limits of its ordinary values, where some are outlying and a sample was kept."""
        if self.sample is None or not self.moments.count:
            return None
        return self.sample.limits(self.moments.minimum, self.moments.maximum)

    @property
    def is_constant(self) -> bool:
        """Return whether all values are equal."""
        return self.moments.is_constant and len(self.counts) < 2


class InputStatistics:
    """Statistics of the inputs over the training rows, in bounded memory.

    An input has an indicator from `min_gaps` missing values on that are `min_share` of the rows.
    """

    def __init__(
        self,
        inputs: Sequence[InputColumn],
        *,
        standardise: bool,
        missing: Missing,
        has_periods: bool = False,
        min_gaps: int = 1,
        min_share: float = 0.0,
    ) -> None:
        self._inputs = inputs
        self._standardise = standardise
        self._accepts_gaps = missing == "indicator"
        self._min_gaps, self._min_share = min_gaps, min_share
        self._seen = {
            column.name: ColumnStatistics(
                sampled=standardise and column.kind in {"number", "timestamp"},
                has_periods=has_periods and column.kind == "timestamp",
            )
            for column in inputs
        }
        self.rows = 0

    def add(self, block: Block, chosen: Mask) -> None:
        """Add the rows of `block` for which `chosen` (N,) is true."""
        self.rows += int(chosen.sum())
        for name, seen in self._seen.items():
            seen.add(block, name, chosen)

    def limits(self) -> dict[str, OrdinaryRange]:
        """Return the limits of the standardised inputs with outlying values, by name."""
        found = {name: seen.limits for name, seen in self._seen.items()}
        return {name: limits for name, limits in found.items() if limits is not None}

    def encoding(self) -> InputEncoding:
        """Return the encoding from these rows."""
        return InputEncoding(tuple(self._input(column) for column in self._inputs))

    def logarithms(self) -> tuple[EncodedNumber, ...]:
        """Return the encodings by logarithms of the standardised numbers with heavy tails."""
        found = []
        for column in self._inputs:
            seen = self._seen[column.name]
            by = None if seen.sample is None or column.kind != "number" else logarithmic_scale(seen.sample.counts)
            if by is not None:
                fill = by.mean if self._accepts_gaps else None
                found.append(
                    EncodedNumber(column.name, "number", by.shift, by.scale, fill=fill, indicator=False, unit=by.unit)
                )
        return tuple(found)

    def _input(self, column: InputColumn) -> EncodedInput:
        seen = self._seen[column.name]
        indicator = self._accepts_gaps and seen.gaps >= max(self._min_gaps, self._min_share * self.rows)
        if column.kind == "category":
            counts = sorted(seen.counts.items())
            total = sum(count for _, count in counts)
            fill = tuple(count / total for _, count in counts) if self._accepts_gaps else None
            return EncodedCategory(column.name, tuple(label for label, _ in counts), fill=fill, indicator=indicator)
        mean = seen.moments.mean
        shift, scale = (mean, seen.moments.sd or 1.0) if self._standardise else (0.0, 1.0)
        periods = () if seen.dates is None else seen.dates.periods()
        replaced = mean if self._accepts_gaps else None
        return EncodedNumber(
            column.name, column.kind, shift, scale, fill=replaced, indicator=indicator, periods=periods
        )
