"""JSON of requests and responses."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from pydantic import TypeAdapter, ValidationError

from relevance_bayes.records.json import encode, refusal

T = TypeVar("T")

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


class Form(Generic[T]):
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


FormOrClass: TypeAlias = type[T] | Form[T]

_FORMS: dict[object, Form[object]] = {}


def form_of(annotation: FormOrClass[T]) -> Form[T]:
    """Return a form unchanged, or that of a class, made once."""
    if isinstance(annotation, Form):
        return annotation
    return _FORMS.setdefault(annotation, Form(annotation))  # type: ignore[return-value]  # the form of this class


def exclude_none(members: Mapping[str, T]) -> dict[str, T]:
    """Return the members of a request that are not None."""
    return {name: value for name, value in members.items() if value is not None}
