"""The decimal and thousands separators of the numbers in a CSV file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from app.formats.options import ReadOptions
from relevance_bayes.records.errors import Ambiguity, Fault, InvalidDataError, InvalidRequestError, PossibleReading
from relevance_bayes.records.values import DecimalMark, ThousandsMark
from relevance_bayes.tables.kinds import is_number

OTHER: Mapping[str, DecimalMark] = {",": ".", ".": ","}

MIXED = (
    "Some numbers have a decimal comma, others a point: set decimal= and thousands=, and declare the columns that are "
    "text."
)

Texts: TypeAlias = "pa.ChunkedArray[pa.StringScalar]"


@dataclass(frozen=True)
class Separators:
    """The separators of a file's numbers: `thousands`, between groups of three digits, is None where there are none."""

    decimal: DecimalMark = "."
    thousands: ThousandsMark | None = None

    def pointed(self, text: str) -> str:
        """Return a number's text with a decimal point and without groups; no number where it has other separators."""
        if self.thousands is not None and self.thousands in text:
            if _grouped(self.thousands, self.decimal).fullmatch(text) is None:
                return text + " "
            text = text.replace(self.thousands, "")
        if self.decimal == ".":
            return text
        return text.replace(",", ".") if "." not in text else text + " "

    def is_number(self, text: str) -> bool:
        """Return whether a text is a number with these separators."""
        return is_number(self.pointed(text))

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


_Form: TypeAlias = Literal["once", "grouped", "decimal"]
"""The form of a number with a mark: one group of three digits follows it, as in 753,843, which has two readings; it
separates groups, as in 1,204,332 or, before the other mark, in 1,204.5; or it is a decimal separator, as in 3,5."""

_Evidence: TypeAlias = Mapping[_Form, str]
"""A cell for each form that occurs."""


def find_separators(columns: Sequence[tuple[str, Texts]], delimiter: str, options: ReadOptions) -> Separators:
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
    texts = pa.chunked_array([chunk for _, column in columns for chunk in column.chunks], pa.string())
    comma = _evidence(texts, ",", thousands or "")
    point: _Evidence = {} if delimiter == "," and decimal is None else _evidence(texts, ".", thousands or "")
    if decimal is None:
        decimal = OTHER.get(thousands or "") or _decimal(columns, comma, point, delimiter)
    if thousands is None:
        other = comma if decimal == "." else point
        thousands = OTHER[decimal] if "grouped" in other or "once" in other else None
    return Separators(decimal, thousands)


def find_column_separators(
    name: str, cells: Sequence[str], delimiter: str, separators: Separators
) -> Separators | None:
    """Return the separators of one column's numbers, which may differ from those of the file's plain numbers.

    None where marks contradict each other. Raises InvalidDataError where every number has two readings.
    """
    texts = pa.chunked_array([pa.array(cells, pa.string())])
    comma, point = _evidence(texts, ",", ""), _evidence(texts, ".", "")
    is_comma, is_point = "decimal" in comma or "grouped" in point, "decimal" in point or "grouped" in comma
    if is_comma and is_point:
        return None
    if not is_comma and not is_point:
        if separators != PLAIN and not (separators.decimal == "." and delimiter == ","):
            return separators
        if "once" in comma and delimiter != ",":
            raise _ambiguous([(name, texts)], comma["once"], ",")
        if "once" in point and delimiter == ";":
            raise _ambiguous([(name, texts)], point["once"], ".")
    decimal: DecimalMark = "," if is_comma else "."
    other = point if is_comma else comma
    return Separators(decimal, OTHER[decimal] if "grouped" in other or "once" in other else None)


def is_numeric(texts: Texts) -> bool:
    """Return whether half of the cells at least have digits, marks and an exponent alone."""
    likely = texts.filter(pc.match_substring_regex(texts, r"^\s*[+-]?[0-9.,' ]*[0-9][.,]?([eE][+-]?[0-9]+)?\s*$"))
    return 2 * len(likely) >= len(texts) - texts.null_count


def _decimal(columns: Sequence[tuple[str, Texts]], comma: _Evidence, point: _Evidence, delimiter: str) -> DecimalMark:
    if delimiter == ",":
        return "."
    for mark in (comma, point):
        if "decimal" in mark and "grouped" in mark:
            raise InvalidDataError(MIXED)
    is_comma = "decimal" in comma or "grouped" in point
    is_point = "decimal" in point or "grouped" in comma
    if is_comma and is_point:
        raise InvalidDataError(MIXED)
    if is_comma or is_point:
        return "," if is_comma else "."
    if "once" in comma:
        raise _ambiguous(columns, comma["once"], ",")
    if "once" in point and delimiter == ";":
        raise _ambiguous(columns, point["once"], ".")
    return "."


def _ambiguous(columns: Sequence[tuple[str, Texts]], cell: str, mark: DecimalMark) -> InvalidDataError:
    name = next(
        name for name, texts in columns if pc.any(pc.equal(pc.utf8_trim_whitespace(texts), pa.scalar(cell))).as_py()
    )
    small, large = cell.replace(",", "."), cell.replace(mark, "")
    readings = (
        PossibleReading("decimal", mark, f"{small} with a decimal separator"),
        PossibleReading("thousands", mark, f"{large} with a thousands separator"),
    )
    ambiguity = Ambiguity(cell, readings)
    detail = f"`{name}` {ambiguity.detail}"
    return InvalidDataError(detail, [Fault(detail, column=name, ambiguity=ambiguity)])


def _evidence(texts: Texts, mark: DecimalMark, thousands: str) -> _Evidence:
    """Return a cell of each form; all are matched together, since they may be many."""
    cells = texts.filter(pc.match_substring(texts, mark))
    if not len(cells):
        return {}
    escaped = re.escape(mark)
    patterns: Mapping[_Form, str] = {
        "once": f"[+-]?[1-9][0-9]{{0,2}}{escaped}[0-9]{{3}}",
        "grouped": _grouped(mark, OTHER[mark]).pattern,
        "decimal": f"[+-]?([0-9]+{escaped}[0-9]*|{escaped}[0-9]+)([eE][+-]?[0-9]+)?",
    }
    if thousands in {" ", "'"}:
        cells = pc.replace_substring(cells, thousands, "")
    found: dict[_Form, str] = {}
    for form, pattern in patterns.items():
        fits = pc.match_substring_regex(cells, rf"^\s*{pattern}\s*$")
        place = pc.index(fits, True).as_py()
        if place >= 0:
            found[form] = str(cells[place].as_py()).strip()
            cells = cells.filter(pc.invert(fits))
    return found


def _grouped(thousands: str, decimal: DecimalMark) -> "re.Pattern[str]":
    """Return the pattern of a number with groups of three digits."""
    return re.compile(rf"[+-]?[1-9][0-9]{{0,2}}(?:{re.escape(thousands)}[0-9]{{3}})+(?:{re.escape(decimal)}[0-9]*)?")
