"""Dates in the texts of a CSV file, of a format as of strptime, besides ISO 8601."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from itertools import count

from relevance_bayes.records.errors import Fault, InvalidRequestError
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
