"""Streams of tables, the result of every format, and predictions as a flat table, before a format writes them."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from app.errors import TooLargeError
from app.formats.cells import KINDS_HINT, MAX_FAULTS_REPORTED, CellFaults, faults_of, refuse, shown
from relevance_bayes.core.types import Mask
from relevance_bayes.records.datasets import ColumnReading, Image
from relevance_bayes.records.errors import Fault, InvalidDataError, InvalidRequestError, sentence
from relevance_bayes.records.values import Cell, ColumnKind
from relevance_bayes.tables.columns import Block, Column, FlatColumn, block_rows
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT, kind_of_cells

MAX_NAME_LENGTH = 200


class ReadAgainError(Exception):
    """Raised by the blocks of a table where a later row contradicts the kinds that were inferred from the first ones.

    The table is to be read again from its beginning with `kinds`, by column.
    """

    def __init__(self, kinds: Mapping[str, ColumnKind]) -> None:
        super().__init__(f"the columns {', '.join(kinds)} have other kinds than their first rows")
        self.kinds = kinds


def _no_readings() -> Mapping[str, ColumnReading]:
    """Return no readings: the kinds are all."""
    return {}


@dataclass(frozen=True)
class TableStream:
    """A table, or an image as a table, that is being read.

    Iteration over `blocks` reads the file, and raises InvalidDataError or MalformedBodyError where it is invalid, and
    ReadAgainError. `readings` returns the readings of columns by name, complete once all blocks are read.
    """

    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    blocks: Iterator[Block]
    image: Image | None = None
    readings: Callable[[], Mapping[str, ColumnReading]] = _no_readings


class EmptyColumns:
    """Columns without a value so far, whose kind is to be inferred from the first block that has one."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {*names}

    def kinds_in(self, columns: Iterable[tuple[str, Callable[[], Sequence[Cell]]]]) -> dict[str, ColumnKind]:
        """Return the kinds of those that have a value in a block, where these are no numbers; they are empty no more.

        The cells of a block's columns by name are computed for empty columns only.
        """
        found: dict[str, ColumnKind] = {}
        for name, cells in columns if self._names else ():
            present = [cell for cell in cells() if cell is not None] if name in self._names else []
            if present:
                self._names.remove(name)
                found[name] = kind_of_cells(present[:ROWS_LOOKED_AT])
        return {name: kind for name, kind in found.items() if kind != "number"}


Placed = Callable[[Sequence[Fault]], Sequence[Fault]]
"""A function that adds lines, or rows of a sheet, to faults of rows."""


@contextmanager
def with_places(placed: Placed) -> Iterator[None]:
    """Add the places in the file of the rows of an InvalidDataError."""
    try:
        yield
    except InvalidDataError as error:
        faults = placed([fault for fault in error.faults if fault.row is not None])
        if not faults:
            raise
        where = " and ".join(fault.row_names[0] for fault in faults)
        raise InvalidDataError(f"{error.detail} See {where}.", faults) from None


def refuse_or_revise(
    wrong: Mapping[str, CellFaults], inferred: Collection[str], first_row: int, placed: Placed = lambda faults: faults
) -> None:
    """Raise ReadAgainError where faults of a block's columns contradict an inferred kind, else InvalidDataError for
    the first, if any.

    Integers that float64 would round are texts, which keep their digits.
    """
    long = [name for name, found in wrong.items() if any(one.kind == "long_integer" for one in found)]
    revised: dict[str, ColumnKind] = {name: "category" for name in long if name in inferred}
    if revised:
        raise ReadAgainError(revised)
    faults = sorted(faults_of(wrong, first_row), key=lambda fault: fault.row or 0)
    if not faults:
        return
    first = next(one for one in wrong[faults[0].column or ""] if one.row + first_row == faults[0].row)
    may_be_text = faults[0].column in inferred and first.kind == "other_kind"
    refuse([*placed(faults[:MAX_FAULTS_REPORTED]), *faults[MAX_FAULTS_REPORTED:]], KINDS_HINT if may_be_text else "")


def check_names(names: Sequence[str], *, max_columns: int, line: int | None = None) -> None:
    """Raise InvalidDataError for invalid or repeated names, TooLargeError for too many, all on `line`."""
    if not names:
        raise InvalidDataError("The table has no columns.")
    if len(names) > max_columns:
        raise TooLargeError(f"Expected at most {max_columns:,} columns, got {len(names):,}.")
    faults: list[Fault] = []
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not name:
            faults.append(Fault(f"Column {position} has no name.", line=line))
        elif len(name) > MAX_NAME_LENGTH:
            faults.append(
                Fault(
                    f"Expected a name of at most {MAX_NAME_LENGTH} characters, got {len(name):,}.",
                    column=name,
                    line=line,
                )
            )
        elif not is_plain(name):
            faults.append(Fault("The name contains a control character.", column=name, line=line))
        elif name in seen:
            faults.append(Fault("The column is named twice.", column=name, line=line))
        seen.add(name)
    refuse(faults)


