"""Columns of texts of CSV: their numbers, times and other readings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.formats.cells import (
    MAX_CHARACTERS,
    CellFault,
    CellFaults,
    Columns,
    FaultKind,
    bad_text,
    long_integer,
    not_a,
    not_finite,
    out_of_range,
)
from app.formats.dates import ISO, DateFormat, checked_format, find_date_formats
from app.formats.format import ReadOptions
from app.formats.number_forms import (
    DEFAULT,
    PLAIN,
    Form,
    Markers,
    Separators,
    find_form,
    find_separators,
    is_numeric,
    markers_of,
)
from app.formats.streams import ReadAgainError
from relevance_bayes.records.datasets import ColumnReading, MissingText
from relevance_bayes.records.values import ColumnKind, NumberForm
from relevance_bayes.tables.columns import BooleanArray, CategoryArray, Column, NumberArray, TimestampArray
from relevance_bayes.tables.kinds import (
    FALSE_TEXTS,
    MAX_EXACT_INTEGER,
    ROWS_LOOKED_AT,
    TRUE_TEXTS,
    is_long_integer,
    is_not_finite,
    is_number,
    kind_of_texts,
)


@dataclass(frozen=True, eq=False)
class ReadColumn:
    """A column (N,), missing where cells do not fit, the faults, and the counts of texts that were read as missing."""

    column: Column
    cell_faults: CellFaults = field(default_factory=list)
    missing_texts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class NumberReading:
    """The reading of a column of numbers: of a `form`, else by the file's separators.

    `exact` refuses integers that float64 would round. `has_markers`: its first rows have texts for missing values.
    """

    separators: Separators
    markers: Markers = DEFAULT
    form: Form | None = None
    exact: bool = False
    has_markers: bool = False

    @property
    def is_separate(self) -> bool:
        """Return whether the column is not converted together with others."""
        return self.form is not None or self.has_markers or self.markers.listed

    def pointed(self, text: str) -> str:
        """Return a text as a number with a decimal point; a text of another form is no number."""
        if self.form is None:
            return self.separators.pointed(text)
        found = self.form.pointed(text)
        return text + " " if found is None else found


def numbers_of_texts(columns: Sequence[pa.StringArray], readings: Sequence[NumberReading]) -> Sequence[ReadColumn]:
    """Return columns (N,) of numbers from N cells each, missing where empty.

    They are converted at once where all cells fit, because a wide table has thousands of short columns.
    """
    read: list[ReadColumn | None] = [None] * len(columns)
    joint = [place for place, one in enumerate(readings) if not one.is_separate]
    if joint:
        values = _cast(pa.concat_arrays([columns[place] for place in joint]), readings[joint[0]].separators)
        if values is not None and not bool((np.abs(values) >= MAX_EXACT_INTEGER).any()):
            for place, row in zip(joint, values.reshape(len(joint), -1), strict=True):
                read[place] = ReadColumn(NumberArray(row))
    return [
        _numbers(texts, reading) if one is None else one
        for one, texts, reading in zip(read, columns, readings, strict=True)
    ]


def column_of_texts(
    kind: ColumnKind, texts: pa.StringArray, dates: DateFormat = ISO, markers: Markers = DEFAULT
) -> ReadColumn:
    """Return a column (N,) of another kind from N cells, missing where empty or a marker of a missing value."""
    codes, labels = _coded(texts)
    counts: Mapping[str, int] = {}
    known = markers.of_texts if kind == "category" else markers
    if known.texts and any(map(known.has, labels)):
        codes, labels, counts = _without_markers(codes, labels, known)
    match kind:
        case "number":
            raise ValueError("numbers are read together")
        case "category":
            return ReadColumn(CategoryArray(codes, labels), _unfit(codes, labels), counts)
        case "boolean":
            flags = [1 if label in TRUE_TEXTS else 0 if label in FALSE_TEXTS else -1 for label in labels]
            values = np.array([*flags, -1], dtype=np.int8)[codes]
            unread = _unread("boolean", codes, labels, [flag < 0 for flag in flags])
            return ReadColumn(BooleanArray(values), unread, counts)
        case "timestamp":
            seconds = [dates.seconds(label) for label in labels]
            times = np.array([*seconds, None], dtype=np.float64)[codes]
            unread = _unread("timestamp", codes, labels, [second is None for second in seconds])
            return ReadColumn(TimestampArray(times), unread, counts)


def _without_markers(
    codes: NDArray[np.int32], labels: Sequence[str], markers: Markers
) -> tuple[NDArray[np.int32], tuple[str, ...], Mapping[str, int]]:
    """Return codes and labels without those of markers, and the counts of these."""
    kept = [not markers.has(label) for label in labels]
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))
    found = {label: int(count) for label, keep, count in zip(labels, kept, counts, strict=True) if not keep}
    places = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    numbered = np.append(places, np.int32(-1)).astype(np.int32)
    return numbered[codes], tuple(label for label, keep in zip(labels, kept, strict=True) if keep), found


def _unfit(codes: NDArray[np.int32], labels: Sequence[str]) -> CellFaults:
    if max(map(len, labels), default=0) <= MAX_CHARACTERS and "\0" not in "".join(labels):
        return []
    return _cell_faults(codes, [bad_text(label) for label in labels])


def _coded(texts: pa.StringArray) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return strings without surrounding blanks as codes (-1: missing) into labels."""
    encoded = pc.utf8_trim_whitespace(texts).dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    labels = [str(label) for label in encoded.dictionary.to_pylist()]
    if "" in labels:
        empty = labels.index("")
        codes = np.where(codes == empty, -1, codes - (codes > empty)).astype(np.int32)
        del labels[empty]
    return codes, tuple(labels)


