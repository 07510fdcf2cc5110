"""The cells of a table in JSON by column, and the faults of rows of a wrong shape."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter

from app.formats.cell_faults import MAX_FAULTS, MAX_FAULTS_REPORTED, refuse, shown
from app.formats.cells import JSON
from app.formats.expected import need_rows
from app.formats.json_forms import ByColumn, ByPosition, ByRow, RawTable
from relevance_bayes.types.errors import Fault, InvalidDataError, pointer

MAX_CELLS_WITH_FAULTS = 2**24
"""The maximum number of cells of a table with faults, which may be far more than its text has characters."""


@dataclass(frozen=True)
class Cells:
    """Cells by column; a row of a wrong shape is in `faults` and missing in all columns."""

    names: tuple[str, ...]
    columns: tuple[Sequence[JSON], ...]
    faults: tuple[Fault, ...]


def cells_of(raw: RawTable, *, names: Sequence[str] | None = None, not_read: Collection[str] = ()) -> Cells:
    """Return the columns `names` of a table, None for all; raises InvalidDataError as `typed_block`."""
    match raw.form:
        case ByColumn(columns):
            return _by_column(columns, names, not_read)
        case ByRow(rows):
            return _by_row(rows, names, not_read)
        case ByPosition(found, rows):
            return _by_position(found, rows, names, not_read)


def _by_column(columns: dict[str, JSON], names: Sequence[str] | None, not_read: Collection[str]) -> Cells:
    required = _required(tuple(columns), names, not_read)
    lists = {name: column for name, column in columns.items() if isinstance(column, list)}
    refuse(
        [
            Fault("The column is not a list.", pointer=pointer(("columns", name)), column=name)
            for name in islice((name for name in columns if name not in lists), MAX_FAULTS)
        ]
    )
    lengths = {name: len(column) for name, column in lists.items()}
    rows = next(iter(lengths.values()), 0)
    refuse(
        [
            Fault(
                f"The column has {length} values, where the first has {rows}.",
                pointer=pointer(("columns", name)),
                column=name,
            )
            for name, length in islice((item for item in lengths.items() if item[1] != rows), MAX_FAULTS)
        ]
    )
    need_rows(rows)
    return Cells(required, tuple(lists[name] for name in required), ())


def _by_row(rows: list[JSON], names: Sequence[str] | None, not_read: Collection[str]) -> Cells:
    need_rows(len(rows))
    first = rows[0]
    if names is not None:
        required = tuple(names)
    elif isinstance(first, dict):
        required = tuple(first)
    else:
        raise InvalidDataError(
            "Row 0 is not an object.", [Fault("The row is not an object.", pointer="/rows/0", row=0)]
        )
    pick, known_names, empty = _picker(required), {*required, *not_read}, (None,) * len(required)
    picked: list[tuple[JSON, ...]] = []
    faults: list[Fault] = []
    for number, row in enumerate(rows):
        if isinstance(row, dict) and len(row) == len(required):
            try:
                picked.append(pick(row))
                continue
            except KeyError:
                pass
        maximum = MAX_FAULTS_REPORTED if len(faults) < MAX_FAULTS else 1
        wrong = [*islice(_row_faults(number, row, known_names, names=required), maximum)]
        faults.extend(wrong)
        if names is None and len(faults) >= MAX_FAULTS:
            refuse(faults)
        picked.append(tuple(map(row.get, required)) if isinstance(row, dict) and not wrong else empty)
    _refuse_if_large(faults, len(rows), len(required))
    return Cells(required, tuple(zip(*picked, strict=True)), tuple(faults))


def _refuse_if_large(faults: Sequence[Fault], rows: int, columns: int) -> None:
    """Refuse a table with faults that may be larger than its text: a row without any cell takes two bytes."""
    if rows * columns > MAX_CELLS_WITH_FAULTS:
        refuse(faults)


def _picker(names: tuple[str, ...]) -> "itemgetter[tuple[JSON, ...]] | _One":
    return itemgetter(*names) if len(names) > 1 else _One(names)


@dataclass(frozen=True)
class _One:
    """The equivalent of itemgetter for fewer than two names."""

    names: tuple[str, ...]

    def __call__(self, row: dict[str, JSON]) -> tuple[JSON, ...]:
        return tuple(row[name] for name in self.names)


def _row_faults(number: int, row: JSON, known: Collection[str], *, names: Sequence[str]) -> Iterator[Fault]:
    """Yield the faults of a row that should have the columns `names` and may have those `known`."""
    place = pointer(("rows", number))
    if not isinstance(row, dict):
        yield Fault("The row is not an object.", pointer=place, row=number)
        return
    unknown = [*islice((name for name in row if name not in known), MAX_FAULTS_REPORTED + 1)]
    if len(unknown) > MAX_FAULTS_REPORTED:
        listed = ", ".join(map(shown, unknown[:3]))
        detail = f"The row has {len(row):,} members, but the table {len(known):,} columns; unknown are {listed}."
        yield Fault(detail, pointer=place, row=number)
        return
    for name in names:
        if name not in row:
            yield Fault("The column is missing; use null for a missing value.", pointer=place, row=number, column=name)
    for name in unknown:
        yield Fault("There is no such column.", pointer=pointer(("rows", number, name)), row=number, column=name)


def _by_position(found: list[JSON], rows: list[JSON], names: Sequence[str] | None, not_read: Collection[str]) -> Cells:
    given = tuple(name for name in found if isinstance(name, str))
    refuse(
        [
            Fault("The name is not a text.", pointer=pointer(("names", i)))
            for i in islice((i for i, name in enumerate(found) if not isinstance(name, str)), MAX_FAULTS)
        ]
    )
    first = dict(zip(reversed(given), reversed(range(len(given))), strict=True))
    repeated = [*islice(((i, name) for i, name in enumerate(given) if i > first[name]), MAX_FAULTS)]
    refuse([Fault("The column is named twice.", pointer=pointer(("names", i)), column=name) for i, name in repeated])
    required = _required(given, names, not_read)
    need_rows(len(rows))
    width = len(given)
    empty: list[JSON] = [None] * width
    lists: list[list[JSON]] = []
    faults: list[Fault] = []
    for number, row in enumerate(rows):
        if isinstance(row, list) and len(row) == width:
            lists.append(row)
            continue
        detail = f"Expected {width} values, got {len(row)}." if isinstance(row, list) else "The row is not a list."
        faults.append(Fault(detail, pointer=pointer(("rows", number)), row=number))
        lists.append(empty)
        if names is None and len(faults) >= MAX_FAULTS:
            refuse(faults)
    _refuse_if_large(faults, len(rows), width)
    columns = dict(zip(given, zip(*lists, strict=True), strict=True))
    return Cells(required, tuple(columns[name] for name in required), tuple(faults))


def _required(found: tuple[str, ...], names: Sequence[str] | None, not_read: Collection[str]) -> tuple[str, ...]:
    """Return the columns to read, in order; raises InvalidDataError when one is unknown or missing."""
    if names is None:
        return found
    here, required = set(found), {*names, *not_read}
    missing = (Fault("The column is missing.", column=name) for name in names if name not in here)
    unknown = (Fault("There is no such column.", column=name) for name in found if name not in required)
    refuse([*islice(chain(missing, unknown), MAX_FAULTS)])
    return tuple(names)
