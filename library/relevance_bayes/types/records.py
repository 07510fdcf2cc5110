"""Records and their members, decoded from JSON.

Supported are numbers, strings, booleans, None, UUID, ISO 8601 datetimes, enumerations, literals, lists, tuples of one
type, dictionaries with strings as keys, unions, and dataclasses of these. Only integers are converted to floats, and
integral floats to integers, since JSON has one type of numbers. An annotation with a method `decode` reads its values
itself.
"""

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache, cached_property
from threading import RLock
from types import NoneType
from typing import (
    Annotated,
    Generic,
    Literal,
    Protocol,
    TypeAlias,
    TypeGuard,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)
from uuid import UUID

from relevance_bayes.types.annotations import Bounds, OneBy, OneOf, is_union, members_of_union, tags_of
from relevance_bayes.types.errors import InvalidRequestError
from relevance_bayes.types.refusals import MAX_FAULTS, Refusal, Refused, faults_of, refused, shown

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


def is_record(annotation: object) -> bool:
    """Return whether this is a dataclass, or a generic one with types, such as `Page[Dataset]`."""
    return is_dataclass(get_origin(annotation) or annotation)


def class_of(record: object) -> type:
    """Return the dataclass of a record, which may be a generic one with types."""
    found = get_origin(record) or record
    assert isinstance(found, type)
    return found


def fields_of(record: type) -> tuple[Field[object], ...]:
    """Return the fields of a dataclass."""
    assert is_dataclass(record)
    return fields(record)


def hints_of(record: object) -> Mapping[str, object]:
    """Return the types of members, with those of the annotation for type variables."""
    of_class = class_of(record)
    hints = get_type_hints(of_class, include_extras=True)
    arguments = get_args(record)
    if not arguments:
        return hints
    types = dict(zip(getattr(of_class, "__parameters__", ()), arguments, strict=True))
    return {name: _substituted(hint, types) for name, hint in hints.items()}


@runtime_checkable
class _Generic(Protocol):
    """An annotation with type variables in it."""

    @property
    def __parameters__(self) -> tuple[object, ...]: ...
    def __getitem__(self, types: tuple[object, ...], /) -> object: ...


def _substituted(hint: object, types: Mapping[object, object]) -> object:
    if isinstance(hint, TypeVar):
        return types[hint]
    if isinstance(hint, type) or not isinstance(hint, _Generic) or not hint.__parameters__:
        return hint
    return hint[tuple(types[one] for one in hint.__parameters__)]


def default_of(member: Field[object]) -> Callable[[], object] | None:
    """Return the factory of the value of an absent member; None for a required one."""
    if member.default_factory is not MISSING:
        return member.default_factory
    value = member.default
    return None if value is MISSING else lambda: value


def maker_of(record: type) -> Callable[[type, dict[str, object]], object]:
    """Return the function that makes an instance of a record from all of its members."""
    return _filled if _is_bare(record) else _called


def _is_bare(record: type) -> bool:
    """Return whether an instance is only its members: the initialiser does nothing but set them."""
    return not hasattr(record, "__post_init__") and not hasattr(record, "__slots__")


def _filled(record: type, members: dict[str, object]) -> object:
    """Return an instance with all of its members, in x .1 to .3 of the CPU time of a frozen dataclass's initialiser."""
    made: object = object.__new__(record)
    made.__dict__.update(members)
    return made


def _called(record: type, members: dict[str, object]) -> object:
    return record(**members)


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Converter(Generic[T_co]):
    """Reads and validates values of an annotated type; the hints of each class are resolved once."""

    def __init__(self, annotation: object) -> None:
        self._annotation = annotation

    @cached_property
    def _decoder(self) -> Decoder:
        return decoder_of(self._annotation)

    def decode(self, value: object, where: str = "") -> T_co:
        """Return the record in a JSON value; raises InvalidRequestError with pointers below `where`."""
        try:
            found = self._decoder(value)
        except Refused as error:
            faults = faults_of(error.refusals, where)
            first = faults[0]
            detail = f"At {first.pointer}: {first.detail}" if first.pointer else first.detail
            raise InvalidRequestError(detail, faults) from error
        except RecursionError as error:
            raise InvalidRequestError("The value is nested too deeply.") from error
        assert self._is_decoded(found)
        return found

    def _is_decoded(self, value: object) -> TypeGuard[T_co]:
        """Return True, for every value that the decoder returned."""
        return True


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
    written = [member for member in fields_of(kind) if not member.metadata.get("exclude")]
    omits_none = getattr(kind, "__omits_none__", False)
    if sparse := {member.name for member in written if omits_none or "exclude_if" in member.metadata}:
        _SPARSE[kind] = frozenset(sparse)
    return tuple(member.name for member in written)


