"""The three forms of a table in JSON: columns by name, rows as objects, or names with rows as lists."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice

from app.formats.cell_faults import MAX_FAULTS, shown
from app.formats.cells import JSON
from app.formats.json_body import decode
from app.formats.json_scan import MAX_CONTAINERS, check_containers, check_members
from relevance_bayes.types.errors import Fault, InvalidDataError, pointer

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
