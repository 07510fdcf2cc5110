"""The beginning of CSV: comments, a title, and the header."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.formats.cells import shown
from relevance_bayes.records.errors import Ambiguity, Fault, InvalidDataError, PossibleReading
from relevance_bayes.tables.kinds import is_missing_text, is_not_finite, is_number, seconds_of

_SEPARATOR = re.compile(r'"?sep=(?P<mark>[^\r\n"])"?[ \t]*(?:\r\n|\n|\r)', re.IGNORECASE)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")


@dataclass(frozen=True)
class Beginning:
    """The length in characters of what precedes the table, its number of lines, and the delimiter that it names."""

    length: int
    lines: int
    delimiter: str | None = None


def skip_lines(text: str, count: int) -> int:
    """Return the length of the first `count` lines of a text."""
    end = 0
    for _ in range(count):
        found = _LINE.match(text, end)
        end = len(text) if found is None else found.end()
    return end


def find_beginning(text: str) -> Beginning:
    """Return what precedes the table of a text without byte order marks."""
    named = _SEPARATOR.match(text)
    return Beginning(0, 0) if named is None else Beginning(named.end(), 1, named["mark"])


def comments_before(text: str) -> Sequence[str]:
    """Return the lines of comments, and blank ones, before the first other line, with their ends."""
    lines: list[str] = []
    end = 0
    while (found := _LINE.match(text, end)) is not None and found[0]:
        if found[0].strip() and not found[0].lstrip().startswith("#"):
            break
        lines.append(found[0])
        end = found.end()
    return lines if any(line.strip() for line in lines) else []


def lines_in(text: str) -> int:
    """Return the number of line ends in a text."""
    return len(re.findall(r"\r\n|\n|\r", text))


Records = Sequence[Sequence[str]]

YEARS = (1500.0, 2500.0)
"""The integers that are read as years."""

BOOLEANS = frozenset({"true", "false"})
TOLERANCE = 1e-9


@dataclass(frozen=True)
class _Value:
    """A number, or a day as a number; `position` is that of its column."""

    position: int
    number: float
    is_day: bool

    @property
    def may_be_name(self) -> bool:
        """Return whether programs write such a value as the name of a column."""
        return self.is_day or (self.number >= 0.0 and self.number.is_integer())


def has_header(records: Records, *, line: int = 1) -> bool:
    """Return whether the first of the first records of a file has the names of the columns.

    It has them where a text of it is above only numbers, booleans or times; where its numbers or days form a run (0, 1,
    2; years; days; quantiles) that the rows below do not continue, and no text of it recurs in its column; or where all
    its cells are texts, none of which recurs. Raises InvalidDataError, with `line`, where it may as well be a row.
    """
    first, below = [cell.strip() for cell in records[0]], records[1:]
    if any(_is_above_values(cell, _column(below, position)) for position, cell in enumerate(first)):
        return True
    values = [value for position, cell in enumerate(first) if (value := _value_of(position, cell)) is not None]
    texts = [position for position, cell in enumerate(first) if _is_text(cell)]
    if not below:
        return not values
    recurring = sum(first[position] in _column(below, position) for position in texts)
    if any(cell.lower() in BOOLEANS for cell in first):
        return False
    if len(values) + len(texts) < sum(map(bool, first)):  # a text for a missing value
        return not values and not recurring and bool(texts)
    if not values:
        return _are_names(first, below, recurring=recurring, texts=len(texts), line=line)
    if recurring or len({value.number for value in values}) < len(values):
        return False
    return _numbers_are_names(first, below, values, has_texts=bool(texts), line=line)


def _numbers_are_names(
    first: Sequence[str], below: Records, values: Sequence[_Value], *, has_texts: bool, line: int
) -> bool:
    """Return whether a first line with distinct numbers or days, whose texts do not recur, has names."""
    fits = not any(cell == "" and any(_column(below, at)) for at, cell in enumerate(first)) and _fit(values, below)
    numbers = [value.number for value in values]
    if _is_run(values) and not _continues(values, below):
        if fits:
            raise _ambiguous(first, line)
        return True
    if not all(value.may_be_name for value in values) or fits or not has_texts:
        return False
    if len(values) == 1 and not values[0].is_day and not YEARS[0] <= numbers[0] <= YEARS[1]:
        return False
    if len(values) > 1 and _continues(values, below):
        return False
    raise _ambiguous(first, line)


def _are_names(first: Sequence[str], below: Records, *, recurring: int, texts: int, line: int) -> bool:
    """Return whether a first line of texts has names, of which so many recur in their columns."""
    if not recurring or any(_is_above_most_values(cell, _column(below, at)) for at, cell in enumerate(first)):
        return True
    if 2 * recurring > texts and [*first] not in [[cell.strip() for cell in record] for record in below]:
        return False
    raise _ambiguous(first, line)


def _is_above_values(cell: str, below: Sequence[str]) -> bool:
    present = [text for text in below if text and not is_missing_text(text)]
    return bool(present) and _is_text(cell) and all(map(_is_value, present))


def _is_above_most_values(cell: str, below: Sequence[str]) -> bool:
    present = [text for text in below if text and not is_missing_text(text)]
    return _is_text(cell) and 2 * sum(map(_is_value, present)) > len(present)


def _column(records: Records, position: int) -> list[str]:
    return [record[position].strip() for record in records if position < len(record)]


def _is_text(cell: str) -> bool:
    return bool(cell) and not _is_value(cell) and not is_missing_text(cell)


def _is_value(text: str) -> bool:
    return (
        text.lower() in BOOLEANS
        or is_number(text.replace(",", "."))
        or is_not_finite(text)
        or seconds_of(text) is not None
    )


def _value_of(position: int, cell: str) -> _Value | None:
    text = cell.replace(",", ".")
    if is_number(text):
        return _Value(position, float(text), is_day=False)
    seconds = seconds_of(cell)
    return None if seconds is None else _Value(position, seconds / 86_400.0, is_day=True)


def _numbers_below(values: Sequence[_Value], below: Records) -> list[list[float]]:
    """Return the numbers of the rows below in the columns of `values`, of rows that have them all."""
    rows: list[list[float]] = []
    for record in below:
        found = [_value_of(value.position, cell) for value in values for cell in _column([record], value.position)]
        present = [one.number for one in found if one is not None]
        if len(present) == len(values):
            rows.append(present)
    return rows


def _is_run(values: Sequence[_Value]) -> bool:
    """Return whether numbers or days ascend in equal steps, as months, or as quantiles."""
    numbers = [value.number for value in values]
    steps = [after - before for before, after in pairwise(numbers)]
    if not steps or min(steps) <= 0.0 or len({value.is_day for value in values}) > 1:
        return False
    if values[0].is_day:
        return max(steps) - min(steps) <= max(3.0, 0.1 * min(steps)) or len(steps) == 1
    if all(number.is_integer() and YEARS[0] <= number <= YEARS[1] for number in numbers):
        return True
    whole = 1.0 if numbers[-1] < 1.0 else 100.0
    is_level = numbers[0] >= 0.0 and numbers[-1] <= whole
    if is_level and all(abs(low + high - whole) < TOLERANCE for low, high in zip(numbers, numbers[::-1], strict=True)):
        return True
    if not all(value.may_be_name for value in values):
        return False
    return all(step == steps[0] for step in steps) and (len(steps) > 1 or steps[0] == 1.0)


def _continues(values: Sequence[_Value], below: Records) -> bool:
    """Return whether the rows below continue the run of the first, along the rows or down the columns."""
    numbers = [value.number for value in values]
    rows = _numbers_below(values, below)
    if not rows:
        return False
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1.0
    if abs(rows[0][0] - numbers[-1] - step) < TOLERANCE:
        return True
    is_level = numbers[-1] <= 1.0 and abs(numbers[0] + numbers[-1] - 1.0) < TOLERANCE
    if is_level and abs(rows[0][0] + rows[0][-1] - 1.0) < TOLERANCE:
        return True
    columns = zip(numbers, *rows, strict=True)
    return len(rows) > 1 and all(
        len({round(after - before, 9) for before, after in pairwise(column)}) == 1 for column in columns
    )


def _fit(values: Sequence[_Value], below: Records) -> bool:
    """Return whether each value is between the least and the greatest of its column, and as integral as they are."""
    rows = _numbers_below(values, below)
    if not rows:
        return False
    return all(
        min(column) <= value.number <= max(column)
        and (value.is_day or not value.number.is_integer() or all(number.is_integer() for number in column))
        for value, column in zip(values, zip(*rows, strict=True), strict=True)
    )


def _ambiguous(first: Sequence[str], line: int) -> InvalidDataError:
    cells = ", ".join(first[:6]) + (", ..." if len(first) > 6 else "")
    readings = (
        PossibleReading("header", "true", "the names of the columns with a header"),
        PossibleReading("header", "false", "a row of data without one"),
    )
    ambiguity = Ambiguity(shown(cells), readings)
    detail = f"Line {line} {ambiguity.detail}"
    return InvalidDataError(detail, [Fault(detail, line=line, parameter="header", ambiguity=ambiguity)])
