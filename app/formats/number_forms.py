"""Numbers in texts: missing-value markers, separators, units, currencies, percent signs and parentheses."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from app.formats.cells import shown
from app.formats.format import ReadOptions
from relevance_bayes.records.errors import Ambiguity, Fault, InvalidDataError, InvalidRequestError, PossibleReading
from relevance_bayes.records.values import DecimalMark, NumberForm, ThousandsMark
from relevance_bayes.tables.kinds import (
    MAX_CELL_FAULTS,
    MAX_NUMBER_LENGTH,
    MISSING_TEXTS,
    SHARE_OF_CELL_FAULTS,
    is_number,
)


@dataclass(frozen=True)
class Markers:
    """The texts that mean a missing value: in any case.

    `listed`: they are the request's own, which count in texts too; so do those in `always`.
    """

    texts: frozenset[str] = MISSING_TEXTS
    listed: bool = False
    always: frozenset[str] = frozenset()

    @property
    def of_texts(self) -> "Markers":
        """Return the markers in columns of texts."""
        return Markers(self.texts if self.listed else self.always)

    def has(self, text: str) -> bool:
        """Return whether a text without surrounding blanks means a missing value."""
        return text.lower() in self.texts

    def without(self, texts: pa.StringArray) -> tuple[pa.StringArray, Mapping[str, int]]:
        """Return cells without surrounding blanks, null where they are empty or markers, and the counts of markers."""
        trimmed = pc.utf8_trim_whitespace(texts)
        known = pa.array(sorted({*self.texts, ""}), pa.string())
        is_missing = pc.is_in(pc.utf8_lower(trimmed), value_set=known)
        if not pc.any(is_missing).as_py():
            return trimmed, {}
        counts = Counter(str(text) for text in trimmed.filter(is_missing).to_pylist() if text)
        present: pa.StringArray = pc.if_else(is_missing, pa.scalar(None, pa.string()), trimmed)
        return present, counts


DEFAULT = Markers()

NOT_AVAILABLE = "#n/a"
"""The error of a spreadsheet for a value that is not there, in lower case."""


def markers_of(options: ReadOptions) -> Markers:
    """Return the markers of a request, which replace the defaults; in a workbook an error #N/A is always missing."""
    always = frozenset({NOT_AVAILABLE}) if options.has_errors else frozenset[str]()
    if options.missing_values is None:
        return replace(DEFAULT, always=always)
    listed = frozenset(text.strip().lower() for text in options.missing_values)
    return Markers(listed | always, listed=True, always=always)


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


