"""Records as plain JSON and read strictly from JSON, forms of responses, pages, and the faults of invalid values."""

import copy
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache, cached_property
from itertools import islice
from types import NoneType
from typing import Annotated, Generic, Self, TypeAlias, TypeVar
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from relevance_bayes.records.annotations import wire
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.errors import pointer as pointer_to

T = TypeVar("T")

Location = Sequence[int | str]

MAX_SHOWN = 60
"""The maximum number of characters of a value that a message repeats."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)

MAX_ENTRIES = 1_000
"""The maximum number of pydantic's errors that are turned into faults."""

AT = "at "
"""The prefix of an error type of our own; the rest of the type is the member that the error is about."""

MAX_CONVERSIONS = 100
"""The maximum number of validations of one value, each after integers written as 3.0 were converted."""

MAX_EXACT = 2**53


PLAIN = frozenset({NoneType, bool, int, float, str})

_SPARSE: dict[type, frozenset[str]] = {}
"""The members of a class, where it has any, that are left out where they are None."""


def encode(value: object) -> object:
    """Return a record as plain JSON, with the names of its members; arrays and values of other types are unchanged.

    Members with the metadata `exclude` are left out; so are those that are None where they have `exclude_if`, or in a
    class with `__omits_none__`.
    """
    kind: type = type(value)
    if kind in PLAIN:
        return value
    if (names := _written(kind)) is not None:
        members = {name: encode(getattr(value, name)) for name in names}
        if (sparse := _SPARSE.get(kind)) is not None:
            return {name: one for name, one in members.items() if one is not None or name not in sparse}
        return members
    match value:
        case dict():
            return {name: encode(inner) for name, inner in value.items()}
        case list() | tuple():
            return [encode(inner) for inner in value]
        case Enum():
            return value.value
        case UUID():
            return str(value)
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case _:
            return value


@cache
def _written(kind: type) -> tuple[str, ...] | None:
    """Return the members of a dataclass that are written; None for another type."""
    if not is_dataclass(kind):
        return None
    written = [member for member in fields(kind) if not member.metadata.get("exclude")]
    omits_none = getattr(kind, "__omits_none__", False)
    if sparse := {member.name for member in written if omits_none or "exclude_if" in member.metadata}:
        _SPARSE[kind] = frozenset(sparse)
    return tuple(member.name for member in written)


def validate(
    adapter: TypeAdapter[T],
    value: object,
    where: str = "",
    *,
    converts_integers: bool = True,
    arrays: Mapping[str, object] | None = None,
) -> T:
    """Return a JSON value as the adapter's type, strictly: no value is converted.

    With `converts_integers`, an integer may be written as 3.0, since JSON has one type of numbers. Of a document,
    {"array": name} stands for one of its `arrays`; raises KeyError for another name.

    Raises InvalidRequestError with pointers below `where`.
    """
    # Strict validation accepts UUIDs, times and tuples as texts and arrays only when it parses JSON text.
    for _ in range(MAX_CONVERSIONS):  # pydantic may report only the first error of a list
        try:
            return adapter.validate_json(json.dumps(value, allow_nan=False), strict=True, context=arrays)
        except RecursionError as error:
            raise InvalidRequestError("The value is nested too deeply.") from error
        except ValueError as error:
            if not isinstance(error, ValidationError):
                raise InvalidRequestError("The value has a number that is not finite.") from error
            converted = _with_integers(value, error) if converts_integers else None
            if converted is None:
                raise refusal(error, value, where) from error
        value = converted
    raise InvalidRequestError("Too many integers are written with a decimal point.")


def refusal(error: ValidationError, sent: object, where: str = "") -> InvalidRequestError:
    """Return the error of an invalid value: the first fault, and the number of places."""
    faults = faults_of(error, sent, where)
    found = error.error_count() if error.error_count() > MAX_ENTRIES else len(faults)
    more = f" (and {found - 1:,} more)" if found > 1 else ""
    detail = f"At {faults[0].pointer}: {faults[0].detail}" if faults[0].pointer else faults[0].detail
    return InvalidRequestError(f"{detail.removesuffix('.')}{more}.", faults)


