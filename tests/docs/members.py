"""Tables of the members of OpenAPI schemas, with their types, defaults and meanings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from app.http.openapi import OBJECT_DEFAULT
from tests.docs.shortened import MORE, Json, full

Object = Mapping[str, Json]

MAX_DEFAULT = 60
"""Characters of a default in a table."""


@dataclass(frozen=True)
class Schemas:
    """The schemas of an OpenAPI document by their names."""

    by_name: Object

    def resolved(self, schema: Object) -> Object:
        """The schema itself, or the one to which it refers."""
        return object_of(self.by_name[name_of(schema)]) if "$ref" in schema else schema

    def alternatives(self, schema: Object) -> list[Object]:
        """The schemas of a union, that of its items for a page; else the schema alone."""
        named = self.resolved(schema)
        if "$ref" in schema and name_of(schema).startswith("Page_"):
            return self.alternatives(object_of(object_of(object_of(named["properties"])["items"])["items"]))
        union = [*list_of(named.get("oneOf")), *list_of(named.get("anyOf"))]
        return [schema] if not union else [found for one in union for found in self.alternatives(object_of(one))]

    def type_of(self, schema: Object) -> str:
        """The type of a member in words; empty where it can only be null."""
        schema = self.resolved(schema)
        if "const" in schema:
            return f"`{schema['const']}`"
        if "enum" in schema:
            return ", ".join(f"`{one}`" for one in list_of(schema["enum"]))
        if (mapping := object_of(object_of(schema.get("discriminator")).get("mapping"))) and len(mapping) > 1:
            return f"object: {', '.join(f'`{name}`' for name in mapping)}"
        if union := [*list_of(schema.get("anyOf")), *list_of(schema.get("oneOf"))]:
            return " or ".join(dict.fromkeys(filter(None, (self.type_of(object_of(one)) for one in union))))
        match schema.get("type"):
            case "null":
                return ""
            case "array":
                of = self.type_of(object_of(schema.get("items")))
                return f"array of {of}" if of else "array"
            case "string" if schema.get("format") in {"uuid", "date-time"}:
                return "id" if schema["format"] == "uuid" else "time"
            case kind:
                return "object" if kind is None else str(kind)

    def meaning_of(self, schema: Object) -> str:
        """The first paragraph of a description."""
        own = schema.get("description", self.resolved(schema).get("description", ""))
        return str(own).split("\n\n")[0]

    def tables(self, schemas: Sequence[Object], *, has_defaults: bool) -> Iterator[str]:
        """The members that some schemas share, then those of each; schemas of the same members have one table."""
        properties = [object_of(self.resolved(one).get("properties")) for one in schemas]
        shared = [name for name in properties[0] if len(schemas) > 1 and _is_shared(name, properties)]
        if len(shared) > 2:
            yield self._table({name: properties[0][name] for name in shared}, schemas[0], has_defaults)
        parts = [
            (self._heading(one), self._table(_own(members, shared if len(shared) > 2 else ()), one, has_defaults))
            for one, members in zip(schemas, properties, strict=True)
        ]
        for table, some in groupby(parts, key=lambda part: part[1]):
            headings = [heading for heading, _ in some]
            yield "\n".join([*(f"- {one}" for one in headings), ""] if len(headings) > 1 else [headings[0], ""])
            yield table

    def _heading(self, schema: Object) -> str:
        """The description of a schema, after its constant members, which distinguish it from others."""
        named = self.resolved(schema)
        constants = [
            f"`{full({name: object_of(member)['const']})[1:-1]}`"
            for name, member in object_of(named.get("properties")).items()
            if "const" in object_of(member)
        ]
        return " ".join([*(f"{one}:" for one in constants), *self.meaning_of(named).split()])

    def _table(self, members: Object, schema: Object, has_defaults: bool) -> str:
        required = list_of(self.resolved(schema).get("required"))
        rows = []
        for name, member in ((name, object_of(member)) for name, member in members.items()):
            default = ("required" if name in required else default_of(member),) if has_defaults else ()
            rows.append(row(f"`{name}`", self.type_of(member), *default, self.meaning_of(member)))
        return table(("member", "type", *(("default",) if has_defaults else ()), "meaning"), rows)


def _is_shared(name: str, properties: Sequence[Object]) -> bool:
    return all(name in members and members[name] == properties[0][name] for members in properties)


def _own(members: Object, shared: Sequence[str]) -> Object:
    """The members of one alternative, but for constants and those that can only be null."""
    return {
        name: member
        for name, member in members.items()
        if name not in shared and "const" not in object_of(member) and object_of(member).get("type") != "null"
    }


def name_of(schema: Object) -> str:
    """The name to which a schema refers."""
    return str(schema["$ref"]).rpartition("/")[2]


def title_of(name: str) -> str:
    """The name of a schema in words."""
    return " ".join(re.findall(r"[A-Z][a-z0-9]*", re.sub(r"Out$", "", name))).capitalize()


def default_of(schema: Object) -> str:
    """The default of a parameter or member, empty for null."""
    default = schema.get("default", schema.get(OBJECT_DEFAULT))
    if default is None:
        return ""
    text = full(default)
    return f"`{text}`" if len(text) < MAX_DEFAULT else f"`{text[:MAX_DEFAULT].rpartition(',')[0]}, {MORE}`"


def table(head: Sequence[str], rows: Sequence[str]) -> str:
    """A table in Markdown; nothing without rows."""
    return "\n".join([row(*head), row(*["---"] * len(head)), *rows, ""]) if rows else ""


def row(*cells: str) -> str:
    """A row of a table in Markdown."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def object_of(value: Json) -> Object:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Json) -> list[Json]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []
