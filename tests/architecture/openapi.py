"""`python -m tests.architecture.openapi BEFORE.json`: what an earlier OpenAPI document has and today's has not.

Names may differ by the tables of the changelog: a name in its second column is followed by the third's.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from app.main import create_app
from app.settings import Settings

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Renamed: TypeAlias = Mapping[str, frozenset[str]]

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
ROW = re.compile(r"^  \|(?:[^|\\]|\\.)*\|((?:[^|\\]|\\.)*)\|((?:[^|\\]|\\.)*)\|$", re.MULTILINE)
ANNOTATION = re.compile(r"___(FieldInfo|OneOf)_\w*$")
"""In names of schemas that are of a union: the words that distinguish its members."""
NAME = re.compile(r"(?<=[` ])\w+(?=[:`, ]|$)")


def renamed(changelog: str) -> Renamed:
    """The new names of each old one."""
    found: dict[str, set[str]] = {}
    for old, new in ROW.findall(changelog):
        for one, other in zip(_names(old), _names(new), strict=False):
            found.setdefault(one, set()).add(other)
    return {old: frozenset(names) for old, names in found.items()}


def _names(cell: str) -> list[str]:
    return [name for quoted in re.findall(r"`([^`]*)`", cell) for name in NAME.findall(f" {quoted} ")]


def missing(before: Json, after: Json, names: Renamed) -> Iterator[str]:
    """Each operation, parameter, schema, member and value that is gone without another name."""
    then, now = _object(before), _object(after)
    for path, operations in _object(then["paths"]).items():
        there = _object(_object(now["paths"]).get(path))
        for method, operation in _object(operations).items():
            if method not in there:
                yield f"{method.upper()} {path}"
                continue
            parameters = _parameters(there[method])
            yield from (
                f"{method.upper()} {path} {name}"
                for name in _parameters(operation)
                if not _is_there(name, parameters, names)
            )
    schemas, known = (
        {ANNOTATION.sub("", name): schema for name, schema in _object(_object(one["components"])["schemas"]).items()}
        for one in (now, then)
    )
    for name, schema in known.items():
        called = next((one for one in (name, *_new_names(name, names)) if one in schemas), None)
        if called is None:
            yield f"schema {name}"
            continue
        members, values = _members(schemas[called]), _values(schemas[called])
        yield from (f"{name}.{one}" for one in _members(schema) if not _is_there(one, members, names))
        yield from (f"{name}: {one!r}" for one in _values(schema) if not _is_there(one, values, names))


def _new_names(name: str, names: Renamed) -> Iterator[str]:
    """Of a schema, also one that is made of others, or is that of requests."""
    yield re.sub(r"[A-Z][A-Za-z0-9]*", lambda part: next(iter(names.get(part[0], {part[0]}))), name)


def _is_there(name: str, among: frozenset[str], names: Renamed) -> bool:
    return not among.isdisjoint({name} | names.get(name, frozenset()))


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
    missing_names = [*missing(json.loads(Path(before).read_text()), today(), renamed(CHANGELOG.read_text()))]
    sys.stdout.writelines(f"{one}\n" for one in missing_names)
    return 1 if missing_names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