def faults_of(error: ValidationError, sent: object, where: str = "") -> tuple[Fault, ...]:
    """Return one fault for each invalid place in `sent`, the JSON value at `where`.

    The time is linear in the number of errors, of which the first `MAX_ENTRIES` count.
    """
    details: dict[str, dict[str, bool]] = {}
    for entry in islice(error.errors(include_url=False, include_context=True), MAX_ENTRIES):
        place = where + pointer_to(tuple(place_of(entry, sent)))
        details.setdefault(place, {})[_what(entry)] = _is_of_another_kind(entry)
    # pydantic reports an error of a list as well where one of its items is invalid.
    parents = _parents(details)
    return tuple(
        Fault(" Or: ".join(_apt(given)), pointer=pointer)
        for pointer, given in details.items()
        if pointer not in parents
    )


def _parents(pointers: Iterable[str]) -> set[str]:
    """Return the pointers to all containers of the given places."""
    parents: set[str] = set()
    for pointer in pointers:
        parent = pointer
        while parent:
            parent = parent.rpartition("/")[0]
            if parent in parents:
                break
            parents.add(parent)
    return parents


def _is_of_another_kind(entry: ErrorDetails) -> bool:
    """Return whether a value has another type than expected, or is not the one allowed literal."""
    return entry["type"].endswith(("_type", "_parsing")) or entry["type"] == "literal_error"


def _apt(given: Mapping[str, bool]) -> list[str]:
    """Return the messages for a place: of several alternatives, those whose type the value has, if there is one."""
    apt = [detail for detail, of_another_kind in given.items() if not of_another_kind]
    return apt or [*given]


def place_of(entry: ErrorDetails, sent: object) -> Location:
    """Return the location of an error without the names of union members that pydantic inserts.

    Where such a name is also a field's, the value that pydantic reports as input decides.
    """
    kind, location = entry["type"], entry["loc"]
    absent = kind == "missing"
    inside = location[:-1] if absent else location
    steps = next((steps for steps, value in _readings(inside, sent) if value == entry["input"]), tuple(inside))
    if absent:
        return (*steps, location[-1])
    if kind.startswith(AT):
        return (*steps, kind.removeprefix(AT))
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        discriminator = entry.get("ctx", {}).get("discriminator")
        return (*steps, str(discriminator).strip("'()")) if discriminator else steps
    return steps


def _readings(location: Location, value: object) -> Iterator[tuple[tuple[int | str, ...], object]]:
    """Yield every way to follow `location` down from `value`: each part is a step, or is skipped as a union member's
    name."""
    if not location:
        yield (), value
        return
    step, rest = location[0], location[1:]
    if isinstance(value, dict) and step in value:
        yield from (((step, *steps), end) for steps, end in _readings(rest, value[step]))
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        yield from (((step, *steps), end) for steps, end in _readings(rest, value[step]))
    if isinstance(step, str):
        yield from _readings(rest, value)


def _what(entry: ErrorDetails) -> str:
    context = entry.get("ctx", {})
    match entry["type"]:
        case "missing":
            return "This member is required."
        case "unexpected_keyword_argument" | "extra_forbidden":
            return f"The member {str(entry['loc'][-1])!r} is unknown."
        case "union_tag_invalid":
            return f"Expected one of {context['expected_tags']}, got {context['tag']!r}."
        case "union_tag_not_found":
            return "This member is required: it selects one of the alternatives."
        case "dataclass_type" | "dict_type" | "model_type" | "model_attributes_type":
            return f"Should be an object, got {shown(entry['input'])}."
        case "uuid_type":
            return f"Should be a UUID as text, got {shown(entry['input'])}."
        case "too_short":
            return f"Expected at least {context['min_length']}, got {context['actual_length']}."
        case kind if kind.startswith(AT) or kind == "json_invalid":
            return entry["msg"]
        case _:
            given = re.sub(r"^\w+ should ", "Should ", entry["msg"])
            return f"{given}, got {shown(entry['input'])}."


def shown(value: object) -> str:
    """Return a value as JSON, truncated to the maximum that is shown."""
    text = ""
    for piece in _ENCODER.iterencode(value):
        text += piece[: MAX_SHOWN + 1]
        if len(text) > MAX_SHOWN:
            return f"{text[: MAX_SHOWN - 3]}..."
    return text


