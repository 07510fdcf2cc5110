"""Cells of a CSV column, as the strings of one record batch, to a typed column."""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.formats.cell_faults import (
    MAX_CHARACTERS,
    CellFaults,
    bad_text,
    not_a,
    not_finite,
    out_of_range,
    too_long_an_integer,
)
from app.formats.dates import ISO, DateFormat
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

Columns = Sequence[tuple[Column, CellFaults]]


def numbers_of_texts(columns: Sequence[pa.StringArray], *, separators: Separators, exact: Sequence[bool]) -> Columns:
    """Return columns (N,) of numbers from N cells each, missing where empty, and the faults.

    They are converted at once where all cells fit, because a wide table has thousands of short columns. `exact` refuses
    integers that float64 would round.
    """
    if not columns:
        return []
    values = _cast(pa.concat_arrays(columns), separators)
    if values is None or bool((np.abs(values) >= MAX_EXACT_INTEGER).any()):
        return [_numbers(texts, separators, exact=keep) for texts, keep in zip(columns, exact, strict=True)]
    return [(NumberColumn(row), []) for row in values.reshape(len(columns), -1)]


def column_of_texts(kind: ColumnKind, texts: pa.StringArray, dates: DateFormat = ISO) -> tuple[Column, CellFaults]:
    """Return a column (N,) of another kind from N cells, missing where empty, and the faults."""
    codes, labels = _coded(texts)
    match kind:
        case "number":
            raise ValueError("numbers are read together")
        case "category":
            return CategoryColumn(codes, labels), _unfit(codes, labels)
        case "boolean":
            flags = [1 if label in TRUE_TEXTS else 0 if label in FALSE_TEXTS else -1 for label in labels]
            values = np.array([*flags, -1], dtype=np.int8)[codes]
            return BooleanColumn(values), _unread("boolean", codes, labels, [flag < 0 for flag in flags])
        case "timestamp":
            seconds = [dates.seconds(label) for label in labels]
            times = np.array([*seconds, None], dtype=np.float64)[codes]
            return TimestampColumn(times), _unread("timestamp", codes, labels, [second is None for second in seconds])


def _unfit(codes: NDArray[np.int32], labels: Sequence[str]) -> CellFaults:
    if max(map(len, labels), default=0) <= MAX_CHARACTERS and "\0" not in "".join(labels):
        return []
    return _cell_faults(codes, labels, [bad_text(label) for label in labels])


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
    return _cell_faults(
        codes, labels, [not_a(kind, label) if bad else None for label, bad in zip(labels, wrong, strict=True)]
    )


def _cell_faults(codes: NDArray[np.int32], labels: Sequence[str], reasons: Sequence[str | None]) -> CellFaults:
    bad = {code: reason for code, reason in enumerate(reasons) if reason is not None}
    if not bad:
        return []
    rows = np.flatnonzero(np.isin(codes, list(bad)))
    return [(row, bad[code]) for row, code in zip(rows.tolist(), codes[rows].tolist(), strict=True)]


def _numbers(texts: pa.StringArray, separators: Separators, *, exact: bool) -> tuple[NumberColumn, CellFaults]:
    values = _cast(texts, separators)
    if values is None:
        return _numbers_one_by_one(texts, separators, exact=exact)
    cell_faults: CellFaults = []
    if exact:
        large = np.flatnonzero(np.abs(values) >= MAX_EXACT_INTEGER)
        for row in large.tolist():
            text = str(texts[row].as_py()).strip()
            if is_long_integer(text):
                cell_faults.append((row, too_long_an_integer(text)))
    return NumberColumn(values), cell_faults


def _cast(texts: pa.StringArray, separators: Separators) -> NDArray[np.float64] | None:
    """Return all cells as numbers, None where some are not finite numbers."""
    pointed = separators.pointed_all(texts)
    if pointed is None:
        return None
    attempts: tuple[Callable[[pa.StringArray], pa.StringArray], ...] = (lambda cells: cells, _without_blanks)
    for prepare in attempts:
        try:
            prepared = prepare(pointed)
            numbers = pc.cast(prepared, pa.float64())
        except pa.ArrowInvalid:
            continue
        values = numbers.to_numpy(zero_copy_only=False)
        if int(np.isfinite(values).sum()) == len(values) - numbers.null_count:
            return values
        return None
    return None


def _without_blanks(texts: pa.StringArray) -> pa.StringArray:
    trimmed = pc.utf8_trim_whitespace(texts)
    present: pa.StringArray = pc.if_else(pc.equal(trimmed, pa.scalar("")), pa.scalar(None, pa.string()), trimmed)
    return present


def _numbers_one_by_one(
    texts: pa.StringArray, separators: Separators, *, exact: bool
) -> tuple[NumberColumn, CellFaults]:
    values = np.full(len(texts), np.nan)
    cell_faults: CellFaults = []
    for row, cell in enumerate(texts.to_pylist()):
        shown = "" if cell is None else str(cell).strip()
        if not shown:
            continue
        text = separators.pointed(shown)
        if is_not_finite(text):
            cell_faults.append((row, not_finite(shown)))
        elif not is_number(text):
            cell_faults.append((row, not_a("number", shown)))
        elif exact and is_long_integer(text):
            cell_faults.append((row, too_long_an_integer(shown)))
        elif abs(float(text)) == float("inf"):
            cell_faults.append((row, out_of_range(shown)))
        else:
            values[row] = float(text)
    return NumberColumn(values), cell_faults


def has_only_numbers(texts: pa.StringArray, separators: Separators) -> bool:
    """Return whether all cells are finite numbers that float64 represents exactly."""
    values = _cast(texts, separators)
    return values is not None and not (np.abs(values) >= MAX_EXACT_INTEGER).any()
