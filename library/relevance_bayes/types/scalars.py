"""Scalars of records: numbers, strings, identifiers and times from JSON, and their bounds."""

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from types import NoneType
from typing import TypeAlias
from uuid import UUID

from relevance_bayes.types.annotations import Bounds
from relevance_bayes.types.refusals import refused

Decoder: TypeAlias = Callable[[object], object]

PLAIN = frozenset({NoneType, bool, int, float, str})

MAX_EXACT = 2**53

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?")


def _integer(value: object) -> int:
    if type(value) is float and value.is_integer() and abs(value) <= MAX_EXACT:
        return int(value)
    if type(value) is not int:
        raise refused("a valid integer", value, other_kind=True)
    return value


def _number(value: object) -> float:
    if isinstance(value, float):
        return value
    if type(value) is not int:
        raise refused("a valid number", value, other_kind=True)
    try:
        return float(value)
    except OverflowError:
        raise refused("a finite number", value) from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise refused("a valid string", value, other_kind=True)
    return value


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise refused("a valid boolean", value, other_kind=True)
    return value


def _uuid(value: object) -> UUID:
    try:
        return UUID(_text(value))
    except ValueError as error:
        raise refused("a UUID as text", value) from error


def _datetime(value: object) -> datetime:
    text = _text(value)
    try:
        if _TIME.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    raise refused("an ISO 8601 date and time", value)


SCALARS: Mapping[object, Decoder] = {
    int: _integer,
    float: _number,
    str: _text,
    bool: _boolean,
    UUID: _uuid,
    datetime: _datetime,
    object: lambda value: value,
}


def enumeration(kind: type[Enum]) -> Decoder:
    """Return the function that reads the values of an enumeration."""
    values: dict[object, object] = {one.value: one for one in kind}

    def decode(value: object) -> object:
        if not isinstance(value, str) or value not in values:
            raise refused(f"one of {', '.join(map(repr, values))}", value)
        return values[value]

    return decode


def one_of_values(values: Sequence[object]) -> Decoder:
    """Return the function that reads only these values."""
    known = {(type(one), one): one for one in values}
    expected = " or ".join(repr(one) for one in values)

    def decode(value: object) -> object:
        if type(value) is str and (str, value) in known:
            return value
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) not in PLAIN or (type(value), value) not in known:
            raise refused(expected, value, other_kind=True)
        return value

    return decode


def bounded(decode: Decoder, bounds: Bounds) -> Decoder:
    """Return the decoder with a check of these bounds."""
    checks = list(_checks(bounds))
    if not checks:
        return decode
    minimum, maximum = interval(bounds)
    kind = float if decode is _number else int
    is_fast = decode in {_number, _integer} and bounds.updated(NUMERIC.stated) == NUMERIC

    def within(value: object) -> object:
        if is_fast and type(value) is kind and minimum <= value <= maximum:
            return value
        found = decode(value)
        for expected, holds in checks:
            if not holds(found):
                raise refused(expected, value)
        return found

    return within


NUMERIC = Bounds(gt=0.0, ge=0.0, lt=0.0, le=0.0, allow_inf_nan=False)


def interval(bounds: Bounds) -> tuple[float, float]:
    """Return the least and the greatest finite float within these bounds."""
    minimum, maximum = -sys.float_info.max, sys.float_info.max
    if bounds.gt is not None:
        minimum = max(minimum, math.nextafter(bounds.gt, math.inf))
    if bounds.ge is not None:
        minimum = max(minimum, bounds.ge)
    if bounds.lt is not None:
        maximum = min(maximum, math.nextafter(bounds.lt, -math.inf))
    if bounds.le is not None:
        maximum = min(maximum, bounds.le)
    return minimum, maximum


def _checks(bounds: Bounds) -> Iterator[tuple[str, Callable[[object], bool]]]:
    """Yield the expectation, and the check, for each bound."""
    gt, ge, lt, le = bounds.gt, bounds.ge, bounds.lt, bounds.le
    if not bounds.allow_inf_nan:
        yield "a finite number", lambda value: math.isfinite(_number(value))
    if gt is not None:
        yield f"greater than {gt:g}", lambda value: _real(value) > gt
    if ge is not None:
        yield f"greater than or equal to {ge:g}", lambda value: _real(value) >= ge
    if lt is not None:
        yield f"less than {lt:g}", lambda value: _real(value) < lt
    if le is not None:
        yield f"less than or equal to {le:.17g}", lambda value: _real(value) <= le
    if bounds.pattern is not None:
        pattern = re.compile(bounds.pattern)
        yield f"a text that matches {bounds.pattern}", lambda value: pattern.search(_text(value)) is not None
    minimum, maximum = bounds.min_length, bounds.max_length
    if minimum is not None:
        yield f"of length {minimum} at least", lambda value: _length(value) >= minimum
    if maximum is not None:
        yield f"of length {maximum} at most", lambda value: _length(value) <= maximum


def _length(value: object) -> int:
    return len(value) if isinstance(value, str | list | tuple) else 0


def _real(value: object) -> float:
    """Return a number; an integer keeps its digits."""
    return value if isinstance(value, int | float) else math.nan
