"""The decimal and thousands separators of the numbers in a CSV file."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from app.formats.options import Decimal, ReadOptions, Thousands
from relevance_bayes.tables.kinds import is_number
from relevance_bayes.types.errors import Fault, InvalidDataError, InvalidRequestError

OTHER: Mapping[str, Decimal] = {",": ".", ".": ","}

MIXED = (
    "Some numbers have a decimal comma, others a point: set decimal= and thousands=, and declare the columns that are "
    "text."
)

Texts: TypeAlias = "pa.ChunkedArray[pa.StringScalar]"


@dataclass(frozen=True)
class Separators:
    """The separators of a file's numbers: `thousands`, between groups of three digits, is None where there are none."""

    decimal: Decimal = "."
    thousands: Thousands | None = None

    def pointed(self, text: str) -> str:
        """Return a number's text with a decimal point and without groups; no number where it has other separators."""
        if self.thousands is not None and self.thousands in text:
            if _grouped(self.thousands, self.decimal).fullmatch(text) is None:
                return text + " "
            text = text.replace(self.thousands, "")
        if self.decimal == ".":
            return text
        return text.replace(",", ".") if "." not in text else text + " "

    def pointed_all(self, texts: pa.StringArray) -> pa.StringArray | None:
        """Return cells with a decimal point and without groups; None where one of them has other separators."""
        if self.thousands is not None:
            marked = pc.match_substring(texts, self.thousands)
            if pc.any(marked).as_py():
                pattern = f"^\\s*{_grouped(self.thousands, self.decimal).pattern}\\s*$"
                if not pc.all(pc.or_(pc.invert(marked), pc.match_substring_regex(texts, pattern))).as_py():
                    return None
                texts = pc.replace_substring(texts, self.thousands, "")
        if self.decimal == ",":
            if pc.any(pc.match_substring(texts, ".")).as_py():
                return None
            texts = pc.replace_substring(texts, ",", ".")
        return texts


PLAIN = Separators()


@dataclass
class _Evidence:
    """A cell for each form in which numbers have a mark, with its column.

    `decimal`: it is a decimal separator, as in 3,5. `once`: one group of three digits follows, as in 753,843, which has
    two readings. `grouped`: it separates groups, as in 1,204,332 or, before the other mark, in 1,204.5.
    """

    decimal: tuple[str, str] | None = None
    once: tuple[str, str] | None = None
    grouped: tuple[str, str] | None = None


def find_separators(columns: Iterable[tuple[str, Texts]], delimiter: str, options: ReadOptions) -> Separators:
    """Return the separators of numbers in named columns of texts; those in `options` are kept.

    A mark separates groups where a number has two of them, where the other mark follows it, or where the other mark is
    the decimal separator. Commas in a file that commas delimit are never decimal. Raises InvalidDataError where marks
    contradict each other, or each has three digits after it, so that every number has two readings; InvalidRequestError
    where both separators are given and equal.
    """
    decimal, thousands = options.decimal, options.thousands
    if decimal is not None and thousands is not None:
        if decimal == thousands:
            detail = f"Expected a `thousands` other than `decimal`, got {thousands!r} for both."
            raise InvalidRequestError(detail, [Fault(detail, pointer="/thousands")])
        return Separators(decimal, thousands)
    texts = [*columns]
    comma, point = (_evidence(texts, mark, thousands or "") for mark in (",", "."))
    if decimal is None:
        decimal = OTHER.get(thousands or "") or _decimal(comma, point, delimiter)
    if thousands is None:
        other = comma if decimal == "." else point
        if other.grouped is not None or other.once is not None:
            thousands = OTHER[decimal]
    return Separators(decimal, thousands)


def _decimal(comma: _Evidence, point: _Evidence, delimiter: str) -> Decimal:
    if delimiter == ",":
        return "."
    for mark in (comma, point):
        if mark.decimal is not None and mark.grouped is not None:
            raise InvalidDataError(MIXED)
    is_comma = comma.decimal is not None or point.grouped is not None
    is_point = point.decimal is not None or comma.grouped is not None
    if is_comma and is_point:
        raise InvalidDataError(MIXED)
    if is_comma or is_point:
        return "," if is_comma else "."
    if comma.once is not None:
        raise _ambiguous(*comma.once, ",")
    if point.once is not None and delimiter == ";":
        raise _ambiguous(*point.once, ".")
    return "."


def _ambiguous(name: str, cell: str, mark: Decimal) -> InvalidDataError:
    small, large = cell.replace(",", "."), cell.replace(mark, "")
    detail = (
        f"`{name}` has {cell}, which is {small} with a decimal separator and {large} with a thousands separator; set "
        f'decimal="{mark}" or thousands="{mark}".'
    )
    return InvalidDataError(detail, [Fault(detail, column=name)])


def _evidence(columns: Iterable[tuple[str, Texts]], mark: Decimal, thousands: str) -> _Evidence:
    found = _Evidence()
    once = re.compile(rf"[+-]?[1-9][0-9]{{0,2}}{re.escape(mark)}[0-9]{{3}}")
    grouped = _grouped(mark, OTHER[mark])
    for name, given in _marked(columns, mark):
        cell = given.replace(thousands, "") if thousands in {" ", "'"} else given
        if once.fullmatch(cell):
            found.once = found.once or (name, cell)
        elif grouped.fullmatch(cell):
            found.grouped = found.grouped or (name, cell)
        elif is_number(cell.replace(mark, ".")) and OTHER[mark] not in cell:
            found.decimal = found.decimal or (name, cell)
    return found


def _marked(columns: Iterable[tuple[str, Texts]], mark: Decimal) -> Iterator[tuple[str, str]]:
    """Yield the cells that have a mark, without surrounding blanks, with the names of their columns."""
    for name, texts in columns:
        marked = pc.match_substring(texts, mark)
        if pc.any(marked).as_py():
            for cell in texts.filter(marked).to_pylist():
                yield name, str(cell).strip()


def _grouped(thousands: str, decimal: Decimal) -> "re.Pattern[str]":
    """Return the pattern of a number with groups of three digits."""
    return re.compile(rf"[+-]?[1-9][0-9]{{0,2}}(?:{re.escape(thousands)}[0-9]{{3}})+(?:{re.escape(decimal)}[0-9]*)?")
