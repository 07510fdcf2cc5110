"""Dates in the texts of a CSV file, and their formats, as of strptime, that are found in it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from itertools import count
from typing import TypeAlias

import pyarrow as pa

from app.formats.number_forms import DEFAULT, Markers
from relevance_bayes.records.errors import Ambiguity, Fault, InvalidDataError, InvalidRequestError, PossibleReading
from relevance_bayes.tables.kinds import seconds_of, seconds_of_moment

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

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
    "a": f"(?P<a>{'|'.join(name[:3] for name in DAYS)})",
    "A": f"(?P<A>{'|'.join(DAYS)})",
    "z": r"(?P<z>[+-][0-9]{2}(?::?[0-9]{2})?|z|utc|gmt)",
    "%": "%",
}
"""Patterns by the directive of strptime that reads them; names are English, in any case."""

PARTS = (("d", "day"), ("mbB", "month"), ("yY", "year"))
"""The directives of which a format needs one each."""

MAX_CHARACTERS = 64


@dataclass(frozen=True)
class DateFormat:
    """A format of dates, as of strptime, such as %d.%m.%Y; ISO 8601 is read too, and alone where there is none."""

    pattern: str | None = None

    def seconds(self, text: str) -> float | None:
        """Return seconds since 1970 UTC, None for a text that is no date; without an offset it is UTC."""
        found = seconds_of(text)
        return found if found is not None or self.pattern is None else _read(self.pattern, text)

    def reads(self, text: str) -> bool:
        """Return whether a text is a date."""
        return self.seconds(text) is not None

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
    if offset is None or offset[0] not in "+-":
        return UTC
    hours, minutes = int(offset[1:3]), int(offset[-2:] if len(offset) > 3 else 0)
    return timezone((1 if offset[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes))


FIRST_ROWS = 20
"""The rows of which one has a date in a column of dates: all texts of a wide table would take a seventh of its time."""

MIN_SHARE = 0.5
MIN_SHARE_OF_SHORT_YEARS = 0.95
"""The shares of a column's texts that are dates; numbers of versions look like dates with two digits of the year."""

_CLOCK = (
    r"(?:(?P<gap>T| {1,2})(?P<hour>[0-9]{1,2}):[0-9]{2}(?P<second>:[0-9]{2}(?P<fraction>\.[0-9]{1,6})?)?"
    r"(?P<noon> ?[ap]m)?(?P<zone> ?(?:z|utc|gmt|[+-][0-9]{2}(?::?[0-9]{2})?))?)?"
)
_FULL, _SHORT = "|".join(MONTHS), "|".join(name[:3] for name in MONTHS)
_MONTH = f"(?P<month>{_FULL}|{_SHORT})"
_DAY_NAME = f"(?:(?P<name>{'|'.join(DAYS)}|{'|'.join(day[:3] for day in DAYS)})(?P<after>,? ))?"
_MARK = r"(?:[./-]|\.? |, ?)"
_NUMERIC = re.compile(
    rf"(?P<one>[0-9]{{1,2}})(?P<mark>[./-])(?P<two>[0-9]{{1,2}})(?P<other>[./-])(?P<year>[0-9]{{4}}|[0-9]{{2}}){_CLOCK}",
    re.ASCII | re.IGNORECASE,
)
_NAMED = tuple(
    re.compile(f"{_DAY_NAME}{pattern}{_CLOCK}", re.ASCII | re.IGNORECASE)
    for pattern in (
        rf"(?P<day>[0-9]{{1,2}})(?P<mark>{_MARK}|){_MONTH}(?P<other>{_MARK}|)(?P<year>[0-9]{{4}}|[0-9]{{2}})",
        rf"{_MONTH}(?P<mark>{_MARK})(?P<day>[0-9]{{1,2}})(?P<other>{_MARK})(?P<year>[0-9]{{4}}|[0-9]{{2}})",
        rf"(?P<year>[0-9]{{4}})(?P<mark>{_MARK}){_MONTH}(?P<other>{_MARK})(?P<day>[0-9]{{1,2}})",
        r"(?P<year>[0-9]{4})(?P<mark>[./-])(?P<numeral>[0-9]{1,2})(?P<other>[./-])(?P<day>[0-9]{1,2})",
    )
)

Texts: TypeAlias = "pa.ChunkedArray[pa.StringScalar]"


@dataclass(frozen=True)
class _Order:
    """An order of day, month and year in dates of digits, as of d, m and y, and its name in a message."""

    parts: str
    title: str

    def fits(self, numbers: Sequence[tuple[int, int, int]]) -> bool:
        """Return whether no month is above 12 and no day above 31."""
        month, day = self.parts.index("m"), self.parts.index("d")
        return all(1 <= one[month] <= 12 and 1 <= one[day] <= 31 for one in numbers)

    def format_of(self, found: "re.Match[str]") -> DateFormat:
        """Return the format of dates like an example."""
        year = "%Y" if len(found["year"]) == 4 else "%y"
        one, two, three = (year if part == "y" else f"%{part}" for part in self.parts)
        return DateFormat(f"{one}{found['mark']}{two}{found['other']}{three}{_clock(found)}")


DAY_FIRST = _Order("dmy", "the day first")
MONTH_FIRST = _Order("mdy", "the month first")
YEAR_FIRST = _Order("ymd", "the year first")


