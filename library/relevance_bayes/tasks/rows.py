"""The rows of a training: complete ones, in canonical order, and a sample of them.

Another order of the rows or of the columns changes the rounding of every sum, and the rounding decides between
functions that gain nearly the same. So inputs and rows are ordered by hashes of ranks, which no unit changes: an input
by the ranks of its values beside those of the target, a row by the ranks of its cells, each within its column. Inputs
with equal ranks are ordered by a digest of their values, then by name; rows of equal cells follow one another in the
table's order, and differ in their numbers alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.records.errors import Fault, TrainingFailedError
from relevance_bayes.records.values import ColumnKind, InputColumn
from relevance_bayes.tables.columns import (
    Block,
    BooleanArray,
    CategoryArray,
    Column,
    NumberArray,
    TimestampArray,
    block_rows,
    kind_of,
    taken,
)
from relevance_bayes.tables.encoding import InputEncoding, encode_inputs, gaps
from relevance_bayes.tables.encoding.table import real_values

Ranks = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def content_hash(block: Block, names: Iterable[str], seed: int) -> Ranks:
    """Return a hash (N,) of each row's values in the named columns, in any order; 0.0 and -0.0 are equal."""
    total = np.zeros(block_rows(block), np.uint64)
    for name in names:
        total += mixed(cell_hashes(block[name]) ^ np.uint64(_text_hash(f"{seed}/{name}")))
    return mixed(total)


def cell_hashes(column: Column) -> Ranks:
    """Return the cells (N,) of a column as bits: of a number, 0.0 and -0.0 equal, or a hash of a text."""
    if isinstance(column, CategoryArray):
        hashes = [_text_hash(label) for label in column.labels]
        return np.array([*hashes, 0], np.uint64)[column.codes]
    values = real_values(column) + 0.0
    return np.where(np.isnan(values), np.nan, values).view(np.uint64)


def _text_hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def mixed(values: Ranks) -> Ranks:
    """Return the finaliser of splitmix64 [STEELE2014]: each bit of the input flips each bit of the output with
    probability 1/2."""
    mixed = values + _GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


Read = Callable[[], Iterator[tuple[int, Block]]]
"""Starts a new pass over a dataset and yields its blocks in order, each with the number of its first row."""

MAX_CELLS_AT_ONCE = 2**22
"""The most encoded numbers in memory at a time; a block with more is split into parts."""


@dataclass(frozen=True, eq=False)
class CompleteRows:
    """Complete rows of one block, their numbers (N,) in the dataset, and the number of rows that were left out.

    `draws` (N,) are uniform numbers by which rows are drawn: by content up to the rows that are ordered, else by the
    rows' numbers.
    """

    block: Block
    numbers: Array
    dropped: int
    draws: Ranks

    def take(self, chosen: Mask) -> "CompleteRows":
        """Return the rows for which `chosen` (N,) is true; the others count as left out."""
        rows = np.flatnonzero(chosen)
        block = {name: taken(column, rows) for name, column in self.block.items()}
        return CompleteRows(block, self.numbers[rows], self.dropped + len(chosen) - len(rows), self.draws[rows])

    def numbered(self, fault: Fault) -> Fault:
        """Return a fault of a row of this part with the number of that row in the dataset."""
        return fault if fault.row is None else replace(fault, row=int(self.numbers[fault.row]))


def complete_rows(
    read: Read, inputs: Sequence[InputColumn], *, beside: Sequence[str] = (), needed: Sequence[str]
) -> Iterator[CompleteRows]:
    """Yield the rows without a gap in the `needed` columns: their inputs, and the columns `beside`."""
    names = [*(column.name for column in inputs), *beside]
    step = rows_at_once(inputs)
    for first_row, block in read():
        dropped = np.zeros(block_rows(block), np.bool_)
        for name in needed:
            dropped |= gaps(block[name])
        complete = np.flatnonzero(~dropped)
        for start in range(0, max(1, len(complete)), step):
            chosen = complete[start : start + step]
            whole = len(chosen) == len(dropped)
            kept = {name: block[name] if whole else taken(block[name], chosen) for name in names}
            numbers = first_row + chosen.astype(np.float64)
            yield CompleteRows(kept, numbers, 0 if start else int(dropped.sum()), mixed(numbers.astype(np.uint64)))