UNBOUNDED = Bounds()
NONE: frozenset[type] = frozenset()
TAGS = ("type", "kind", "task")
"""Members that discriminate the records of a union without an annotation."""


@runtime_checkable
class Decodes(Protocol):
    """An annotation that reads the values of its type."""

    @property
    def exact(self) -> type:
        """Return a type whose values are valid without being read."""

    def decode(self, value: object) -> object:
        """Return the value read; raises Refused."""


def decoder_of(annotation: object, bounds: Bounds = UNBOUNDED) -> Decoder:
    """Return the function that reads values of a type within bounds; raises TypeError for an unknown type."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _annotated(arguments[0], arguments[1:], bounds)
    if origin is Literal:
        return one_of_values(arguments)
    if is_union(annotation):
        return _union(arguments, bounds)
    if origin in {list, tuple, Sequence}:
        return _sequence(decoder_of(arguments[0]), tuple if origin is tuple else list, arguments, bounds)
    if origin in {dict, Mapping} and arguments[0] is str:
        return _mapping(decoder_of(arguments[1]))
    if annotation in SCALARS:
        return bounded(SCALARS[annotation], bounds)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return enumeration(annotation)
    if is_record(annotation):
        return record_decoder(annotation)
    raise TypeError(f"expected the type of a member of records, got {annotation!r}")


def _annotated(annotation: object, notes: Sequence[object], bounds: Bounds) -> Decoder:
    for note in notes:
        match note:
            case OneOf(tag):
                return _tagged(members_of_union(annotation), tag)
            case OneBy(choose):
                return lambda value: record_decoder(choose(_object(value)))(value)
            case Bounds():
                bounds = note.updated(bounds.stated)
            case Decodes():
                return note.decode
    return decoder_of(annotation, bounds)


def _union(members: Sequence[object], bounds: Bounds) -> Decoder:
    others = [member for member in members if member is not NoneType]
    decode = _alternatives(others, bounds)
    return decode if len(others) == len(members) else _or_none(decode)


def _alternatives(members: Sequence[object], bounds: Bounds) -> Decoder:
    records = [member for member in members if isinstance(member, type) and is_dataclass(member)]
    if len(records) == len(members) > 1:
        for tag in TAGS:
            if all(tags_of(record, tag) for record in records):
                return _tagged(records, tag)
    exact = {member for member in members if isinstance(member, type) and member in PLAIN and bounds == UNBOUNDED}
    decoders = [decoder_of(member, bounds) for member in members]

    def decode(value: object) -> object:
        if type(value) in exact:
            return value
        refusals: list[Refusal] = []
        for one in decoders:
            try:
                return one(value)
            except Refused as error:
                refusals += error.refusals
        raise Refused(*refusals)

    return decoders[0] if len(decoders) == 1 else decode


def _tagged(records: Sequence[type], tag: str) -> Decoder:
    """Return a decoder by the member `tag`; one record may have any string there, for tags that no other record has."""
    open_ones = [record for record in records if not tags_of(record, tag)]
    if len(open_ones) > 1 or any(not is_dataclass(one) or hints_of(one).get(tag) is not str for one in open_ones):
        raise TypeError(f"expected records with a literal member {tag!r}, got {records!r}")
    choices = {value: decoder_of(record) for record in records for value in tags_of(record, tag)}
    of_others = decoder_of(open_ones[0]) if open_ones else None

    def decode(value: object) -> object:
        members = _object(value)
        if tag not in members:
            raise Refused(Refusal((tag,), "This member is required: it selects one of the alternatives."))
        chosen = members[tag]
        if isinstance(chosen, str) and chosen in choices:
            return choices[chosen](value)
        if of_others is not None and isinstance(chosen, str):
            return of_others(value)
        known = ", ".join(repr(one) for one in choices)
        raise Refused(Refusal((tag,), f"Expected one of {known}, got {shown(chosen)}."))

    return decode


_DECODERS: dict[object, Decoder] = {}
_BEGUN: set[object] = set()
_MAKING = RLock()


def record_decoder(record: object) -> Decoder:
    """Return the function that reads objects as this dataclass, made once; `record` may be a generic one with types."""
    if record in _DECODERS:
        return _DECODERS[record]
    with _MAKING:
        if record in _BEGUN:  # a recursive class
            return lambda value: record_decoder(record)(value)
        _BEGUN.add(record)
        try:
            _DECODERS[record] = _record_decoder(class_of(record), hints_of(record))
        finally:
            _BEGUN.discard(record)
        return _DECODERS[record]


def _record_decoder(record: type, hints: Mapping[str, object]) -> Decoder:
    members = [_member(hints[one.name], one) for one in fields_of(record)]
    names = frozenset(one.name for one in members)
    plain = [(one.name, one.exact, one.decode, one.default) for one in members]  # tuples unpack faster
    make = maker_of(record)
    forbids_others: bool = getattr(record, "__pydantic_config__", {}).get("extra") == "forbid"

    def decode(value: object) -> object:
        given, found, n_given = _object(value), dict[str, object](), 0
        refusals: list[Refusal] = []
        for name, exact, decode_member, default in plain:
            if name in given:
                inner = given[name]
                n_given += 1
                try:
                    found[name] = inner if type(inner) in exact else decode_member(inner)
                except Refused as error:
                    refusals += error.below(name)
            elif default is None:
                refusals.append(Refusal((name,), "This member is required."))
            else:
                found[name] = default()
        if forbids_others and n_given < len(given):
            refusals += [Refusal((name,), f"The member {name!r} is unknown.") for name in given if name not in names]
        if refusals:
            raise Refused(*refusals[:MAX_FAULTS])
        return make(record, found)

    return decode


@dataclass(frozen=True)
class _Member:
    name: str
    exact: frozenset[type]
    """The types whose values need no decoding, for speed."""
    decode: Decoder
    default: Callable[[], object] | None


def _member(hint: object, member: Field[object]) -> _Member:
    """Return the member's decoder, by the hint and the metadata of the field: bounds, and the `discriminator` of a
    union."""
    bounds, tag = UNBOUNDED.updated(member.metadata), member.metadata.get("discriminator")
    if isinstance(tag, str):
        decode = _tagged(members_of_union(hint), tag)
        decode = _or_none(decode) if NoneType in get_args(hint) else decode
    else:
        decode = decoder_of(hint, bounds)
    return _Member(member.name, _exact(hint, bounds), decode, default_of(member))


def _exact(annotation: object, bounds: Bounds) -> frozenset[type]:
    """Return the types of which all values are valid for the annotation."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return frozenset(note.exact for note in arguments[1:] if isinstance(note, Decodes))
    if is_union(annotation):
        return frozenset[type]().union(*(_exact(one, bounds) for one in arguments))
    if origin is dict and arguments == (str, object):
        return frozenset({dict})
    is_plain = isinstance(annotation, type) and annotation in PLAIN and bounds == UNBOUNDED
    return frozenset({annotation}) if isinstance(annotation, type) and (is_plain or annotation is NoneType) else NONE


