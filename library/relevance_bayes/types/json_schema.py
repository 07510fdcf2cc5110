"""JSON schemas of records in OpenAPI: descriptions of members, formats of strings, examples.

A schema is a dictionary, which pydantic passes to be completed, so pydantic is not imported.
"""

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from textwrap import dedent
from typing import Annotated, TypeAlias

Schema: TypeAlias = dict[str, object]


class Stated:
    """An annotation that sets members of the JSON schema of its type, such as `format`."""

    def __init__(self, **members: object) -> None:
        self._members = members

    def __get_pydantic_json_schema__(self, source: object, handler: Callable[[object], Schema]) -> Schema:
        """Return the schema of the annotated type with these members."""
        return handler(source) | self._members


Id: TypeAlias = Annotated[str, Stated(format="uuid")]
"""An identifier assigned by the service."""


def wire(*, example: Mapping[str, object] | None = None, is_sparse: bool = False) -> Mapping[str, object]:
    """Return the `__pydantic_config__` of a record in responses, and of those that extend it.

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

    return {"json_schema_extra": complete, "json_schema_serialization_defaults_required": not is_sparse}


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
