"""Cells of a CSV column, as the strings of one record batch, to a typed column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.formats.cell_faults import (
    MAX_CHARACTERS,
    CellFault,
    CellFaults,
    FaultKind,
    bad_text,
    long_integer,
    not_a,
    not_finite,
    out_of_range,
)
from app.formats.dates import ISO, DateFormat
from app.formats.markers import DEFAULT, Markers
from app.formats.number_forms import Form
from app.formats.separators import Separators
from relevance_bayes.tables.columns import BooleanColumn, CategoryColumn, Column, NumberColumn, TimestampColumn
from relevance_bayes.tables.kinds import (
    FALSE_TEXTS,
    MAX_EXACT_INTEGER,
    TRUE_TEXTS,
    is_long_integer,
    is_not_finite,
    is_number,
)
from relevance_bayes.types.values import ColumnKind


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
                read[place] = ReadColumn(NumberColumn(row))
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
            return ReadColumn(CategoryColumn(codes, labels), _unfit(codes, labels), counts)
        case "boolean":
            flags = [1 if label in TRUE_TEXTS else 0 if label in FALSE_TEXTS else -1 for label in labels]
            values = np.array([*flags, -1], dtype=np.int8)[codes]
            unread = _unread("boolean", codes, labels, [flag < 0 for flag in flags])
            return ReadColumn(BooleanColumn(values), unread, counts)
        case "timestamp":
            seconds = [dates.seconds(label) for label in labels]
            times = np.array([*seconds, None], dtype=np.float64)[codes]
            unread = _unread("timestamp", codes, labels, [second is None for second in seconds])
            return ReadColumn(TimestampColumn(times), unread, counts)


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
        return ReadColumn(NumberColumn(values), cell_faults, counts)
    cell_faults = []
    if reading.exact:
        large = np.flatnonzero(np.abs(values) >= MAX_EXACT_INTEGER)
        for row in large.tolist():
            text = reading.pointed(str(texts[row].as_py()).strip())
            if is_long_integer(text):
                cell_faults.append(long_integer(row, text))
    return ReadColumn(NumberColumn(values), cell_faults, counts)


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
