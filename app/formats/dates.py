"""Dates in the texts of a CSV file, of a given or of a detected format, besides ISO 8601."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from itertools import count
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from relevance_bayes.tables.kinds import seconds_of, seconds_of_moment
from relevance_bayes.types.errors import Fault, InvalidDataError, InvalidRequestError

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

DIRECTIVES: Mapping[str, str] = {
    "d": r"(?P<d>[0-9]{1,2})",
    "m": r"(?P<m>[0-9]{1,2})",
    "b": f"(?P<b>{'|'.join(name[:3] for name in MONTHS)})",
    "B": f"(?P<B>{'|'.join(MONTHS)})",
    "Y": r"(?P<Y>[0-9]{4})",
    "y": r"(?P<y>[0-9]{2})",
    "H": r"(?P<H>[0-9]{1,2})",
    "I": r"(?P<I>[0-9]{1,2})",
    "p": r"(?P<p>am|pm)",
    "M": r"(?P<M>[0-9]{2})",
    "S": r"(?P<S>[0-9]{2})",
    "f": r"(?P<f>[0-9]{1,6})",
    "z": r"(?P<z>[+-][0-9]{2}:?[0-9]{2}|z)",
    "%": "%",
}
"""Patterns by the directive of strptime that reads them; names are English, in any case."""

PARTS = (("d", "day"), ("mbB", "month"), ("yY", "year"))
"""The directives of which a format needs one each."""

MAX_CHARACTERS = 64

NUMERIC = r"^\s*[0-9]{1,2}([./-])[0-9]{1,2}[./-][0-9]{4}( [0-9]{1,2}:[0-9]{2}(:[0-9]{2})?)?\s*$"
DAY_FIRST = r"^\s*(1[3-9]|2[0-9]|3[01])[./-]"
MONTH_FIRST = r"^\s*[0-9]{1,2}[./-](1[3-9]|2[0-9]|3[01])[./-]"

FIRST_ROWS = 20
"""The rows of which one has a date in a column of dates: all texts of a wide table would take a seventh of its time."""

Texts: TypeAlias = "pa.ChunkedArray[pa.StringScalar]"


@dataclass(frozen=True)
class DateFormat:
    """A format of dates, as of strptime, such as %d.%m.%Y; ISO 8601 is read too, and alone where there is none."""

    pattern: str | None = None

    def seconds(self, text: str) -> float | None:
        """Return seconds since 1970 UTC, None for a text that is no date; without an offset it is UTC."""
        found = seconds_of(text)
        return found if found is not None or self.pattern is None else _read(self.pattern, text)

    def iso(self, text: str) -> str:
        """Return a date of the format as ISO 8601, another text as it is: for the inference of kinds."""
        return "1970-01-01" if self.seconds(text) is not None else text


ISO = DateFormat()


def checked_format(pattern: str | None) -> DateFormat:
    """Return the format of a request; raises InvalidRequestError for one that has no date, or an unknown directive."""
    if pattern is None:
        return ISO
    detail = None
    directives = re.findall("%(.?)", pattern, re.DOTALL)
    if len(pattern) > MAX_CHARACTERS:
        detail = f"Expected at most {MAX_CHARACTERS} characters, got {len(pattern)}."
    elif unknown := [f"%{one}" for one in directives if one not in DIRECTIVES]:
        known = ", ".join(f"%{one}" for one in DIRECTIVES)
        detail = f"Expected a date format of {known}, got {unknown[0]}."
    elif missing := [name for several, name in PARTS if sum(directives.count(one) for one in several) != 1]:
        detail = f"Expected a date format with one {missing[0]}, such as %d.%m.%Y, got {pattern}."
    elif len({*directives} - {"%"}) < len([one for one in directives if one != "%"]):
        detail = f"Expected each part once, got {pattern}."
    if detail is not None:
        raise InvalidRequestError(detail, [Fault(detail, parameter="date_format")])
    return DateFormat(pattern)


def find_date_formats(columns: Sequence[tuple[str, Texts]], given: DateFormat) -> Mapping[str, DateFormat]:
    """Return the formats of columns by name; of columns that are not here, dates are ISO 8601.

    Without a given one, a column half of whose texts at least, and one of the first, are like 31.12.2025 has the day
    first or the month first, by its own texts or else by those of the other columns. Raises InvalidDataError where both
    are possible.
    """
    if given.pattern is not None:
        return {name: given for name, _ in columns}
    found: dict[str, DateFormat] = {}
    undecided: list[tuple[str, str]] = []
    for name, texts in columns:
        if not any(map(_is_numeric, texts.slice(0, FIRST_ROWS).to_pylist())):
            continue
        dates = texts.filter(pc.match_substring_regex(texts, NUMERIC))
        if 2 * len(dates) < len(texts) - texts.null_count:
            continue
        day, month = (
            bool(pc.any(pc.match_substring_regex(dates, first)).as_py()) for first in (DAY_FIRST, MONTH_FIRST)
        )
        example = str(dates[0].as_py()).strip()
        if day and month:
            continue
        if day or month:
            found[name] = _numeric(example, day_first=day)
        else:
            undecided.append((name, example))
    orders = {one.pattern is not None and one.pattern.startswith("%d") for one in found.values()}
    for name, example in undecided:
        if len(orders) != 1:
            raise _ambiguous(name, example)
        found[name] = _numeric(example, day_first=orders == {True})
    return found


def _is_numeric(text: object) -> bool:
    return isinstance(text, str) and re.match(NUMERIC, text) is not None


def _numeric(example: str, *, day_first: bool) -> DateFormat:
    """Return the format of texts like 31.12.2025 or 31.12.2025 12:30, with the separators of an example."""
    first, second = re.findall("[./-]", example)[:2]
    clock = ("", " %H:%M", " %H:%M:%S")[example.count(":")]
    return DateFormat(f"{'%d' if day_first else '%m'}{first}{'%m' if day_first else '%d'}{second}%Y{clock}")


def _ambiguous(name: str, example: str) -> InvalidDataError:
    day, month = (_numeric(example, day_first=first) for first in (True, False))
    read = [datetime.fromtimestamp(one.seconds(example) or 0.0, UTC).date().isoformat() for one in (day, month)]
    detail = (
        f"`{name}` has {example}, which is {read[0]} with the day first and {read[1]} with the month first; set "
        f'date_format="{day.pattern}" or date_format="{month.pattern}".'
    )
    return InvalidDataError(detail, [Fault(detail, column=name)])


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> "re.Pattern[str]":
    parts = re.split("(%.)", pattern)
    return re.compile(
        "".join(DIRECTIVES[part[1]] if len(part) == 2 and part[0] == "%" else re.escape(part) for part in parts),
        re.ASCII | re.IGNORECASE,
    )


def _read(pattern: str, text: str) -> float | None:
    matched = _compiled(pattern).fullmatch(text)
    if matched is None:
        return None
    part = matched.groupdict()
    try:
        return seconds_of_moment(
            datetime(
                _year(part),
                _month(part),
                int(part["d"]),
                _hour(part),
                int(part.get("M") or 0),
                int(part.get("S") or 0),
                int((part.get("f") or "0").ljust(6, "0")),
                _zone(part.get("z")),
            )
        )
    except ValueError:  # for example, 31 February
        return None


def _year(part: Mapping[str, str]) -> int:
    """Return the year; two digits are 1969 to 2068, as in POSIX."""
    if "Y" in part:
        return int(part["Y"])
    short = int(part["y"])
    return short + (1900 if short >= 69 else 2000)


def _month(part: Mapping[str, str]) -> int:
    if "m" in part:
        return int(part["m"])
    name = (part.get("B") or part["b"]).lower()
    return next(number for number, month in zip(count(1), MONTHS, strict=False) if month.startswith(name))


def _hour(part: Mapping[str, str]) -> int:
    if "I" in part:
        hour = int(part["I"])
        if not 1 <= hour <= 12:
            raise ValueError(f"{hour} is no hour before or after noon")
        return hour % 12 + (12 if (part.get("p") or "am").lower() == "pm" else 0)
    return int(part.get("H") or 0)


def _zone(offset: str | None) -> timezone:
    if offset is None or offset in "zZ":
        return UTC
    hours, minutes = int(offset[1:3]), int(offset[-2:])
    return timezone((1 if offset[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes))
