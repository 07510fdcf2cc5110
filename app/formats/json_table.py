"""Tables in JSON: their forms, cells and columns."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from operator import itemgetter

from app.formats.cells import (
    JSON,
    MAX_FAULTS,
    MAX_FAULTS_REPORTED,
    CellFaults,
    block_of,
    column_of,
    faults_of,
    need_rows,
    refuse,
    shown,
)
from app.formats.json_body import MAX_CONTAINERS, check_containers, check_members, decode
from app.formats.streams import EmptyColumns, TableStream, check_names, kinds_of, refuse_or_revise
from relevance_bayes.records.errors import Fault, InvalidDataError, pointer
from relevance_bayes.records.values import Cell, ColumnKind
from relevance_bayes.tables.columns import Block, Column, rows_of_a_block
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT, kind_of_cells

FORMS = 'one of {"columns": {...}}, {"rows": [{...}]} or {"names": [...], "rows": [[...]]}'


@dataclass(frozen=True)
class ByColumn:
    """The form `{"columns": {name: [cells]}}`."""

    columns: dict[str, JSON]


@dataclass(frozen=True)
class ByRow:
    """The form `{"rows": [{name: cell}]}`."""

    rows: list[JSON]


@dataclass(frozen=True)
class ByPosition:
    """The form `{"names": [names], "rows": [[cells]]}`."""

    names: list[JSON]
    rows: list[JSON]


@dataclass(frozen=True)
class RawTable:
    """A decoded table, and the other members of its object."""

    form: ByColumn | ByRow | ByPosition
    others: Mapping[str, JSON]


def read_json(
    body: bytes,
    *,
    max_columns: int,
    others: Collection[str] = (),
    max_containers: int = MAX_CONTAINERS,
    may_be_list: bool = False,
) -> RawTable:
    """Return the table in a JSON body, which may also have the members `others`, or `may_be_list` of rows as objects.

    Raises MalformedBodyError for malformed JSON, InvalidDataError for other than a table or too many columns, and
    TooLargeError for more than `max_containers` objects and arrays.
    """
    check_containers(body, max_containers)
    check_members(body, max_columns)
    value = decode(body)
    if may_be_list and isinstance(value, list):
        return RawTable(ByRow(value), {})
    if not isinstance(value, dict):
        raise InvalidDataError(f"Expected an object, {FORMS}.", [Fault("Expected an object.", pointer="")])
    form: ByColumn | ByRow | ByPosition
    match value:
        case {"columns": dict(columns)} if not value.keys() & {"names", "rows"}:
            form = ByColumn(columns)
        case {"names": list(names), "rows": list(rows)} if "columns" not in value:
            form = ByPosition(names, rows)
        case {"rows": list(rows)} if not value.keys() & {"columns", "names"}:
            form = ByRow(rows)
        case _:
            raise InvalidDataError(f"Expected a table, {FORMS}.", [Fault(f"Expected {FORMS}.", pointer="")])
    rest = {name: member for name, member in value.items() if name not in {"columns", "names", "rows"}}
    unknown = [*islice((name for name in rest if name not in others), MAX_FAULTS)]
    if unknown:
        faults = [Fault("The member is unknown.", pointer=pointer((name,))) for name in unknown]
        raise InvalidDataError(f"The body has an unknown member: {shown(unknown[0])}.", faults)
    return RawTable(form, rest)


def count_rows(raw: RawTable) -> int:
    """Return the number of rows: the length of the longest column."""
    if isinstance(raw.form, ByColumn):
        return max((len(column) for column in raw.form.columns.values() if isinstance(column, list)), default=0)
    return len(raw.form.rows)


def has_column(raw: RawTable, name: str) -> bool:
    """Return whether a table has a column of that name."""
    match raw.form:
        case ByColumn(columns):
            return name in columns
        case ByRow(rows):
            return any(name in row for row in rows if isinstance(row, dict))
        case ByPosition(names, _):
            return name in names


MAX_CELLS_WITH_FAULTS = 2**24
"""The maximum number of cells of a table with faults, which may be far more than its text has characters."""


@dataclass(frozen=True)
class JsonColumns:
    """Cells by column; a row of a wrong shape is in `faults` and missing in all columns."""

    names: tuple[str, ...]
    columns: tuple[Sequence[JSON], ...]
    faults: tuple[Fault, ...]


def cells_of(raw: RawTable, *, names: Sequence[str] | None = None, not_read: Collection[str] = ()) -> JsonColumns:
    """Return the columns `names` of a table, None for all; raises InvalidDataError as `typed_block`."""
    match raw.form:
        case ByColumn(columns):
            return _by_column(columns, names, not_read)
        case ByRow(rows):
            return _by_row(rows, names, not_read)
        case ByPosition(found, rows):
            return _by_position(found, rows, names, not_read)


def _by_column(columns: dict[str, JSON], names: Sequence[str] | None, not_read: Collection[str]) -> JsonColumns:
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
    return JsonColumns(required, tuple(lists[name] for name in required), ())


def _by_row(rows: list[JSON], names: Sequence[str] | None, not_read: Collection[str]) -> JsonColumns:
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
    return JsonColumns(required, tuple(zip(*picked, strict=True)), tuple(faults))


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


def _by_position(
    found: list[JSON], rows: list[JSON], names: Sequence[str] | None, not_read: Collection[str]
) -> JsonColumns:
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
    return JsonColumns(required, tuple(columns[name] for name in required), tuple(faults))


def _required(found: tuple[str, ...], names: Sequence[str] | None, not_read: Collection[str]) -> tuple[str, ...]:
    """Return the columns to read, in order; raises InvalidDataError when one is unknown or missing."""
    if names is None:
        return found
    here, required = set(found), {*names, *not_read}
    missing = (Fault("The column is missing.", column=name) for name in names if name not in here)
    unknown = (Fault("There is no such column.", column=name) for name in found if name not in required)
    refuse([*islice(chain(missing, unknown), MAX_FAULTS)])
    return tuple(names)


def typed_block(
    raw: RawTable, columns: Sequence[tuple[str, ColumnKind]], *, not_read: Collection[str] = ()
) -> tuple[Block, tuple[Fault, ...]]:
    """Return the named columns (N rows) of a table as a block, and a fault for each row or cell that does not fit,
    which is missing in the block.

    Columns in `not_read` are optional. Raises InvalidDataError for an error of the whole table: no rows, an unknown or
    missing column, columns of unequal length.
    """
    cells = cells_of(raw, names=tuple(name for name, _ in columns), not_read=not_read)
    block, wrong = block_of(columns, cells.columns)
    return block, (*cells.faults, *faults_of(wrong)) if any(wrong.values()) else cells.faults


def json_stream(body: bytes, *, declared: Mapping[str, ColumnKind], max_columns: int) -> TableStream:
    """Return a JSON body as a stream of blocks; kinds not declared are inferred."""
    cells = cells_of(read_json(body, max_columns=max_columns, may_be_list=True))
    check_names(cells.names, max_columns=max_columns)
    refuse(cells.faults)
    kinds = kinds_in(cells, declared)
    columns = zip(cells.names, cells.columns, strict=True)
    found = empty_in(cells, declared).kinds_in((name, partial(scalars, column)) for name, column in columns)
    kinds = tuple(found.get(name, kind) for name, kind in zip(cells.names, kinds, strict=True))
    return TableStream(cells.names, kinds, _blocks(cells, kinds, frozenset(cells.names) - declared.keys()))


def kinds_in(cells: JsonColumns, declared: Mapping[str, ColumnKind]) -> tuple[ColumnKind, ...]:
    """Return the declared kinds, else those inferred from the first rows; raises InvalidRequestError as `kinds_of`."""
    found = (kind_of_cells(scalars(column[:ROWS_LOOKED_AT])) for column in cells.columns)
    return kinds_of(cells.names, declared, found)


def empty_in(cells: JsonColumns, declared: Mapping[str, ColumnKind]) -> EmptyColumns:
    """Return the columns whose kind is not declared and whose first rows have no value."""
    columns = zip(cells.names, cells.columns, strict=True)
    return EmptyColumns(
        name
        for name, column in columns
        if name not in declared and all(cell is None for cell in column[:ROWS_LOOKED_AT])
    )


def scalars(cells: Sequence[JSON]) -> Sequence[Cell]:
    """Return cells, None for an array or object, which is refused later."""
    return [None if isinstance(cell, list | dict) else cell for cell in cells]


def _blocks(cells: JsonColumns, kinds: Sequence[ColumnKind], inferred: frozenset[str]) -> Iterator[Block]:
    rows, step = len(cells.columns[0]), rows_of_a_block(len(cells.names))
    for first in range(0, rows, step):
        block: dict[str, Column] = {}
        wrong: dict[str, CellFaults] = {}
        for name, kind, column in zip(cells.names, kinds, cells.columns, strict=True):
            block[name], wrong[name] = column_of(kind, column[first : first + step], exact=name in inferred)
        refuse_or_revise(wrong, inferred, first)
        yield block