def _or_none(decode: Decoder) -> Decoder:
    return lambda value: None if value is None else decode(value)


def _sequence(one: Decoder, kind: type, arguments: Sequence[object], bounds: Bounds) -> Decoder:
    if kind is tuple and (len(arguments) != 2 or arguments[1] is not Ellipsis):
        raise TypeError("expected tuples of one type, of any length")

    def decode(value: object) -> object:
        if not isinstance(value, list):
            raise refused("a valid array", value, other_kind=True)
        if not value:
            return kind()
        found: list[object] = []
        try:
            for inner in value:
                found.append(one(inner))
        except Refused as error:  # only the first fault of a list is reported
            raise Refused(*error.below(len(found))) from None
        return tuple(found) if kind is tuple else found

    return bounded(decode, bounds)


def _mapping(one: Decoder) -> Decoder:
    def decode(value: object) -> object:
        found, refusals = dict[str, object](), list[Refusal]()
        for name, inner in _object(value).items():
            try:
                found[name] = one(inner)
            except Refused as error:
                refusals += error.below(name)
        if refusals:
            raise Refused(*refusals[:MAX_FAULTS])
        return found

    return decode


def _object(value: object) -> Mapping[str, object]:
    if isinstance(value, dict):
        return value
    raise refused("an object", value, other_kind=True)