def _unread(kind: ColumnKind, codes: NDArray[np.int32], labels: Sequence[str], wrong: Sequence[bool]) -> CellFaults:
    reasons = [not_a(kind, label) if bad else None for label, bad in zip(labels, wrong, strict=True)]
    return _cell_faults(codes, reasons, "other_kind")


def _cell_faults(codes: NDArray[np.int32], reasons: Sequence[str | None], kind: FaultKind = "value") -> CellFaults:
    bad = {code: reason for code, reason in enumerate(reasons) if reason is not None}
    if not bad:
        return []
    rows = np.flatnonzero(np.isin(codes, list(bad)))
    return [CellFault(row, bad[code], kind) for row, code in zip(rows.tolist(), codes[rows].tolist(), strict=True)]


def _numbers(texts: pa.StringArray, reading: NumberReading) -> ReadColumn:
    """Return one column of numbers."""
    counts: Mapping[str, int] = {}
    values = None if reading.form is not None or reading.markers.listed else _cast(texts, reading.separators)
    if values is None:
        texts, counts = reading.markers.without(texts)
        values = _cast(texts, reading.separators) if reading.form is None else _cast_form(texts, reading.form)
    if values is None:
        values, cell_faults = _numbers_one_by_one(texts, reading)
        return ReadColumn(NumberArray(values), cell_faults, counts)
    cell_faults = []
    if reading.exact:
        large = np.flatnonzero(np.abs(values) >= MAX_EXACT_INTEGER)
        for row in large.tolist():
            text = reading.pointed(str(texts[row].as_py()).strip())
            if is_long_integer(text):
                cell_faults.append(long_integer(row, text))
    return ReadColumn(NumberArray(values), cell_faults, counts)


def _cast(texts: pa.StringArray, separators: Separators) -> NDArray[np.float64] | None:
    """Return all cells as numbers, NaN where null; None where some are not finite numbers."""
    pointed = separators.pointed_all(texts)
    return None if pointed is None else _finite(pointed)


def _cast_form(texts: pa.StringArray, form: Form) -> NDArray[np.float64] | None:
    values = form.values(texts)
    return values if values is not None and not np.isinf(values).any() else None


def _finite(texts: pa.StringArray) -> NDArray[np.float64] | None:
    for prepare in (False, True):
        try:
            numbers = pc.cast(_without_blanks(texts) if prepare else texts, pa.float64())
        except pa.ArrowInvalid:
            continue
        values = numbers.to_numpy(zero_copy_only=False)
        return values if int(np.isfinite(values).sum()) == len(values) - numbers.null_count else None
    return None


def _without_blanks(texts: pa.StringArray) -> pa.StringArray:
    trimmed = pc.utf8_trim_whitespace(texts)
    present: pa.StringArray = pc.if_else(pc.equal(trimmed, pa.scalar("")), pa.scalar(None, pa.string()), trimmed)
    return present


def _numbers_one_by_one(texts: pa.StringArray, reading: NumberReading) -> tuple[NDArray[np.float64], CellFaults]:
    values = np.full(len(texts), np.nan)
    cell_faults: CellFaults = []
    for row, cell in enumerate(texts.to_pylist()):
        shown = "" if cell is None else str(cell).strip()
        if not shown:
            continue
        text = reading.pointed(shown)
        if is_not_finite(text):
            cell_faults.append(CellFault(row, not_finite(shown)))
        elif not is_number(text):
            cell_faults.append(CellFault(row, not_a("number", shown), "other_kind"))
        elif reading.exact and is_long_integer(text):
            cell_faults.append(long_integer(row, shown))
        elif abs(float(text)) == float("inf"):
            cell_faults.append(CellFault(row, out_of_range(shown)))
        else:
            values[row] = float(text)
    return values, cell_faults


def has_only_numbers(texts: pa.StringArray, separators: Separators) -> bool:
    """Return whether all cells are finite numbers that float64 represents exactly."""
    values = _cast(texts, separators)
    return values is not None and not (np.abs(values) >= MAX_EXACT_INTEGER).any()


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
