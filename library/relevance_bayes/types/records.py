"""Conversion of records, frozen dataclasses, from and to plain JSON: see `relevance_bayes.types.decoders`."""

from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache, cached_property
from typing import Generic, TypeGuard, TypeVar
from uuid import UUID

from relevance_bayes.types.decoders import decoder_of
from relevance_bayes.types.errors import InvalidRequestError
from relevance_bayes.types.record_members import fields_of
from relevance_bayes.types.refusals import Refused, faults_of
from relevance_bayes.types.scalars import PLAIN, Decoder

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


_SPARSE: set[type] = set()
"""Classes whose members are left out where they are None."""


def encode(value: object) -> object:
    """Return a record as plain JSON, with the names of its members; arrays and values of other types are unchanged.

    Members with the metadata `exclude` are left out, and, in a class with `__omits_none__`, those that are None.
    """
    kind: type = type(value)
    if kind in PLAIN:
        return value
    if (names := _written(kind)) is not None:
        members = {name: encode(getattr(value, name)) for name in names}
        if kind in _SPARSE:
            return {name: one for name, one in members.items() if one is not None}
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
    if getattr(kind, "__omits_none__", False):
        _SPARSE.add(kind)
    return tuple(member.name for member in fields_of(kind) if not member.metadata.get("exclude"))
