"""The codec of documents: the schema, the encoding and the decoding of a part follow from its declared members.

A part declares each member once: its name, its bounds, and the shape of its array in named sizes. A member has the
value of the attribute of this name of the record that the part stands for, or of the one that `From` names.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Generic, Literal, Self, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import FailFast, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.annotations import Schema, SchemaHandler
from relevance_bayes.records.errors import Fault, InvalidRequestError

R = TypeVar("R")

MAX_COUNT = 2**53

Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]

FIRST_FAULT = FailFast()
"""The first fault of an array is enough: a million of them would take more memory than the array."""

Sizes: TypeAlias = Mapping[str, int]
"""Sizes by name: the `inputs`, which are the columns of X, the `classes` of the target, and limits."""

MAX_FUNCTIONS = 2_048
"""The maximum number of functions of an imported version; the cost of a model grows with their cube."""

MAX_MEMBERS = 16

LIMITS: Sizes = {"max_functions": MAX_FUNCTIONS, "max_members": MAX_MEMBERS}
"""The limits of an imported document; stored ones have none."""


def wrong(where: str, detail: str) -> InvalidRequestError:
    """Return the error for a place in a document."""
    return InvalidRequestError(f"At {where}: {detail}", [Fault(detail, where)])


@dataclass(frozen=True)
class ArrayOf:
    """An annotation of arrays: lists, or lists of lists of one length, of numbers within bounds in JSON.

    A document to be written, or from the database, has arrays, which are unchanged, and which JSON writes as lists. Of
    the arrays that are the context of a validation, {"array": name} is the one of this name.
    """

    number: object
    """The annotated type of a number."""
    dimensions: Literal[1, 2] = 1
    dtype: type[np.float64] | type[np.intp] = np.float64

    def __get_pydantic_core_schema__(self, source: object, handler: SchemaHandler) -> Schema:
        """Return the schema of the lists, which also accepts arrays."""
        lists = handler.generate_schema(self.number)
        for _ in range(self.dimensions):
            lists = {"type": "list", "items_schema": lists, "fail_fast": True}
        return {
            "type": "function-wrap",
            "function": {"type": "with-info", "function": self._validated},
            "schema": lists,
            "serialization": {"type": "function-plain", "function": _in_json, "when_used": "json"},
        }

    def _validated(
        self,
        value: object,
        validate: Callable[[object], Sequence[Sequence[float]]],
        info: ValidationInfo[Mapping[str, object] | None],
    ) -> object:
        match value, info.context:
            case {"array": str(name)}, Mapping() as arrays:
                return arrays[name]
            case np.ndarray(), _:
                return value
        numbers = validate(value)
        if self.dimensions == 2:
            for place, row in enumerate(numbers):
                if len(row) != len(numbers[0]):
                    detail = f"Expected {len(numbers[0])} numbers, got {len(row)}."
                    raise PydanticCustomError(f"at {place}", detail)
        return np.array(numbers, self.dtype)


def _in_json(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value


Vector = Annotated[Array, ArrayOf(Finite)]
PositiveVector = Annotated[Array, ArrayOf(Positive)]
Shares = Annotated[Array, ArrayOf(Annotated[float, Field(gt=0.0, le=1.0)])]
Matrix = Annotated[Array, ArrayOf(Finite, 2)]
PositiveMatrix = Annotated[Array, ArrayOf(Positive, 2)]
Places = Annotated[Indices, ArrayOf(Count, dtype=np.intp)]


class Dimensions:
    """An annotation of an array or a list: the names of its sizes. The first member with a name determines that size;
    lists precede arrays."""

    def __init__(self, *sizes: str) -> None:
        self.sizes = sizes


@dataclass(frozen=True)
class CountOf:
    """An annotation of dictionaries of functions, one or several: the name of the number of functions in all."""

    size: str


@dataclass(frozen=True)
class Below:
    """An annotation of indices, each less than a size."""

    size: str


@dataclass(frozen=True)
class From:
    """An annotation of a member: the attribute of the record."""

    attribute: str


@dataclass(frozen=True)
class Stands:
    """An annotation of a constant: the value in the record."""

    value: object


class AsTuples:
    """An annotation of an array that is tuples in the record."""


Columns = Annotated[Places, Below("inputs")]


def shaped(array: Array, shape: tuple[int, ...], where: str) -> Array:
    """Return an array of this shape; raises InvalidRequestError for another."""
    if array.shape == shape:
        return array
    if not array.size and 0 in shape and len(array) == shape[0]:
        return array.reshape(shape)
    if array.ndim != len(shape):
        raise wrong(where, f"Expected a list of {'numbers' if len(shape) == 1 else 'lists'}.")
    if len(array) != shape[0]:
        raise wrong(where, f"Expected {shape[0]} {'numbers' if len(shape) == 1 else 'lists'}, got {len(array)}.")
    raise wrong(f"{where}/0", f"Expected {shape[1]} numbers, got {array.shape[1]}.")


def below(numbers: Sequence[int] | Indices | Array, size: int, where: str) -> None:
    """Raise InvalidRequestError for the first index that is not below a size."""
    for place, number in enumerate(numbers):
        if number >= size:
            raise wrong(f"{where}/{place}", f"Expected a column from 0 to {size - 1}, got {number}.")


@dataclass(frozen=True)
class PartMember:
    """A member of a part, as its annotation declares it."""

    name: str
    attribute: str
    """The attribute of the record."""
    parts: tuple[type["Part[object]"], ...]
    shape: tuple[str, ...]
    total: str | None
    below: str | None
    constant: object
    """The only value of a literal; None for another type."""
    stands: object
    """The value in the record for a constant; None where it is the same."""
    is_tuples: bool

    @classmethod
    def of(cls, name: str, annotation: object) -> Self:
        """Return the member of this annotation."""
        inside = list(_inside(annotation))
        literals = [get_args(one) for one in inside if get_origin(one) is Literal]
        return cls(
            name,
            next((one.attribute for one in inside if isinstance(one, From)), name),
            tuple(one for one in inside if isinstance(one, type) and issubclass(one, Part)),
            next((one.sizes for one in inside if isinstance(one, Dimensions)), ()),
            next((one.size for one in inside if isinstance(one, CountOf)), None),
            next((one.size for one in inside if isinstance(one, Below)), None),
            literals[0][0] if literals and len(literals[0]) == 1 else None,
            next((one.value for one in inside if isinstance(one, Stands)), None),
            any(isinstance(one, AsTuples) for one in inside),
        )

    def encoded(self, value: object) -> object:
        """Return the member of a record's value."""
        if isinstance(value, tuple):
            if len(self.shape) == 2:
                return np.array(value, np.float64).reshape(len(value), -1)
            return [self.encoded(one) for one in value]
        part = next((part for part in self.parts if part.fits(value)), None)
        return value if part is None else part.encode(value)

    def decoded(self, value: object, sizes: Sizes, where: str) -> object:
        """Return the record's value of a validated member."""
        if isinstance(value, list):
            return tuple(self.decoded(one, sizes, f"{where}/{place}") for place, one in enumerate(value))
        return value.decode(sizes, where) if isinstance(value, Part) else value

    def checked(self, value: Array, sizes: dict[str, int], where: str) -> object:
        """Return the record's value of an array; raises InvalidRequestError for one of another shape."""
        if self.below is not None:
            below(value, sizes[self.below], where)
        for size, length in zip(self.shape, value.shape, strict=False):
            sizes.setdefault(size, length)
        array = shaped(value, tuple(sizes[size] for size in self.shape), where) if self.shape else value
        return _tuples(array.tolist()) if self.is_tuples else array