def is_plain(text: str) -> bool:
    """Return whether a text has no control characters and no line or paragraph separators."""
    return not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in text)


def kinds_of(
    names: Sequence[str], declared: Mapping[str, ColumnKind], found: Iterable[ColumnKind]
) -> tuple[ColumnKind, ...]:
    """Return the declared kinds, else those found; raises InvalidRequestError for a kind of an unknown column."""
    unknown = sorted(declared.keys() - set(names))
    if unknown:
        raise InvalidRequestError(
            f"A kind is declared for a column that the table does not have: {shown(unknown[0])}.",
            [Fault("There is no such column.", parameter="kinds", column=name) for name in unknown],
        )
    return tuple(declared.get(name, kind) for name, kind in zip(names, found, strict=True))


def within(blocks: Iterator[Block], *, max_rows: int, max_cells: int) -> Iterator[Block]:
    """Yield the blocks; raises TooLargeError where there are more rows or cells than allowed."""
    rows = 0
    for block in blocks:
        rows += block_rows(block)
        if rows > max_rows:
            raise TooLargeError(f"Expected at most {max_rows:,} rows, got more.")
        if rows * len(block) > max_cells:
            raise TooLargeError(f"Expected at most {max_cells:,} cells, got more.")
        yield block


_BREAK = re.compile(r"[\r\n\u2028\u2029]+")


def stored_names(names: Sequence[str]) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the names of columns, and those in the file of columns with another one, by name.

    A line break becomes a blank, a long name is cut, and a name that occurs again is numbered: x, x_2, x_3.
    """
    found: list[str] = []
    given: dict[str, str] = {}
    taken, seen = {*names}, set[str]()
    for name in names:
        plain = _on_one_line(name) if _BREAK.search(name) else name
        short = plain = plain if len(plain) <= MAX_NAME_LENGTH else plain[:MAX_NAME_LENGTH].strip()
        number = 1
        while short in seen or (number > 1 and short in taken):
            number += 1
            ending = f"_{number}"
            short = plain[: MAX_NAME_LENGTH - len(ending)] + ending
        found.append(short)
        seen.add(short)
        if short != name:
            given[short] = name
    return tuple(found), given


def _on_one_line(name: str) -> str:
    """Return a name with a blank for each line break and the blanks around it."""
    return " ".join(line.strip(" \t") for line in _BREAK.split(name)).strip()


def checked_names(
    names: Sequence[str], *, max_columns: int, line: int | None = None
) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the stored names; raises as `check_names` does."""
    stored, given = stored_names(names)
    check_names(stored, max_columns=max_columns, line=line)
    return stored, given


@dataclass(frozen=True, eq=False)
class KeptColumn:
    """A column of a dataset (N,) that precedes the predictions; `integral`: all its numbers are integers."""

    column: Column
    integral: bool


@dataclass(frozen=True, eq=False)
class FlatTable:
    """Predictions for N rows by column, missing in `faulty` rows (N,).

    `errors` by row are a last column `error`, None where there is none. `about` describes the version, in formats with
    metadata. `kept` precede the predictions. `escapes_formulas`: in CSV no text is a formula for a spreadsheet.
    """

    columns: Mapping[str, FlatColumn]
    faulty: Mask | None
    errors: Mapping[int, str] | None
    about: Mapping[str, str]
    kept: Mapping[str, KeptColumn] = field(default_factory=dict)
    escapes_formulas: bool = False


def faulty_rows(rows: int, faults: Sequence[Fault]) -> Mask | None:
    """Return a mask (N,) of the rows with faults; None where there are none."""
    places = [fault.row for fault in faults if fault.row is not None]
    if not places:
        return None
    faulty = np.zeros(rows, np.bool_)
    faulty[places] = True
    return faulty


def errors_by_row(faults: Sequence[Fault]) -> dict[int, str]:
    """Return the message for each row with faults."""
    reported: dict[int, str] = {}
    for fault in faults:
        if fault.row is not None:
            where = "" if fault.column is None else f"{fault.column}: "
            given = f"{where}{sentence(fault.detail)}"
            reported[fault.row] = f"{reported[fault.row]} {given}" if fault.row in reported else given
    return reported
