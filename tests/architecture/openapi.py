"""`python -m tests.architecture.openapi BEFORE.json`: what an OpenAPI document has and that of this code lacks."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from app.main import create_app
from app.settings import Settings

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

ANNOTATION = re.compile(r"___(FieldInfo|OneOf)_\w*$")
"""In names of schemas that are of a union: the words that distinguish its members."""


def missing(before: Json, after: Json) -> Iterator[str]:
    """Each operation, parameter, schema, member and value that is gone."""
    then, now = _object(before), _object(after)
    for path, operations in _object(then["paths"]).items():
        there = _object(_object(now["paths"]).get(path))
        for method, operation in _object(operations).items():
            if method not in there:
                yield f"{method.upper()} {path}"
                continue
            parameters = _parameters(there[method])
            yield from (f"{method.upper()} {path} {name}" for name in _parameters(operation) if name not in parameters)
    schemas, known = (
        {ANNOTATION.sub("", name): schema for name, schema in _object(_object(one["components"])["schemas"]).items()}
        for one in (now, then)
    )
    for name, schema in known.items():
        if name not in schemas:
            yield f"schema {name}"
            continue
        yield from (f"{name}.{one}" for one in _members(schema) - _members(schemas[name]))
        yield from (f"{name}: {one!r}" for one in _values(schema) - _values(schemas[name]))


def _parameters(operation: Json) -> frozenset[str]:
    listed = _object(operation).get("parameters", [])
    assert isinstance(listed, list)
    return frozenset(str(_object(one)["name"]) for one in listed if "name" in _object(one))


def _members(schema: Json) -> frozenset[str]:
    return frozenset(_object(_object(schema).get("properties")))


def _values(schema: Json) -> frozenset[str]:
    found: set[str] = set()
    match schema:
        case dict():
            if isinstance(listed := schema.get("enum"), list):
                found |= {one for one in listed if isinstance(one, str)}
            if isinstance(const := schema.get("const"), str):
                found.add(const)
            for name, inner in schema.items():
                found |= _values(inner) if name not in {"example", "examples"} else frozenset()
        case list():
            for inner in schema:
                found |= _values(inner)
    return frozenset(found)


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def today() -> Json:
    """The document of this code."""
    written: Json = json.loads(json.dumps(create_app(Settings(database_url="sqlite:///nowhere.db")).openapi()))
    return written


def main(before: str) -> int:
    """Exit with 1 where something is gone."""
    missing_names = [*missing(json.loads(Path(before).read_text()), today())]
    sys.stdout.writelines(f"{one}\n" for one in missing_names)
    return 1 if missing_names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