def _inside(annotation: object) -> Iterator[object]:
    """Yield an annotation, and all types and metadata in it."""
    yield annotation
    for one in get_args(annotation):
        yield from _inside(one)


def _tuples(value: object) -> object:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _total(functions: object) -> int:
    return sum(map(_total, functions)) if isinstance(functions, tuple) else int(getattr(functions, "size", 0))


@cache
def _members(part: type) -> tuple[PartMember, ...]:
    annotations = get_type_hints(part, include_extras=True)
    return tuple(PartMember.of(one.name, annotations[one.name]) for one in fields(part))


@dataclass(frozen=True, kw_only=True)
class Part(Generic[R]):
    """A part of a document, without unknown members, that stands for a record."""

    __pydantic_config__ = {"extra": "forbid"}

    @classmethod
    def declared(cls) -> tuple[PartMember, ...]:
        """Return the members in their order."""
        kind: type = cls
        return _members(kind)

    @classmethod
    def record(cls) -> type[R]:
        """Return the class of the record."""
        bases = (base for one in cls.__mro__ for base in vars(one).get("__orig_bases__", ()))
        record = next(get_args(base)[0] for base in bases if get_origin(base) is Part)
        kind: type[R] = get_origin(record) or record
        return kind

    @classmethod
    def fits(cls, record: object) -> bool:
        """Return whether a record is of the kind that the part stands for."""
        return isinstance(record, cls.record())

    @classmethod
    def attributes(cls, record: R) -> Mapping[str, object]:
        """Return the values of the members, by the attributes that they are of."""
        named = (one.attribute for one in cls.declared() if one.constant is None)
        return {name: getattr(record, name) for name in named}

    @classmethod
    def encode(cls, record: R) -> Self:
        """Return the part that stands for a record."""
        values = cls.attributes(record)
        return cls(
            **{
                one.name: one.encoded(values[one.attribute]) if one.constant is None else one.constant
                for one in cls.declared()
            }
        )

    def values(self, sizes: Sizes, where: str) -> dict[str, object]:
        """Return the values of the record, by attribute; raises InvalidRequestError for an array of another shape."""
        known, found = dict(sizes), dict[str, object]()
        arrays = list[tuple[PartMember, Array]]()
        for one in self.declared():
            value, here = getattr(self, one.name), f"{where}/{one.name}"
            if isinstance(value, np.ndarray):
                arrays.append((one, value))
                continue
            decoded = one.decoded(value, sizes, here)
            found[one.attribute] = decoded if one.stands is None else one.stands
            if one.shape and isinstance(decoded, tuple):
                known[one.shape[0]] = len(decoded)
            if one.total is not None:
                known[one.total] = size = _total(decoded)
                limit = sizes.get("max_functions", size)
                if isinstance(decoded, tuple) and size > limit:
                    raise wrong(here, f"Expected at most {limit:,} functions, got {size:,}.")
                if not isinstance(decoded, tuple) and not 1 <= size <= limit:
                    raise wrong(f"{here}/centres", f"Expected 1 to {limit:,} functions, got {size:,}.")
        known |= self.derived(known)
        for one, value in arrays:
            found[one.attribute] = one.checked(value, known, f"{where}/{one.name}")
        return found

    def derived(self, sizes: Sizes) -> Sizes:
        """Return the sizes of arrays that follow from those of other members."""
        return {}

    def decode(self, sizes: Sizes, where: str) -> R:
        """Return the record, with arrays of consistent sizes; raises InvalidRequestError."""
        return self.made(self.values(sizes, where))

    def made(self, values: Mapping[str, object]) -> R:
        """Return the record of these values, by attribute: a tuple of them, or without those that are no members of
        it."""
        record = self.record()
        if not is_dataclass(record):
            return record(*[values.values()])
        names = {one.name for one in fields(record)}
        return record(**{name: value for name, value in values.items() if name in names})
