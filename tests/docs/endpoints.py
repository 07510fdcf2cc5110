"""The pages of docs/reference/endpoints, made of the OpenAPI document: `python -m tests.docs.endpoints` writes them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.http.openapi import recorded
from app.main import create_app
from app.settings import Settings
from relevance_bayes.client import DEFAULT_URL
from tests.docs.members import Object, Schemas, default_of, list_of, name_of, object_of, row, table, title_of
from tests.docs.shortened import Json, full, shortened

FOLDER = Path(__file__).parents[2] / "docs" / "reference" / "endpoints"

INDEX = """# Endpoints

```sh
curl -s http://127.0.0.1:8000/v1/models -H "Authorization: Bearer $RELEVANCE_API_KEY"
```

These pages list all endpoints: the scope that a key needs, a request with its response, parameters with their
defaults, and errors. They are made of `/openapi.json`, which has all schemas; the running service shows it at `/docs`.
A service that [needs no key](../../how-to/api-keys.md) needs no header `Authorization` either. The scope `admin`
permits everything. Each request that needs a key, except those to `/v1/projects`, may name the project in which it
acts, in the header [`Relevance-Project`](../api.md#projects).

In responses `...` stands for more members, or for more items of the same kind.

See also [conventions](../api.md) (lists, conditional requests, compatibility), [errors](../errors.md),
[idempotency](../jobs.md#idempotency), [formats](../formats.md) and [limits](../limits.md).
"""

MEANINGS = {
    "Idempotency-Key": "A key with which the request can be repeated ([idempotency](../jobs.md#idempotency)).",
}
"""Meanings of parameters that have a section elsewhere."""


@dataclass(frozen=True)
class Endpoint:
    """An operation of the OpenAPI document."""

    method: str
    path: str
    operation: Object

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def summary(self) -> str:
        return str(self.operation["summary"])

    @property
    def scopes(self) -> str:
        """The scopes each of which suffices; `admin` only where no other does."""
        named = [
            one for option in list_of(self.operation.get("security")) for one in list_of(object_of(option).get("key"))
        ]
        return " or ".join(f"`{scope}`" for scope in named if scope != "admin" or len(named) == 1)

    @property
    def anchor(self) -> str:
        return re.sub(r"[^a-z0-9 -]", "", self.summary.lower()).replace(" ", "-")

    @property
    def exchanges(self) -> list[Object]:
        """The requests that were recorded, with their responses."""
        return [one for one in recorded() if one["operation"] == self.name]

    def responses(self) -> Iterator[tuple[str, Object]]:
        """The status and the schema of each successful response that is JSON."""
        for status, response in object_of(self.operation["responses"]).items():
            content = object_of(object_of(response).get("content"))
            if status.startswith("2") and "application/json" in content:
                yield status, object_of(object_of(content["application/json"]).get("schema"))


def document() -> Object:
    """The OpenAPI document of this code."""
    made: Json = json.loads(json.dumps(create_app(Settings(database_url="sqlite:///nowhere.db")).openapi()))
    return object_of(made)


def endpoints_of(openapi: Object) -> dict[str, list[Endpoint]]:
    """All operations by their tags, those of short paths first."""
    by_tag: dict[str, list[Endpoint]] = {str(object_of(tag)["name"]): [] for tag in list_of(openapi["tags"])}
    for path, operations in object_of(openapi["paths"]).items():
        for method, operation in object_of(operations).items():
            (tag,) = list_of(object_of(operation)["tags"])
            by_tag[str(tag)].append(Endpoint(method.upper(), path, object_of(operation)))
    return {tag: sorted(some, key=lambda one: one.path.count("/")) for tag, some in by_tag.items()}


def pages(openapi: Object) -> dict[str, str]:
    """The text of each page, by its file name."""
    by_tag, schemas = endpoints_of(openapi), Schemas(object_of(object_of(openapi["components"])["schemas"]))
    described = {str(object_of(tag)["name"]): str(object_of(tag)["description"]) for tag in list_of(openapi["tags"])}
    made = {f"{_slug(tag)}.md": _page(tag, described[tag], some, schemas) for tag, some in by_tag.items()}
    contents = "\n".join(["```{toctree}", ":hidden:", "", *map(_slug, by_tag), "```", ""])
    index = [INDEX, *(_listing(tag, some) for tag, some in by_tag.items()), contents]
    return {"index.md": "\n".join(index), **made}


def _slug(tag: str) -> str:
    return tag.lower().replace(" ", "-")


def _listing(tag: str, endpoints: Sequence[Endpoint]) -> str:
    rows = [
        row(f"[{one.summary}]({_slug(tag)}.md#{one.anchor})", f"`{one.name}`", one.scopes or "no key")
        for one in endpoints
    ]
    return "\n".join([f"## {tag}\n", table(("", "endpoint", "scope"), rows)])


def _page(tag: str, description: str, endpoints: Sequence[Endpoint], schemas: Schemas) -> str:
    parts = [f"# {tag}\n", f"{description}\n", *(part for one in endpoints for part in _section(one, schemas))]
    groups = dict(_objects(endpoints, schemas))
    if groups:
        parts.append("## Objects\n")
    for title, group in groups.items():
        parts += [f"### {title}\n", *schemas.tables(group, has_defaults=False)]
    return "\n".join(filter(None, parts))


def _section(endpoint: Endpoint, schemas: Schemas) -> Iterator[str]:
    operation = endpoint.operation
    yield f"## {endpoint.summary}\n"
    yield f"`{endpoint.name}`\n"
    yield f"{operation.get('description', '')}\n"
    yield f"Scope: {endpoint.scopes}.\n" if endpoint.scopes else "No key is needed.\n"
    yield from _example(endpoint)
    parameters = [object_of(one) for one in list_of(operation.get("parameters")) if "$ref" not in object_of(one)]
    rows = [_parameter_row(one, schemas) for one in parameters if not _is_in_body(one)]
    yield table(("parameter", "type", "default", "meaning"), rows)
    if of_body := [f"`{one['name']}`" for one in parameters if _is_in_body(one)]:
        yield f"For a body that is not JSON, these members are parameters of the URL: {', '.join(of_body)}.\n"
    content = object_of(object_of(operation.get("requestBody")).get("content"))
    if "application/json" in content:
        yield "The members of a JSON body:\n"
        body = object_of(object_of(content["application/json"])["schema"])
        yield from schemas.tables(schemas.alternatives(body), has_defaults=True)
    yield from _errors(endpoint)


def _is_in_body(parameter: Object) -> bool:
    return str(parameter.get("description", "")).startswith("Not for a JSON body")


def _parameter_row(parameter: Object, schemas: Schemas) -> str:
    schema, name = object_of(parameter.get("schema")), str(parameter["name"])
    place = "" if parameter["in"] == "query" else f" ({parameter['in']})"
    default = "required" if parameter.get("required") else default_of(schema)
    meaning = MEANINGS.get(name, str(parameter.get("description", "")))
    return row(f"`{name}`{place}", schemas.type_of(schema), default, meaning)


def _example(endpoint: Endpoint) -> Iterator[str]:
    """The first request that succeeded, and its response."""
    for one in endpoint.exchanges:
        if int(str(one["status"])) < 400 and one["media_type"] in {None, "application/json"}:
            yield f"```sh\n{_command(endpoint.method, one)}\n```\n"
            yield f"The status of the response is {one['status']}{'.' if one['response'] is None else ':'}\n"
            yield "" if one["response"] is None else f"```json\n{shortened(one['response'])}\n```\n"
            return


def _command(method: str, exchange: Object) -> str:
    url, request = f"{DEFAULT_URL}{exchange['path']}", exchange["request"]
    sent = "" if method == ("GET" if request is None else "POST") else f"-X {method} "
    command = f"curl -s {sent}'{url}'" if re.search("[?&]", url) else f"curl -s {sent}{url}"
    if request is None:
        return command
    body = full(request).replace("'", "'\\''")
    return f"{command} -H 'Content-Type: application/json' \\\n  -d '{body}'"


def _errors(endpoint: Endpoint) -> Iterator[str]:
    """The statuses of errors, and the detail of one that was recorded."""
    statuses = [status for status in object_of(endpoint.operation["responses"]) if "400" <= status < "600"]
    text = f"[Errors](../errors.md): {', '.join(sorted(statuses))}." if statuses else ""
    for one in endpoint.exchanges:
        if int(str(one["status"])) >= 400:
            detail = " ".join(str(object_of(one["response"])["detail"]).split())
            text += f' For example {one["status"]}, "{detail}"'
            break
    yield f"{text}\n" if text else ""


def _objects(endpoints: Sequence[Endpoint], schemas: Schemas) -> Iterator[tuple[str, list[Object]]]:
    """The alternatives of each response, under the title of the first."""
    for endpoint in endpoints:
        for _, schema in endpoint.responses():
            group = [one for one in schemas.alternatives(schema) if schemas.resolved(one).get("properties")]
            if group:
                yield title_of(name_of(group[0])), group


def write(folder: Path, texts: Mapping[str, str]) -> None:
    for file, text in texts.items():
        (folder / file).write_text(text, "utf-8")


if __name__ == "__main__":
    write(FOLDER, pages(document()))