def find_date_formats(
    columns: Sequence[tuple[str, Texts]], given: DateFormat, markers: Markers = DEFAULT
) -> Mapping[str, DateFormat]:
    """Return the formats of columns by name; of columns that are not here, dates are ISO 8601.

    Without a given one, a column half of whose texts at least, and one of the first, are like 31.12.2025 or 31-Dec-2025
    has their format; of the former, the order is that of its own texts or else of the other columns. Raises
    InvalidDataError where two orders are possible.
    """
    if given.pattern is not None:
        return {name: given for name, _ in columns}
    found: dict[str, DateFormat] = {}
    undecided: list[tuple[str, tuple[_Order, ...], list[re.Match[str]]]] = []
    decided: set[str] = set()
    for name, texts in columns:
        first = [str(cell).strip() for cell in texts.slice(0, FIRST_ROWS).to_pylist() if cell is not None]
        if (named := next(filter(None, map(_named, first)), None)) is not None:
            present = _present(texts, markers)
            best = max((named, _with_full_names(named)), key=lambda one: sum(map(one.reads, present)))
            if sum(map(best.reads, present)) >= MIN_SHARE * len(present):
                found[name] = best
        elif any(map(_NUMERIC.fullmatch, first)):
            present = _present(texts, markers)
            dates = [match for text in present if (match := _NUMERIC.fullmatch(text)) is not None]
            orders = _orders(dates, len(present))
            if len(orders) == 1:
                found[name] = orders[0].format_of(dates[0])
                decided.add(orders[0].parts)
            elif orders:
                undecided.append((name, orders, dates))
    for name, orders, dates in undecided:
        others = [order for order in orders if decided == {order.parts}]
        found[name] = (others[0] if others else _one_of(name, orders, dates)).format_of(dates[0])
    return found


def _present(texts: Texts, markers: Markers) -> list[str]:
    stripped = [str(cell).strip() for cell in texts.to_pylist() if cell is not None]
    return [text for text in stripped if text and not markers.has(text)]


def _orders(dates: Sequence["re.Match[str]"], present: int) -> tuple[_Order, ...]:
    """Return the possible orders of dates of digits, none where they are too few or no order is common to them."""
    short = all(len(match["year"]) == 2 for match in dates)
    if len(dates) < (MIN_SHARE_OF_SHORT_YEARS if short else MIN_SHARE) * present:
        return ()
    numbers = [(int(match["one"]), int(match["two"]), int(match["year"])) for match in dates]
    orders = [order for order in (DAY_FIRST, MONTH_FIRST) if order.fits([(one, two, 1) for one, two, _ in numbers])]
    first, last = ({one[place] for one in numbers} for place in (0, 2))
    if short and YEAR_FIRST.fits(numbers) and len(first) <= len(last):
        orders.append(YEAR_FIRST)
    return tuple(orders)


def _one_of(name: str, orders: Sequence[_Order], dates: Sequence["re.Match[str]"]) -> _Order:
    """Return the only reading of all dates; raises InvalidDataError where two differ."""
    one = orders[0]
    for other in orders[1:]:
        for match in dates:
            text = match[0]
            read = [order.format_of(match).seconds(text) for order in (one, other)]
            if read[0] != read[1]:
                raise _ambiguous(name, match, (one, other))
    return one


def _ambiguous(name: str, found: "re.Match[str]", orders: Sequence[_Order]) -> InvalidDataError:
    formats = [order.format_of(found) for order in orders]
    read = [datetime.fromtimestamp(one.seconds(found[0]) or 0.0, UTC).date().isoformat() for one in formats]
    readings = (
        PossibleReading("date_format", one.pattern or "", f"{day} with {order.title}")
        for one, day, order in zip(formats, read, orders, strict=True)
    )
    ambiguity = Ambiguity(found[0], tuple(readings))
    detail = f"`{name}` {ambiguity.detail}"
    return InvalidDataError(detail, [Fault(detail, column=name, ambiguity=ambiguity)])


def _named(text: str) -> DateFormat | None:
    """Return the format of a date with the name of its month, or with its year first; None for ISO 8601 and others."""
    if not text or not text[-1].isalnum() or seconds_of(text) is not None:
        return None
    for pattern in _NAMED:
        if (found := pattern.fullmatch(text)) is not None:
            made = DateFormat(_pattern(found))
            return made if made.seconds(text) is not None else None
    return None


def _pattern(found: "re.Match[str]") -> str:
    """Return the format of a date by the groups of its match, in their order."""
    groups = found.groupdict()
    directives = {"day": "%d", "numeral": "%m"}
    if groups.get("year"):
        directives["year"] = "%Y" if len(groups["year"]) == 4 else "%y"
    if groups.get("month"):
        directives["month"] = "%b" if len(groups["month"]) == 3 else "%B"
    if groups.get("name"):
        directives["name"] = "%a" if len(groups["name"]) == 3 else "%A"
    names = [name for name in ("name", "after", "day", "month", "numeral", "year", "mark", "other") if groups.get(name)]
    ordered = sorted(names, key=found.start)
    return "".join(directives.get(name, groups[name]) for name in ordered) + _clock(found)


def _clock(found: "re.Match[str]") -> str:
    """Return the format of the time of day after a date."""
    if found["hour"] is None:
        return ""
    noon, zone = found["noon"] or "", found["zone"] or ""
    parts = [found["gap"], "%I" if noon else "%H", ":%M"]
    parts += [":%S"] * bool(found["second"]) + [".%f"] * bool(found["fraction"])
    parts += [" " * noon.startswith(" ") + "%p"] * bool(noon) + [" " * zone.startswith(" ") + "%z"] * bool(zone)
    return "".join(parts)


def _with_full_names(named: DateFormat) -> DateFormat:
    """Return a format with full names of months: May is both."""
    return DateFormat((named.pattern or "").replace("%b", "%B"))
