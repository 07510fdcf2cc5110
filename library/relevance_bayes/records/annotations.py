"""Annotations of records for pydantic: unions, members that are left out, and JSON schemas.

A schema of pydantic is a dictionary, which each annotation completes, so that pydantic is not imported.
"""

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from textwrap import dedent
from types import NoneType, UnionType
from typing import Annotated, Literal, Protocol, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

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


T = TypeVar("T")

AS_REQUESTED = "as requested"
AsRequested: TypeAlias = Annotated[T, AS_REQUESTED]
"""The type of a plan's member that is the request's of the same name."""


def as_requested(plan: type) -> tuple[str, ...]:
    """Return the names of the members of a plan that are those of its request."""
    hints, names = get_type_hints(plan, include_extras=True), [one.name for one in fields(plan)]
    return tuple(name for name in names if AS_REQUESTED in getattr(hints[name], "__metadata__", ()))


OTHERS = ""
"""The choice of a tag that no record has."""


@dataclass(frozen=True)
class OneOf:
    """An annotation of a union of records that is discriminated by the member `tag`.

    One record may have any text there: it is that of tags that no other record has.
    """

    tag: str

    def __get_pydantic_core_schema__(self, source: object, handler: SchemaHandler) -> Schema:
        """Return the schema of a union that the tag discriminates."""
        records = tuple(_classes(source))
        choices = {tag: handler.generate_schema(one) for one in records for tag in _tags(one, self.tag)}
        others = [one for one in records if not _tags(one, self.tag)]
        if not others:
            return {"type": "tagged-union", "choices": choices, "discriminator": self.tag}
        (of_others,) = others
        choices[OTHERS] = handler.generate_schema(of_others)

        def choice(value: object) -> str | None:
            tag: object = value.get(self.tag) if isinstance(value, dict) else getattr(value, self.tag, None)
            return None if tag is None else tag if isinstance(tag, str) and tag in choices else OTHERS

        choice.__name__ = self.tag  # messages name it
        return {"type": "tagged-union", "choices": choices, "discriminator": choice}


def _classes(annotation: object) -> Iterator[type]:
    """Yield the classes of a union, or the one class; without None."""
    if get_origin(annotation) is Annotated:
        yield from _classes(get_args(annotation)[0])
    elif get_origin(annotation) in {Union, UnionType}:
        for member in get_args(annotation):
            yield from _classes(member)
    elif isinstance(annotation, type) and annotation is not NoneType:
        yield annotation


def _tags(record: type, tag: str) -> tuple[str, ...]:
    """Return the values of a record's literal member `tag`; empty where it is not a literal."""
    hint: object = get_type_hints(record).get(tag) if is_dataclass(record) else None
    return get_args(hint) if get_origin(hint) is Literal else ()


@dataclass(frozen=True)
class MembersOf:
    """An annotation of a mapping: the members of a record that a JSON object has, without those that it leaves out."""

    record: type

    def __get_pydantic_core_schema__(self, source: object, handler: SchemaHandler) -> Schema:
        """Return the schema of the record, whose values become mappings."""

        def members(value: Mapping[str, object], validated: Callable[[object], object]) -> Mapping[str, object]:
            found = validated(value)
            return {name: getattr(found, name) for name in value}

        function = {"type": "no-info", "function": members}
        return {"type": "function-wrap", "function": function, "schema": handler.generate_schema(self.record)}


class Stated:
    """An annotation that sets members of the JSON schema of its type, such as `format`."""

    def __init__(self, **members: object) -> None:
        self._members = members

    def __get_pydantic_json_schema__(self, source: object, handler: Callable[[object], Schema]) -> Schema:
        """Return the schema of the annotated type with these members."""
        return handler(source) | self._members


Id: TypeAlias = Annotated[str, Stated(format="uuid")]
"""An identifier assigned by the service."""


def wire(
    *,
    example: Mapping[str, object] | None = None,
    is_sparse: bool = False,
    extra: Literal["forbid"] | None = None,
    required: tuple[str, ...] = (),
) -> Mapping[str, object]:
    """Return the `__pydantic_config__` of a record of the API, and of those that extend it.

    Docstrings of attributes, its own and inherited, become descriptions. Members with a default are in every response
    and therefore required, except in a record that `is_sparse`, which may leave them out.
    """

    def complete(schema: Schema, record: type) -> None:
        properties = schema.get("properties")
        if isinstance(properties, dict):
            for name, text in _descriptions(record):
                properties[name].setdefault("description", text)
        if example is not None:
            schema["example"] = example
        if required:
            named = schema.get("required")
            schema["required"] = [*(named if isinstance(named, list) else ()), *required]

    return {
        "json_schema_extra": complete,
        "json_schema_serialization_defaults_required": not is_sparse,
        **({} if extra is None else {"extra": extra}),
    }


def _descriptions(record: type) -> Iterator[tuple[str, str]]:
    """Yield attributes and their docstrings: those of a class precede those of its bases."""
    for ancestor in record.__mro__:
        if "__dataclass_fields__" not in vars(ancestor):
            continue
        (definition,) = ast.parse(dedent(inspect.getsource(ancestor))).body
        assert isinstance(definition, ast.ClassDef)
        for attribute, following in zip(definition.body, definition.body[1:], strict=False):
            match attribute, following:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    yield name, inspect.cleandoc(text).strip().replace("\n", " ")
