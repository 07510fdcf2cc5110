"""Numbers of documents within bounds, single and in arrays."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import numpy as np
from pydantic import Field, ValidationInfo

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.annotations import Schema, SchemaHandler

MAX_COUNT = 2**53

Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]


@dataclass(frozen=True)
class ArrayOf:
    """An annotation of arrays: lists, or lists of lists, of numbers within bounds in JSON, and arrays unchanged.

    A document to be written, or from the database, has arrays, which JSON writes as lists. Of the arrays that are the
    context of a validation, {"array": name} is the one of this name.
    """

    number: object
    """The annotated type of a number."""
    dimensions: Literal[1, 2] = 1

    def __get_pydantic_core_schema__(self, source: object, handler: SchemaHandler) -> Schema:
        """Return the schema of the lists, which also accepts arrays."""
        lists = handler.generate_schema(self.number)
        for _ in range(self.dimensions):
            lists = {"type": "list", "items_schema": lists, "fail_fast": True}
        return {
            "type": "function-wrap",
            "function": {"type": "with-info", "function": _array_or_validated},
            "schema": lists,
            "serialization": {"type": "function-plain", "function": _in_json, "when_used": "json"},
        }


def _array_or_validated(
    value: object, validate: Callable[[object], object], info: ValidationInfo[Mapping[str, object] | None]
) -> object:
    match value, info.context:
        case {"array": str(name)}, Mapping() as arrays:
            return arrays[name]
        case np.ndarray(), _:
            return value
        case _:
            return validate(value)


def _in_json(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value


Numbers: TypeAlias = list[float] | Array
Rows: TypeAlias = list[list[float]] | Array

Vector = Annotated[Numbers, ArrayOf(Finite)]
PositiveVector = Annotated[Numbers, ArrayOf(Positive)]
Shares = Annotated[Numbers, ArrayOf(Annotated[float, Field(gt=0.0, le=1.0)])]
Matrix = Annotated[Rows, ArrayOf(Finite, 2)]
PositiveMatrix = Annotated[Rows, ArrayOf(Positive, 2)]
Places = Annotated[list[int] | Indices, ArrayOf(Count)]