def as_integer(value: object) -> object:
    """Return a float with an integral value as an integer, and anything else unchanged."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_EXACT:
        return int(value)
    return value


def _with_integers(value: object, error: ValidationError) -> object | None:
    """Return a JSON value with integral floats as integers where `error` expects these; None without any."""
    entries = islice(error.errors(include_url=False, include_context=False), MAX_ENTRIES)
    expected = [entry for entry in entries if entry["type"] == "int_type" and isinstance(entry["input"], float)]
    places = [place_of(entry, value) for entry in expected if isinstance(as_integer(entry["input"]), int)]
    if not places:
        return None
    converted = copy.deepcopy(value)
    # All elements of a list are converted at once, whatever the index.
    for *steps, last in {tuple(0 if isinstance(step, int) else step for step in place) for place in places}:
        _convert(converted, steps, last)
    return converted


def _convert(value: object, steps: Sequence[int | str], last: int | str) -> None:
    """Convert the place in each element of the lists along its path: pydantic may report only a list's first error."""
    if isinstance(value, list):
        if steps:
            for element in value:
                _convert(element, steps[1:], last)
        else:
            value[:] = map(as_integer, value)
    elif isinstance(value, dict):
        if steps:
            _convert(value.get(steps[0]), steps[1:], last)
        elif last in value:
            value[last] = as_integer(value[last])


_DATE_AND_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")


def _parsed(value: object) -> object:
    """Return the time of a text; pydantic itself would take a number, in a text too, for Unix seconds."""
    if not (isinstance(value, str) and _DATE_AND_TIME.match(value)):
        raise _not_a_time()
    try:
        return datetime.fromisoformat(value.upper())
    except ValueError as error:
        raise _not_a_time() from error


def _not_a_time() -> PydanticCustomError:
    return PydanticCustomError("time", "Expected a time as in 2026-01-31T12:00:00Z.")


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError as error:
        raise PydanticCustomError("time", "Expected a time from the year 1 to 9999 in UTC.") from error


Timestamp: TypeAlias = Annotated[AwareDatetime, BeforeValidator(_parsed), AfterValidator(_in_utc)]
"""A point in time in a request: ISO 8601 with an offset, as OpenAPI's `date-time` is."""


JsonInput: TypeAlias = "str | float | bool | Sequence[JsonInput] | Mapping[str, JsonInput] | None"
"""A value that has a JSON form, by any kinds of mappings and sequences: a `list[dict[str, float]]` is one."""

LISTS = ("tolist", "to_list", "to_pylist")
"""The methods by which arrays and columns of numpy and pandas, of polars, and of pyarrow become lists."""


def dumps(value: object) -> str:
    """Return a value as JSON: records by the names of their members, arrays and columns of other libraries as lists,
    numbers that are not finite as null.

    Raises TypeError for a value without a JSON form, ValueError for a circular reference.
    """
    try:
        return _dumps(value)
    except ValueError:
        return _dumps(_finite(value))


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    plain = encode(value)
    if plain is not value:
        return plain
    for method in LISTS:
        if callable(listed := getattr(value, method, None)):
            return listed()
    match value:
        case Mapping():
            return dict(value)
        case Sequence() if not isinstance(value, bytes | bytearray | memoryview):
            return list(value)
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form")


def _finite(value: object) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: _finite(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_finite(inner) for inner in value]
        case str() | int() | None:
            return value
        case _:
            return _finite(_plain(value))


class ResponseForm(Generic[T]):
    """The form of responses: a record, or a union of several; the adapter is made when it is needed."""

    def __init__(self, annotation: object) -> None:
        self._annotation = annotation

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        return TypeAdapter(self._annotation)  # type: ignore[arg-type]  # the annotation of T

    def read(self, text: bytes | str) -> T:
        """Return the record in a JSON text, without members that it does not have; raises ValueError for others."""
        try:
            return self._adapter.validate_json(text, strict=True, extra="ignore")
        except ValidationError as error:
            raise ValueError(str(refusal(error, _value(text)))) from error


def _value(text: bytes | str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


FormOrClass: TypeAlias = type[T] | ResponseForm[T]

_FORMS: dict[object, ResponseForm[object]] = {}


def form_of(annotation: FormOrClass[T]) -> ResponseForm[T]:
    """Return a form unchanged, or that of a class, made once."""
    if isinstance(annotation, ResponseForm):
        return annotation
    return _FORMS.setdefault(annotation, ResponseForm(annotation))  # type: ignore[return-value]  # the form of this class


def exclude_none(members: Mapping[str, T]) -> dict[str, T]:
    """Return the members of a request that are not None."""
    return {name: value for name, value in members.items() if value is not None}


T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Page(Generic[T_co]):
    """A page of a list."""

    __pydantic_config__ = wire()

    items: tuple[T_co, ...]
    has_more: bool
    """True if there is a next page."""
    after: str | None
    """The `after` of the next page; null at the end."""

    @classmethod
    def of(cls, items: Iterable[T_co], after: str | None) -> Self:
        """Return a page; `after` is the beginning of the next one (None at the end)."""
        return cls(tuple(items), after is not None, after)