def rows_at_once(inputs: Sequence[InputColumn]) -> int:
    """Return the most rows of a part, whose encoded numbers are in memory at a time."""
    cells = sum(1 + max(1, len(column.categories)) for column in inputs)
    return max(1, MAX_CELLS_AT_ONCE // max(1, cells))


def refuse_too_many(cells: int, *, maximum: int) -> None:
    """Raise TrainingFailedError where rows times encoded inputs exceed `maximum`."""
    if cells > maximum:
        raise TrainingFailedError(
            f"Rows times encoded inputs are {cells:,} numbers, above this service's limit of {maximum:,};"
            " name fewer `inputs` (a text column takes one for each of its categories) or use fewer rows.",
            kind="too-large",
        )


def refuse_too_few(rows: int, *, left_out: str = "rows with gaps") -> None:
    """Raise TrainingFailedError for fewer than two rows."""
    if rows < 2:
        number = "one row is" if rows else "no rows are"
        raise TrainingFailedError(
            f"After leaving out {left_out} {number} left to learn from, and at least two are needed;"
            ' fill the gaps, leave out the columns that have them, or send "missing": "indicator".',
            kind="too-few-rows",
        )


MAX_ROWS = 1_000_000
"""The most rows that are ordered, which takes some seconds; more are read in the order of the table."""

Parts: TypeAlias = Callable[[], Iterable[CompleteRows]]
"""Starts a new pass over the complete rows of a table, in parts."""

Cells: TypeAlias = NDArray[np.float64] | NDArray[np.int8] | NDArray[np.int32]
"""The cells (N,) of a column as they are stored: its values, or the codes of its texts."""

_DTYPES: dict[ColumnKind, str] = {"number": "<f8", "timestamp": "<f8", "boolean": "|i1", "category": "<i4"}


@dataclass(frozen=True)
class CanonicalOrder:
    """The inputs in the order of the columns of X, and the `parts` of the complete rows in the order of a training."""

    inputs: tuple[InputColumn, ...]
    parts: Parts


def canonical_order(
    parts: Parts, inputs: Sequence[InputColumn], directory: Path, *, target: str | None = None, max_cells: int
) -> CanonicalOrder:
    """Return the inputs and the rows in canonical order, after a pass over `parts`.

    The ordered rows are in a file without a name in `directory`, which goes with the result. Above MAX_ROWS rows, or
    `max_cells` numbers, which no training accepts, rows stay in the order of `parts`, and inputs are ordered by the
    digests of their values.
    """
    values = dict.fromkeys((column.name for column in inputs), 0)
    with TemporaryFile(dir=directory) as file:
        stored = _StoredRows(file)
        for part in parts():
            for name in values:
                values[name] = (values[name] + _total(mixed(cell_hashes(part.block[name])))) % 2**64
            stored.rows += len(part.numbers)
            if stored.rows <= MAX_ROWS and stored.rows * len(values) <= max_cells:
                stored.add(part)
        if stored.rows == 0 or stored.rows != stored.added:
            return CanonicalOrder(tuple(sorted(inputs, key=lambda one: (values[one.name], one.name))), parts)
        ranked = _Ranked.of(stored, target)
        ordered = sorted(inputs, key=lambda one: (ranked.digests[one.name], values[one.name], one.name))
        return CanonicalOrder(tuple(ordered), _sorted_rows(stored, ranked.keys, rows_at_once(inputs), directory))


@dataclass
class _StoredRows:
    """The columns of parts in a file, part by part; texts by codes of all `labels` of their column.

    Of `rows` so many are `added`, and `dropped` others were left out. `chunks` has the first byte and the number of
    rows of each part of a column.
    """

    file: BinaryIO
    rows: int = 0
    added: int = 0
    dropped: int = 0
    kinds: dict[str, ColumnKind] = field(default_factory=dict)
    chunks: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)
    numbers: list[Array] = field(default_factory=list)

    def add(self, part: CompleteRows) -> None:
        """Add the rows of a part."""
        for name, column in part.block.items():
            self.kinds[name] = kind_of(column)
            cells = np.ascontiguousarray(self._cells(name, column), _DTYPES[self.kinds[name]])
            self.chunks.setdefault(name, []).append((self.file.tell(), len(cells)))
            self.file.write(cells.data)
        self.numbers.append(part.numbers)
        self.added += len(part.numbers)
        self.dropped += part.dropped

    def _cells(self, name: str, column: Column) -> Cells:
        match column:
            case NumberArray(values=values) | TimestampArray(values=values):
                return values + 0.0  # -0.0 becomes 0.0, which is equal to it
            case BooleanArray(values=flags):
                return flags
            case CategoryArray(codes=codes, labels=labels):
                known = self.labels.setdefault(name, {})
                places = [known.setdefault(label, len(known)) for label in labels]
                return np.array([*places, -1], np.int32)[codes]

    def column(self, name: str) -> Column:
        """Return a column of all rows in memory, its labels by alphabet."""
        kind, contents = self.kinds[name], _mapped(self.file)
        cells = np.concatenate([_cells_at(contents, kind, first, rows) for first, rows in self.chunks[name]])
        if kind != "category":
            return _column(kind, cells, ())
        labels = tuple(sorted(self.labels[name]))
        places = np.empty(len(labels) + 1, np.int32)
        places[[self.labels[name][label] for label in labels]] = np.arange(len(labels))
        places[-1] = -1
        return _column(kind, places[cells], labels)


