"""The readings of the columns of a CSV file: kinds, separators, forms of numbers and dates, from the first rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from app.formats.csv_columns import NumberReading, has_only_numbers
from app.formats.date_forms import find_date_formats
from app.formats.dates import ISO, DateFormat, checked_format
from app.formats.expected import Columns
from app.formats.markers import markers_of
from app.formats.number_forms import Form, find_form
from app.formats.options import ReadOptions
from app.formats.separators import PLAIN, find_separators, is_numeric
from app.formats.streams import ReadAgainError
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT, kind_of_texts
from relevance_bayes.types.datasets import ColumnReading, MissingText
from relevance_bayes.types.values import ColumnKind, NumberForm

MIN_CODE_LENGTH = 3
MAX_MISSING_TEXTS = 20
"""The number of texts of a column that a dataset lists as read as missing."""


@dataclass(frozen=True)
class TextColumn:
    """A column of texts, and how they are read.

    `code_length`: all first texts have so many digits and nothing else, so that they may be codes with leading zeros.
    `is_empty`: the first rows have no value.
    """

    name: str
    kind: ColumnKind
    numbers: NumberReading
    dates: DateFormat = ISO
    is_inferred: bool = True
    code_length: int | None = None
    is_empty: bool = False

    def has_codes(self, texts: pa.StringArray, *, may_lead: bool = False) -> bool:
        """Return whether all cells have the length of a code, and none begins with 0 unless they `may_lead`."""
        present = self.numbers.markers.without(texts)[0].drop_null()
        digits = "[0-9]" if may_lead else "[1-9]"
        pattern = f"^{digits}[0-9]{{{(self.code_length or 1) - 1}}}$"
        return bool(pc.all(pc.match_substring_regex(present, pattern)).as_py() in {True, None})

    def has_plain_codes(self, texts: pa.StringArray) -> bool:
        """Return whether all cells that are not empty have the length of a code, and none begins with 0, quickly."""
        lengths = pc.binary_length(texts)
        found = {pc.min(lengths).as_py(), pc.max(lengths).as_py()}
        return found <= {self.code_length, None} and not pc.any(pc.starts_with(texts, "0")).as_py()

    def has_numbers(self, texts: pa.StringArray) -> bool:
        """Return whether all cells are numbers or missing."""
        return has_only_numbers(self.numbers.markers.without(texts)[0], self.numbers.separators)


class CodeColumns:
    """The columns that may be codes with leading zeros by their first rows, and are checked with all others."""

    def __init__(self, columns: Sequence[TextColumn]) -> None:
        self._columns = {column.name: column for column in columns if column.code_length is not None}

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def add(self, column: TextColumn) -> None:
        """Add a column, if it may be of codes, whose first rows are empty."""
        if column.code_length is not None:
            self._columns[column.name] = column

    def check(self, texts: Mapping[str, pa.StringArray]) -> None:
        """Raise ReadAgainError where a number turns out to be a code, or a code a number, in the texts of a block."""
        for name, column in [*self._columns.items()]:
            if column.kind == "number" and column.has_plain_codes(texts[name]):
                continue
            are_codes = column.has_codes(texts[name], may_lead=True)
            if not are_codes:
                del self._columns[name]
            if column.kind == "number" and are_codes and not column.has_codes(texts[name]):
                raise ReadAgainError({name: "category"})
            if column.kind == "category" and not are_codes and column.has_numbers(texts[name]):
                raise ReadAgainError({name: "number"})


def find_readings(
    table: pa.Table,
    delimiter: str,
    options: ReadOptions,
    *,
    declared: Mapping[str, ColumnKind],
    are_first: bool = True,
) -> Sequence[TextColumn]:
    """Return the readings of a table's columns from some of its rows; kinds that are not declared or revised are
    inferred. Where these `are_first`, faults have their rows.

    Raises InvalidDataError where a column has two readings, InvalidRequestError for invalid options.
    """
    markers = markers_of(options)
    known = options.known(declared)
    numeric = [
        (name, table.column(place))
        for place, name in enumerate(table.column_names)
        if name not in options.forms
        and (known.get(name) == "number" or (name not in known and is_numeric(table.column(place))))
    ]
    separators = find_separators(numeric, delimiter, options)
    times = [
        (name, table.column(place))
        for place, name in enumerate(table.column_names)
        if known.get(name, "timestamp") == "timestamp"
    ]
    dates = find_date_formats(times, checked_format(options.date_format), markers)
    plain = NumberReading(separators, markers)

    columns: list[TextColumn] = []
    for place, name in enumerate(table.column_names):
        column = TextColumn(name, known.get(name, "number"), plain, dates.get(name, ISO), name not in declared)
        is_known = name in known
        columns.append(_read(table.column(place), column, delimiter, options, is_known=is_known, are_first=are_first))
    return columns


def _read(
    texts: "pa.ChunkedArray[pa.StringScalar]",
    column: TextColumn,
    delimiter: str,
    options: ReadOptions,
    *,
    is_known: bool,
    are_first: bool = False,
) -> TextColumn:
    """Return a column with its kind, where it is not known, and the form of its numbers."""
    if is_known and column.kind == "number" and column.name in options.forms:
        return replace(column, numbers=replace(column.numbers, form=Form(options.forms[column.name])))
    chunks = [chunk for chunk in texts.chunks if isinstance(chunk, pa.StringArray)]
    exact = replace(column.numbers, exact=column.is_inferred)
    if not exact.markers.listed and (not is_known or column.kind == "number"):
        is_plain = all(has_only_numbers(chunk, exact.separators) for chunk in chunks)
        if is_plain and texts.null_count < len(texts):
            read = replace(column, kind="number", numbers=exact)
            return read if is_known else _codes(read, chunks)
    markers = exact.markers
    if is_known and column.kind != "number":
        has_none = column.kind == "timestamp" and all(
            markers.without(chunk)[0].null_count == len(chunk) for chunk in chunks
        )
        return replace(column, is_empty=has_none)
    stripped = ["" if cell is None else str(cell).strip() for cell in texts.to_pylist()]
    rows = [row for row, text in enumerate(stripped) if text and not markers.has(text)]
    present = [stripped[row] for row in rows]
    exact = replace(exact, has_markers=len(present) < sum(map(bool, stripped)))
    if not present:
        return replace(column, kind="number", numbers=exact, is_empty=True)
    kind = (
        column.kind if is_known else kind_of_texts(exact.separators.pointed(column.dates.iso(text)) for text in present)
    )
    if kind in {"number", "category"}:
        is_given = options.decimal is not None or options.thousands is not None
        numbered = rows if are_first else ()
        form = find_form(column.name, present, delimiter, exact.separators, is_given=is_given, rows=numbered)
        if form is not None:
            return replace(column, kind="number", numbers=replace(exact, form=form))
    read = replace(column, kind=kind, numbers=exact)
    return read if is_known or kind != "number" else _codes(read, chunks)


def row_readings(
    table: pa.Table,
    columns: Columns,
    delimiter: str,
    options: ReadOptions,
    *,
    forms: Mapping[str, NumberForm],
    is_plain: bool,
) -> Mapping[str, TextColumn]:
    """Return the readings of rows to predict for, all of whose kinds are known, by name.

    `forms` are those of the numbers by which the version was trained; in other columns forms are detected. `is_plain`:
    no number has a comma.
    """
    markers = markers_of(options)
    numeric = [(name, table.column(name)) for name, kind in columns if kind == "number"]
    unknown = [(name, texts) for name, texts in numeric if name not in forms]
    separators = PLAIN if is_plain else find_separators(unknown, delimiter, options)
    times = [(name, table.column(name)) for name, kind in columns if kind == "timestamp"]
    dates = find_date_formats(times, checked_format(options.date_format), markers)
    plain = NumberReading(separators, markers)
    readings: dict[str, TextColumn] = {}
    for name, kind in columns:
        column = TextColumn(name, kind, plain, dates.get(name, ISO), is_inferred=False)
        if kind == "number" and name in forms:
            column = replace(column, numbers=replace(plain, form=Form(forms[name])))
        elif kind == "number":
            column = _read(table.column(name), column, delimiter, options, is_known=True)
        readings[name] = column
    return readings


def later_reading(
    column: TextColumn,
    texts: pa.StringArray,
    delimiter: str,
    options: ReadOptions,
    *,
    declared: Mapping[str, ColumnKind],
) -> TextColumn:
    """Return the reading of a column whose first rows are empty, from later rows.

    Raises as `find_readings` does.
    """
    first = column.numbers.markers.without(texts)[0].drop_null().slice(0, ROWS_LOOKED_AT)
    if not len(first):
        return column
    if column.numbers.separators.decimal == ",":
        options = replace(options, decimal=",")
    some = pa.table({column.name: first})
    (found,) = find_readings(some, delimiter, options, declared=declared, are_first=False)
    return column if found.is_empty else found


def _codes(column: TextColumn, chunks: Sequence[pa.StringArray]) -> TextColumn:
    """Return a column of numbers as texts where they are codes with leading zeros."""
    first = next((str(cell).strip() for chunk in chunks for cell in chunk.to_pylist() if cell is not None), "")
    if not first.isdecimal() or len(first) < MIN_CODE_LENGTH:
        return column
    likely = replace(column, code_length=len(first))
    if not all(likely.has_codes(chunk, may_lead=True) for chunk in chunks):
        return column
    return likely if all(map(likely.has_codes, chunks)) else replace(likely, kind="category")


def readings_of(
    columns: Sequence[TextColumn],
    missing: Mapping[str, Mapping[str, int]],
    given_names: Mapping[str, str],
    *,
    has_header: bool,
) -> Callable[[], Mapping[str, ColumnReading]]:
    """Return a function of the readings of columns by name, where a kind is not all."""

    def readings() -> Mapping[str, ColumnReading]:
        found = {column.name: _record(column, missing[column.name], given_names, has_header) for column in columns}
        return {name: one for name, one in found.items() if one != ColumnReading()}

    return readings


def _record(
    column: TextColumn, missing: Mapping[str, int], given_names: Mapping[str, str], has_header: bool
) -> ColumnReading:
    form = column.numbers.form
    ranked = sorted(missing.items(), key=lambda one: (-one[1], one[0]))[:MAX_MISSING_TEXTS]
    return ColumnReading(
        form=form.form if form is not None and column.kind == "number" else None,
        date_format=column.dates.pattern if column.kind == "timestamp" else None,
        missing_texts=tuple(MissingText(text, count) for text, count in ranked) or None,
        given_name=given_names.get(column.name),
        has_header=None if has_header else False,
    )
