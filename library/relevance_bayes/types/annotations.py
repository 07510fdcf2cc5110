"""Annotations of the members of records, for the converter of `relevance_bayes.types.records` and for pydantic.

A schema of pydantic is a dictionary, which each annotation completes, so pydantic is not imported.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Annotated, Literal, Protocol, TypeAlias, Union, get_args, get_origin, get_type_hints

Schema: TypeAlias = dict[str, object]


class SchemaHandler(Protocol):
    """The handler that makes pydantic's schema of a type, including the preceding annotations."""

    def __call__(self, source: object, /) -> Schema:
        """Return the schema of an annotated type."""

    def generate_schema(self, source: object, /) -> Schema:
        """Return the schema of any type."""


def is_none(value: object) -> bool:
    """Return whether a value is None: as `exclude_if` in a field's metadata, of a member that is then left out."""
    return value is None


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Bounds of a number, a text or a list, with the names of pydantic and of fields' metadata."""

    gt: float | None = None
    ge: float | None = None
    lt: float | None = None
    le: float | None = None
    allow_inf_nan: bool = True
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    fail_fast: bool = False
    """For pydantic: report only the first fault of a list, as the converter always does."""

    @property
    def stated(self) -> Schema:
        """Return the bounds that differ from the defaults, by name."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) != one.default}

    def updated(self, stated: Mapping[str, object]) -> "Bounds":
        """Return the bounds with those of `stated`, such as a field's metadata, in place of these."""
        names = {one.name for one in fields(self)}
        return replace(self, **{name: value for name, value in stated.items() if name in names})  # type: ignore[arg-type]

    def __get_pydantic_core_schema__(self, source: object, handler: SchemaHandler) -> Schema:
        """Return the schema of the type within these bounds."""
        return {**handler(source), **self.stated}


@dataclass(frozen=True)
class OneOf:
    """An annotation of a union of records that is discriminated by the member `tag`."""

    tag: str

    def __get_pydantic_core_schema__(self, source: object, handler: SchemaHandler) -> Schema:
        """Return the schema of a union that the tag discriminates."""
        choices = {
            value: handler.generate_schema(record)
            for record in members_of_union(source)
            for value in tags_of(record, self.tag)
        }
        return {"type": "tagged-union", "choices": choices, "discriminator": self.tag}


@dataclass(frozen=True)
class OneBy:
    """An annotation of a union of records that is discriminated by a function `choose` of an object's members."""

    choose: Callable[[Mapping[str, object]], type]

    def __get_pydantic_core_schema__(self, source: object, handler: SchemaHandler) -> Schema:
        """Return the schema of a union that the function discriminates."""
        records = {record.__name__: record for record in members_of_union(source)}

        def discriminator(value: object) -> str:
            return self.choose(value).__name__ if isinstance(value, dict) else type(value).__name__

        first = next(iter(records))
        choices = {name: handler.generate_schema(record) for name, record in records.items()}
        return {
            "type": "tagged-union",
            "choices": choices,
            "discriminator": lambda value: name if (name := discriminator(value)) in records else first,
        }


def members_of_union(annotation: object) -> tuple[type, ...]:
    """Return the classes of a union, or the one class; without None."""
    return tuple(_classes(annotation))


def _classes(annotation: object) -> Iterator[type]:
    if get_origin(annotation) is Annotated:
        yield from _classes(get_args(annotation)[0])
    elif is_union(annotation):
        for member in get_args(annotation):
            yield from _classes(member)
    elif isinstance(annotation, type) and annotation is not NoneType:
        yield annotation


def is_union(annotation: object) -> bool:
    """Return whether an annotation is a union of several types."""
    return get_origin(annotation) in {Union, UnionType}


def tags_of(record: type, tag: str) -> tuple[str, ...]:
    """Return the values of a record's literal member `tag`; empty where it is not a literal."""
    hint: object = get_type_hints(record).get(tag) if is_dataclass(record) else None
    return get_args(hint) if get_origin(hint) is Literal else ()