def _column(kind: ColumnKind, cells: Cells, labels: tuple[str, ...]) -> Column:
    match kind:
        case "number":
            return NumberArray(cells.astype(np.float64, copy=False))
        case "timestamp":
            return TimestampArray(cells.astype(np.float64, copy=False))
        case "boolean":
            return BooleanArray(cells.astype(np.int8, copy=False))
        case "category":
            return CategoryArray(cells.astype(np.int32, copy=False), labels)


@dataclass(frozen=True, eq=False)
class _SortedRows:
    """The rows in canonical order, with their `numbers` and `draws` (N,); columns are mapped from a file."""

    columns: Block
    numbers: Array
    draws: Ranks
    dropped: int
    step: int

    def __call__(self) -> Iterator[CompleteRows]:
        """Yield them in parts of `step` rows."""
        for first in range(0, len(self.numbers), self.step):
            some = slice(first, first + self.step)
            block = {name: _rows(column, some) for name, column in self.columns.items()}
            yield CompleteRows(block, self.numbers[some], 0 if first else self.dropped, self.draws[some])


@dataclass(frozen=True, eq=False)
class _Ranked:
    """A digest of each column, and a hash (N,) of each row, by the ranks of their cells."""

    digests: dict[str, int]
    keys: Ranks

    @classmethod
    def of(cls, stored: _StoredRows, target: str | None) -> "_Ranked":
        """Return those of all columns, in digests beside the ranks of the `target`, where there is one.

        A row that is there twice counts once, so that copies change no order.
        """
        beside = np.uint64(0) if target is None else mixed(_ranks(stored.column(target)))
        digests, keys = dict[str, int](), np.zeros(stored.rows, np.uint64)
        for name in stored.kinds:
            ranks = _ranks(stored.column(name))
            digests[name] = _total(np.unique(mixed(ranks ^ beside)))
            keys += mixed(ranks ^ mixed(np.array([digests[name]], np.uint64)))
        return cls(digests, mixed(keys))


def _ranks(column: Column) -> Ranks:
    """Return the rank (N,) of each cell among the distinct ones of its column; gaps have one of their own."""
    cells: Cells = column.codes if isinstance(column, CategoryArray) else column.values
    return np.unique(cells, return_inverse=True)[1].astype(np.uint64)


def _total(hashes: Ranks) -> int:
    return int(hashes.sum(dtype=np.uint64))


def _sorted_rows(stored: _StoredRows, keys: Ranks, step: int, directory: Path) -> _SortedRows:
    """Return the rows by their `keys` (N,), of equal ones those with the smaller number first."""
    order = np.argsort(keys, kind="stable")
    with TemporaryFile(dir=directory) as file:
        written = {name: _Written.of(stored.column(name), order, file) for name in stored.kinds}
        contents = _mapped(file)
    columns = {
        name: _column(one.kind, _cells_at(contents, one.kind, one.first, len(order)), one.labels)
        for name, one in written.items()
    }
    numbers = np.concatenate(stored.numbers)[order]
    return _SortedRows(columns, numbers, _draws(keys[order]), stored.dropped, step)


def _draws(keys: Ranks) -> Ranks:
    """Return a uniform number (N,) of each row by its key, ascending, and by the number of equal rows before it."""
    starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    copies = np.arange(len(keys)) - np.repeat(starts, np.diff(np.r_[starts, len(keys)]))
    return mixed(keys ^ mixed(copies.astype(np.uint64)))


@dataclass(frozen=True)
class _Written:
    """The location of a column in a file."""

    kind: ColumnKind
    first: int
    labels: tuple[str, ...]

    @classmethod
    def of(cls, column: Column, order: Indices, file: BinaryIO) -> "_Written":
        """Write a column in this order."""
        kind, first = kind_of(column), file.tell() + -file.tell() % 8
        labels = column.labels if isinstance(column, CategoryArray) else ()
        cells: Cells = column.codes if isinstance(column, CategoryArray) else column.values
        file.seek(first)
        file.write(np.ascontiguousarray(cells[order], _DTYPES[kind]).data)
        return cls(kind, first, labels)


def _mapped(file: BinaryIO) -> NDArray[np.uint8]:
    """Return the bytes of a file, mapped read-only; the map outlives the file."""
    file.flush()
    return np.asarray(np.memmap(file, np.uint8, "r"))


