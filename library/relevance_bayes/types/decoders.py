"""Functions that read JSON values by the annotations of records: frozen dataclasses, and what they are made of.

Numbers, texts, booleans, None, UUID, ISO 8601 datetimes, enumerations, literals, lists, tuples of one type,
dictionaries with texts as keys, unions, and dataclasses of these. Nothing is converted but whole numbers to floats, and
floats that are whole to integers, since JSON has one type of numbers. What an annotation with a method `decode` is of,
that reads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from types import NoneType
from typing import Annotated, Literal, Protocol, get_args, get_origin, get_type_hints, runtime_checkable

from relevance_bayes.types.annotations import Bounds, OneBy, OneOf, is_union, members_of_union, tags_of
from relevance_bayes.types.refusals import MAX_FAULTS, Refusal, Refused, refused, shown
from relevance_bayes.types.scalars import PLAIN, SCALARS, Decoder, bounded, enumeration, one_of_values

UNBOUNDED = Bounds()
TAGS = ("type", "kind", "task")
"""Members that tell the records of a union apart where no annotation names one."""


@runtime_checkable
class Decodes(Protocol):
    """An annotation that reads the values of what it is of."""

    @property
    def exact(self) -> type:
        """A type whose values are as they should be."""

    def decode(self, value: object) -> object:
        """The value read; raises Refused."""


def decoder_of(annotation: object, bounds: Bounds = UNBOUNDED) -> Decoder:
    """The function that reads values of an annotated type within bounds; raises TypeError for one that is not known."""
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
    if isinstance(annotation, type) and is_dataclass(annotation):
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
    choices = {value: decoder_of(record) for record in records for value in tags_of(record, tag)}

    def decode(value: object) -> object:
        members = _object(value)
        if tag not in members:
            raise Refused(Refusal((tag,), "This member is required: it says which of the alternatives is meant."))
        chosen = members[tag]
        if isinstance(chosen, str) and chosen in choices:
            return choices[chosen](value)
        known = ", ".join(repr(one) for one in choices)
        raise Refused(Refusal((tag,), f"{shown(chosen)} is none of {known}."))

    return decode


_DECODERS: dict[type, Decoder] = {}


def record_decoder(record: type) -> Decoder:
    """The function that reads objects as this dataclass, made once."""
    if record not in _DECODERS:
        _DECODERS[record] = lambda value: _DECODERS[record](value)  # for the class in its own members
        _DECODERS[record] = _record_decoder(record)
    return _DECODERS[record]


@dataclass(frozen=True)
class _Member:
    """A member's name, what reads it, and the type of which values are as they should be, for speed."""

    name: str
    decode: Decoder
    exact: type | None
    default: object
    is_required: bool


def _record_decoder(record: type) -> Decoder:
    hints = get_type_hints(record, include_extras=True)
    members = [_member(hints[one.name], one) for one in fields_of(record)]
    names = frozenset(one.name for one in members)
    quick = [(one.name, one.exact, one.decode, one.default) for one in members]
    make = _filled if _is_bare(record) else _called
    forbids_others: bool = getattr(record, "__pydantic_config__", {}).get("extra") == "forbid"

    def decode(value: object) -> object:
        if isinstance(value, dict):
            found, absent = dict[str, object](), 0
            try:
                for name, exact, decode_member, default in quick:
                    if name in value:
                        inner = value[name]
                        found[name] = inner if type(inner) is exact else decode_member(inner)
                    elif default is MISSING:
                        break
                    else:
                        found[name] = default
                        absent += 1
                else:
                    if len(value) + absent == len(quick):
                        return make(record, found)
            except Refused:
                pass  # what is wrong, and with what else, is found out below
        given = _object(value)
        found, refusals = _members(members, given)
        if forbids_others and not given.keys() <= names:
            refusals += [Refusal((name,), f"There is no member {name!r} here.") for name in given if name not in names]
        if refusals:
            raise Refused(*refusals[:MAX_FAULTS])
        return _called(record, found)

    return decode


def _members(members: Sequence[_Member], given: Mapping[str, object]) -> tuple[dict[str, object], list[Refusal]]:
    """Those that are given, and all that is wrong with them."""
    found, refusals = dict[str, object](), list[Refusal]()
    for one in members:
        if one.name in given:
            try:
                found[one.name] = one.decode(given[one.name])
            except Refused as error:
                refusals += error.below(one.name)
        elif one.is_required:
            refusals.append(Refusal((one.name,), "This member is required."))
    return found, refusals


def _is_bare(record: type) -> bool:
    """Whether an instance is nothing but its members: the initialiser only sets these."""
    return not hasattr(record, "__post_init__") and not hasattr(record, "__slots__")


def _filled(record: type, members: dict[str, object]) -> object:
    """An instance with these, all of its members, in x .1 to .3 of the CPU time of a frozen dataclass's initialiser."""
    made: object = object.__new__(record)
    made.__dict__.update(members)
    return made


def _called(record: type, members: dict[str, object]) -> object:
    return record(**members)


def _member(hint: object, member: Field[object]) -> _Member:
    """By the hint, and by the metadata of the field: bounds, and the `discriminator` of a union."""
    bounds, tag = UNBOUNDED.updated(member.metadata), member.metadata.get("discriminator")
    if isinstance(tag, str):
        decode = _tagged(members_of_union(hint), tag)
        decode = _or_none(decode) if NoneType in get_args(hint) else decode
    else:
        decode = decoder_of(hint, bounds)
    is_required = member.default is member.default_factory is MISSING
    return _Member(member.name, decode, _exact(hint, bounds), member.default, is_required)


def _exact(annotation: object, bounds: Bounds) -> type | None:
    """The type of which all values are what the annotation says; None for none."""
    if get_origin(annotation) is Annotated:
        return next((note.exact for note in get_args(annotation)[1:] if isinstance(note, Decodes)), None)
    if is_union(annotation):
        return NoneType if NoneType in get_args(annotation) else None
    return annotation if isinstance(annotation, type) and annotation in PLAIN and bounds == UNBOUNDED else None


def _or_none(decode: Decoder) -> Decoder:
    return lambda value: None if value is None else decode(value)


def _sequence(one: Decoder, kind: type, arguments: Sequence[object], bounds: Bounds) -> Decoder:
    if kind is tuple and (len(arguments) != 2 or arguments[1] is not Ellipsis):
        raise TypeError("expected tuples of one type, of any length")

    def decode(value: object) -> object:
        if not isinstance(value, list):
            raise refused("a valid array", value, other_kind=True)
        found: list[object] = []
        try:
            for inner in value:
                found.append(one(inner))
        except Refused as error:  # of a list the first fault is enough
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


def fields_of(record: type) -> tuple[Field[object], ...]:
    """Of a dataclass."""
    assert is_dataclass(record)
    return fields(record)
