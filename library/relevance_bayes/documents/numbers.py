"""Numbers of documents within bounds, single and in arrays."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, TypeAlias

import numpy as np

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.types.annotations import Bounds, Schema, SchemaHandler
from relevance_bayes.types.records import Decoder, decoder_of, interval
from relevance_bayes.types.refusals import Refused, refused

MAX_COUNT = 2**53

FINITE = Bounds(allow_inf_nan=False)
POSITIVE = Bounds(gt=0.0, allow_inf_nan=False)
NOT_NEGATIVE = Bounds(ge=0.0, allow_inf_nan=False)
COUNT = Bounds(ge=0, le=MAX_COUNT)

Finite = Annotated[float, FINITE]
Positive = Annotated[float, POSITIVE]
NotNegative = Annotated[float, NOT_NEGATIVE]
Count = Annotated[int, COUNT]


@dataclass(frozen=True)
class ArrayOf:
    """An annotation of arrays: lists, or lists of lists, of numbers within bounds in JSON, and arrays unchanged.

    A document to be written, or from the database, has arrays, which JSON writes as lists.
    """

    bounds: Bounds
    dimensions: Literal[1, 2] = 1
    integers: bool = False

    @property
    def exact(self) -> type:
        """Return the type of arrays."""
        return np.ndarray

    def decode(self, value: object) -> object:
        """Return the array, or the lists after validation of their numbers; raises Refused for the first fault."""
        if isinstance(value, np.ndarray):
            return value
        if self.dimensions == 1:
            return self._numbers(value)
        return [_at(place, self._numbers, row) for place, row in enumerate(_list(value))]

    def _numbers(self, value: object) -> object:
        numbers = _list(value)
        kinds = set(map(type, numbers))
        if kinds == {int, float} or (kinds == {int} and not self.integers):
            numbers, kinds = _floats(numbers), {float}
        if kinds == {self._kind} and (self.integers or math.isfinite(sum(numbers))):  # NaN is not ordered
            minimum, maximum = self._interval
            if minimum <= min(numbers) and max(numbers) <= maximum:
                return numbers
        return [_at(place, self._number, number) for place, number in enumerate(_list(value))]

    @property
    def _kind(self) -> type:
        return int if self.integers else float

    @cached_property
    def _interval(self) -> tuple[float, float]:
        return interval(self.bounds)

    @cached_property
    def _number(self) -> Decoder:
        return decoder_of(self._kind, self.bounds)

    def __get_pydantic_core_schema__(self, source: object, handler: SchemaHandler) -> Schema:
        """Return the schema of the lists, which also accepts arrays."""
        lists: Schema = {"type": "int" if self.integers else "float", **self.bounds.stated}
        for _ in range(self.dimensions):
            lists = {"type": "list", "items_schema": lists, "fail_fast": True}
        return {
            "type": "function-wrap",
            "function": {"type": "no-info", "function": _array_or_checked},
            "schema": lists,
            "serialization": {"type": "function-plain", "function": _in_json, "when_used": "json"},
        }


def _list(value: object) -> list[float]:
    if not isinstance(value, list):
        raise refused("a valid list", value, other_kind=True)
    return value


def _floats(numbers: list[float]) -> list[float]:
    try:
        return list(map(float, numbers))
    except OverflowError:
        return [math.inf]


def _at(place: int, decode: Decoder, value: object) -> object:
    try:
        return decode(value)
    except Refused as error:
        raise Refused(*error.below(place)) from None


def _array_or_checked(value: object, check: Decoder) -> object:
    return value if isinstance(value, np.ndarray) else check(value)


def _in_json(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value


Numbers: TypeAlias = list[float] | Array
Rows: TypeAlias = list[list[float]] | Array

Vector = Annotated[Numbers, ArrayOf(FINITE)]
PositiveVector = Annotated[Numbers, ArrayOf(POSITIVE)]
Shares = Annotated[Numbers, ArrayOf(Bounds(gt=0.0, le=1.0))]
Matrix = Annotated[Rows, ArrayOf(FINITE, 2)]
PositiveMatrix = Annotated[Rows, ArrayOf(POSITIVE, 2)]
Places = Annotated[list[int] | Indices, ArrayOf(COUNT, integers=True)]