def _cells_at(contents: NDArray[np.uint8], kind: ColumnKind, first: int, rows: int) -> Cells:
    dtype = np.dtype(_DTYPES[kind])
    cells: Cells = contents[first : first + rows * dtype.itemsize].view(dtype)
    return cells


def _rows(column: Column, some: "slice[int, int, None]") -> Column:
    """Return consecutive rows of a column, with the labels that they use where the column has more labels than that."""
    match column:
        case CategoryArray(codes=codes, labels=labels):
            codes = codes[some]
            if len(labels) <= len(codes):
                return CategoryArray(codes, labels)
            used, places = np.unique(codes[codes >= 0], return_inverse=True)
            local = np.full(len(codes), -1, np.int32)
            local[codes >= 0] = places
            return CategoryArray(local, tuple(labels[code] for code in used.tolist()))
        case BooleanArray(values=flags):
            return BooleanArray(flags[some])
        case NumberArray(values=values):
            return NumberArray(values[some])
        case TimestampArray(values=values):
            return TimestampArray(values[some])


MAX_SAMPLED_ROWS = 4_096
MAX_CELLS = 2**20
"""The maximum number of rows times columns, 8 MiB of numbers."""


class RowSample:
    """About MAX_SAMPLED_ROWS of `rows` rows, collected from their parts: all of fewer, the same ones each time."""

    def __init__(self, names: Sequence[str], *, rows: int) -> None:
        self._names = tuple(dict.fromkeys(names))
        self._share = min(MAX_SAMPLED_ROWS, max(1, MAX_CELLS // len(self._names))) / max(rows, 1)
        self._blocks: list[Block] = []

    def add(self, block: Block, chosen: Mask, draws: Ranks) -> None:
        """Take from a part the rows for which `chosen` (N,) is true, by the `draws` (N,) of all."""
        if self._share < 1.0:
            chosen = chosen & (draws < np.uint64(self._share * 2.0**64))
        rows = np.flatnonzero(chosen)
        if len(rows):
            self._blocks.append({name: taken(block[name], rows) for name in self._names})

    def block(self) -> Block:
        """Return the sample as one block, empty without rows."""
        if not self._blocks:
            return {}
        return {name: joined([block[name] for block in self._blocks]) for name in self._names}


def joined(columns: Sequence[Column]) -> Column:
    """Return the rows of columns of the same kind, at least one, as one column."""
    if len(columns) == 1:
        return columns[0]
    match columns[0]:
        case CategoryArray():
            return _joined_categories([column for column in columns if isinstance(column, CategoryArray)])
        case BooleanArray():
            return BooleanArray(np.concatenate([one.values for one in columns if isinstance(one, BooleanArray)]))
        case NumberArray():
            return NumberArray(np.concatenate([one.values for one in columns if isinstance(one, NumberArray)]))
        case TimestampArray():
            return TimestampArray(np.concatenate([one.values for one in columns if isinstance(one, TimestampArray)]))


def _joined_categories(columns: Sequence[CategoryArray]) -> CategoryArray:
    labels = tuple(dict.fromkeys(chain.from_iterable(column.labels for column in columns)))
    places = {label: place for place, label in enumerate(labels)}
    codes = [np.array([*(places[label] for label in column.labels), -1], np.int32)[column.codes] for column in columns]
    return CategoryArray(np.concatenate(codes), labels)


MAX_FAULTS_REPORTED = 20


@dataclass(frozen=True)
class Matrix:
    """A file of float64, little-endian, with `rows` rows: the encoded numbers, and the number of the dataset row.

    `dropped` rows have gaps and were left out. `sample` are rows as they are in the dataset.
    """

    path: Path
    encoding: InputEncoding
    rows: int
    dropped: int = 0
    sample: Block = field(default_factory=dict)

    def mapped(self) -> Array:
        """Return all rows, mapped read-only."""
        return np.memmap(self.path, "<f8", "r", shape=(self.rows, self.encoding.width + 1))


def write_matrix(encoding: InputEncoding, parts: Iterable[CompleteRows], path: Path) -> Matrix:
    """Write the rows to a file; raises TrainingFailedError for rows that can't be encoded."""
    rows = dropped = 0
    with path.open("wb") as file:
        for part in parts:
            inputs, faults = encode_inputs(encoding, part.block)
            if faults:
                raise TrainingFailedError(
                    f"Some rows have values that can't be computed with. {faults[0].detail}",
                    kind="too-large",
                    faults=tuple(part.numbered(fault) for fault in faults[:MAX_FAULTS_REPORTED]),
                )
            file.write(np.ascontiguousarray(np.column_stack([inputs, part.numbers]), "<f8").data)
            rows += len(inputs)
            dropped += part.dropped
    return Matrix(path, encoding, rows, dropped)