def _find_column_separators(
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


BLANKS = " \t\u00a0\u2007\u2009\u202f"
APOSTROPHES = "'\u2019"
MINUS = "-\u2212\u2013"

CURRENCIES = frozenset(
    {
        *("USD", "EUR", "GBP", "JPY", "CHF", "CNY", "RMB", "INR", "BRL", "CAD", "AUD", "NZD", "SEK", "NOK"),
        *("DKK", "PLN", "CZK", "HUF", "RUB", "TRY", "ZAR", "MXN", "KRW", "SGD", "HKD", "THB", "IDR", "ILS"),
        *("kr", "Kr", "kr.", "Kr.", "Fr.", "Fr", "SFr.", "Rs", "Rs.", "zł", "Kč", "Ft"),
    }
)
UNITS = frozenset(
    {
        *("kg", "g", "mg", "t", "lb", "lbs", "oz", "km", "m", "cm", "mm", "mi", "ft", "in", "yd", "l", "ml"),
        *("h", "hr", "hrs", "min", "s", "sec", "ms", "d", "W", "kW", "MW", "V", "A", "Hz", "kHz", "MHz", "GHz"),
        *("B", "KB", "MB", "GB", "TB", "kB", "K", "M", "k", "bn", "mn", "pt", "px", "°C", "°F", "°", "°K"),
        *("m²", "m³", "km²", "km/h", "mph", "rpm", "dB", "Pa", "hPa", "kPa", "bar", "N", "J", "kJ", "cal"),
        *("kcal",),
    }
)
"""Units that are known without a blank before them."""

NO_UNITS = frozenset(
    {
        *("am", "pm", "a.m.", "p.m.", "st", "nd", "rd", "th", "x", "e", "jan", "feb", "mar", "apr", "may"),
        *("jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "january", "february", "march", "april"),
        *("june", "july", "august", "september", "october", "november", "december", "bc", "ad"),
    }
)
PERCENT = frozenset({"%", "\u2030"})

_SIGNS = re.escape(MINUS) + "+"
_CORE = rf"[0-9](?:[0-9.,{BLANKS}{APOSTROPHES}]*[0-9])?[.,]?(?:[eE][+-]?[0-9]+)?|[.,][0-9]+"
_PREFIX = r"[A-Za-zÀ-ž]{0,3}\.?[^\w\s.,'’()+\-−–?*#/:;&@_\"<>=!~^|\\%0-9]?|"
_SUFFIX = r"[^\s0-9()+\-−–.,'’\"#@&;:?!*<>=|\\_][^\s0-9()\"#@&;:?!*<>=|\\_]{0,11}|"
_DECORATED = re.compile(
    rf"(?P<open>\()?(?P<first>[{_SIGNS}])?[{BLANKS}]*+(?P<prefix>{_PREFIX})[{BLANKS}]*+(?P<second>[{_SIGNS}])?[{BLANKS}]*+"
    rf"(?P<core>{_CORE})(?P<gap>[{BLANKS}]*)(?P<suffix>{_SUFFIX})(?P<last>[{re.escape(MINUS)}])?(?P<close>\))?"
)

Unit = tuple[str, str]
"""The texts before and after a number."""


@dataclass(frozen=True)
class Form:
    """A form of numbers, which reads them from texts."""

    form: NumberForm

    @cached_property
    def _pattern(self) -> str:
        form = self.form
        decimal = re.escape(form.decimal)
        mark = {None: None, " ": f"[{BLANKS}]", "'": f"[{APOSTROPHES}]"}.get(form.thousands, f"[{form.thousands}]")
        groups = "" if mark is None else rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+|"
        core = rf"(?:{groups}[0-9]+)(?:{decimal}[0-9]*)?(?:[eE][+-]?[0-9]+)?|{decimal}[0-9]+"
        sign, blanks = f"[{_SIGNS}]", f"[{BLANKS}]*"
        prefix = f"{re.escape(form.prefix)}{blanks}" if form.prefix else ""
        return (
            rf"^(?P<open>\(?)(?P<first>{sign}?){blanks}{prefix}(?:(?P<second>{sign}){blanks})?"
            rf"(?P<core>{core}){blanks}{re.escape(form.suffix)}(?P<last>[{re.escape(MINUS)}]?)(?P<close>\)?)$"
        )

    @cached_property
    def _compiled(self) -> "re.Pattern[str]":
        return re.compile(self._pattern)

    def pointed(self, text: str) -> str | None:
        """Return a text without surrounding blanks as a number with a point, None where it has another form."""
        found = self._compiled.match(text) if len(text) <= MAX_NUMBER_LENGTH else None
        if found is None or bool(found["open"]) != bool(found["close"]):
            return None
        signs = [one for one in (found["first"], found["second"], found["last"], found["open"]) if one]
        if len(signs) > 1:
            return None
        return ("-" if signs and signs[0] != "+" else "") + self._plain(found["core"])

    def _plain(self, core: str) -> str:
        for mark in self._marks:
            core = core.replace(mark, "")
        return core.replace(",", ".") if self.form.decimal == "," else core

    @property
    def _marks(self) -> str:
        thousands = self.form.thousands
        return {None: "", " ": BLANKS, "'": APOSTROPHES}.get(thousands, thousands or "")

    def values(self, texts: pa.StringArray) -> NDArray[np.float64] | None:
        """Return cells without surrounding blanks as numbers (N,), NaN where null; None where one has another form."""
        parts = pc.extract_regex(texts, pattern=self._pattern)
        if parts.null_count > texts.null_count:
            return None
        read = {name: _part(parts, name) for name in ("first", "second", "last", "open", "close", "core")}
        signs = np.sum([_lengths(read[name]) for name in ("first", "second", "last", "open")], axis=0)
        if bool(np.any(signs > 1)) or bool(np.any(_lengths(read["open"]) != _lengths(read["close"]))):
            return None
        core = read["core"]
        for mark in self._marks:
            core = pc.replace_substring(core, mark, "")
        if self.form.decimal == ",":
            core = pc.replace_substring(core, ",", ".")
        is_plus = _has_plus(read["first"]) | _has_plus(read["second"])
        magnitudes = np.asarray(pc.cast(core, pa.float64()).to_numpy(zero_copy_only=False), np.float64)
        return np.where((signs > 0) & ~is_plus, -magnitudes, magnitudes)


def _part(parts: pa.StructArray, name: str) -> pa.StringArray:
    """Return a group of the matches of a pattern (N,)."""
    found: object = pc.struct_field(parts, name)
    if not isinstance(found, pa.StringArray):
        raise TypeError(f"expected texts, got {type(found).__name__}")
    return found


def _lengths(texts: pa.StringArray) -> NDArray[np.int32]:
    """Return the lengths of texts in characters (N,), 0 where null."""
    return np.asarray(pc.utf8_length(texts).fill_null(0).to_numpy(zero_copy_only=False), np.int32)


def _has_plus(texts: pa.StringArray) -> NDArray[np.bool_]:
    """Return which texts are a plus sign (N,)."""
    return np.asarray(pc.match_substring(texts, "+").fill_null(False).to_numpy(zero_copy_only=False), np.bool_)


def find_form(
    name: str,
    texts: Sequence[str],
    delimiter: str,
    separators: Separators,
    *,
    is_given: bool,
    rows: Sequence[int] = (),
) -> Form | None:
    """Return the form of a column's texts, without blanks and markers, of which most are numbers in one such form.

    None for plain numbers. `separators` are those of the file's plain numbers, which a request gives where `is_given`.
    At least 95 percent of the texts have the form, or all but three distinct ones where its unit is a currency or
    percent. Raises InvalidDataError where numbers of a column have units that differ, with a fault for each of two rows
    where `rows` has those of the texts, and where they have two readings.
    """
    found = [(text, match) for text in texts if (match := _decorated(text)) is not None]
    found = [(text, match) for text, match in found if _is_unit(match) and bool(match["open"]) == bool(match["close"])]
    if 2 * len(found) < len(texts) or not found:
        return None
    counts = Counter(_unit(match) for _, match in found)
    (unit, count), *others = counts.most_common()
    strong = all(map(_is_strong, counts))
    if others and strong and len(found) >= (1.0 - SHARE_OF_CELL_FAULTS) * len(texts) and _is_mixed(texts, counts):
        raise _mixed(name, texts, found, unit, rows)
    if not _is_enough(texts, {text for text, match in found if _unit(match) == unit}, count, strong=_is_strong(unit)):
        return None
    cores = [match["core"] for _, match in found if _unit(match) == unit]
    read = separators if is_given else _separators(name, cores, delimiter, separators)
    if read is None:
        return None
    form = Form(NumberForm(*unit, read.decimal, read.thousands))
    fitting = [text for text in texts if form.pointed(text) is not None]
    if all(map(separators.is_number, fitting)):
        return None
    return form if _is_enough(texts, set(fitting), len(fitting), strong=_is_strong(unit)) else None


def _decorated(text: str) -> "re.Match[str] | None":
    return _DECORATED.fullmatch(text) if len(text) <= MAX_NUMBER_LENGTH else None


def _is_enough(texts: Sequence[str], fitting: set[str], count: int, *, strong: bool) -> bool:
    if count >= (1.0 - SHARE_OF_CELL_FAULTS) * len(texts):
        return True
    return strong and 2 * count >= len(texts) and len({*texts} - fitting) <= MAX_CELL_FAULTS


def _is_mixed(texts: Sequence[str], counts: Mapping[Unit, int]) -> bool:
    """Return whether units differ in more cells than a column may have errors."""
    return len(texts) - max(counts.values()) > SHARE_OF_CELL_FAULTS * len(texts)


def _is_unit(found: "re.Match[str]") -> bool:
    """Return whether what is before and after a number is a unit or nothing."""
    prefix, suffix = found["prefix"].strip(), found["suffix"].strip()
    if prefix and not _is_currency(prefix):
        return False
    if not suffix or suffix in PERCENT or _is_currency(suffix) or suffix in UNITS:
        return True
    is_word = suffix[0].isalpha() and all(one.isalpha() or one in "./²³°-" for one in suffix)
    return bool(found["gap"]) and is_word and suffix.lower() not in NO_UNITS


def _is_currency(text: str) -> bool:
    return text in CURRENCIES or any(unicodedata.category(one) == "Sc" for one in text)


def _is_strong(unit: Unit) -> bool:
    prefix, suffix = unit
    return bool(prefix) or not suffix or suffix in PERCENT or _is_currency(suffix)


def _unit(found: "re.Match[str]") -> Unit:
    return found["prefix"].strip(), found["suffix"].strip()


def _mixed(
    name: str, texts: Sequence[str], found: Sequence[tuple[str, "re.Match[str]"]], unit: Unit, rows: Sequence[int]
) -> InvalidDataError:
    one = next(text for text, match in found if _unit(match) == unit)
    other = next(text for text, match in found if _unit(match) != unit)
    detail = (
        f"`{name}` has numbers in two forms, {shown(one)} and {shown(other)}, which may mean different things: write "
        f"them in one, or declare the column as text (kinds={name}:category)."
    )
    if not rows:
        return InvalidDataError(detail, [Fault(detail, column=name)])
    numbers = ((text, rows[texts.index(text)]) for text in (one, other))
    return InvalidDataError(
        detail, [Fault(f"{shown(text)} has one of the forms.", row=row, column=name) for text, row in numbers]
    )


def _separators(name: str, cores: Sequence[str], delimiter: str, separators: Separators) -> Separators | None:
    """Return the separators of numbers without units; None where they have no common ones."""
    for marks, mark in ((BLANKS, " "), (APOSTROPHES, "'")):
        if any(one in core for core in cores for one in marks):
            thousands: ThousandsMark = " " if mark == " " else "'"
            joined = ["".join(one for one in core if one not in marks) for core in cores]
            decimals = {one for core in joined for one in core if one in OTHER}
            if len(decimals) > 1:
                return None
            decimal: DecimalMark = "," if decimals == {","} else "."
            return Separators(decimal, thousands)
    return _find_column_separators(name, cores, delimiter, separators)
