"""The OpenAPI document: the bodies that routes read themselves, examples recorded from a real run; and its pages."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from mimetypes import guess_type
from pathlib import Path
from threading import Lock
from typing import Protocol, TypeAlias

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from starlette.responses import RedirectResponse, Response

from app.errors import ConflictError, CrossSiteError, GoneError, NotInstalledError, TooManyJobsError
from app.formats import ROW_FORMATS
from app.formats.format import Format, OptionName, RowFormat
from app.formats.images import IMAGE_MEDIA_TYPES
from app.http import authentication
from app.http.authentication import HOST_NAME, NAME, PROJECTS, SESSION, sufficient_scopes
from app.http.conditional_requests import REVALIDATED
from app.http.content_encodings import StaticContent
from app.http.paths import GUIDE, is_below, is_protected
from app.http.problems import FRAMEWORK, KINDS, PROBLEM_JSON, UNAUTHENTICATED, UNEXPECTED
from app.http.response_headers import CONTENT_SECURITY_POLICY, page_policy
from relevance_bayes.records.errors import NotFoundError

DESCRIBED: Mapping[OptionName, str] = {
    "delimiter": "the delimiter, detected by default.",
    "decimal": "the decimal separator, `.` or `,`, detected by default.",
    "thousands": "the separator of groups of three digits, `,`, `.`, a space or `'`; a comma or point is detected.",
    "date_format": "the format of dates besides ISO 8601, as `%d.%m.%Y` or `%m/%d/%y %I:%M %p`; `31.12.2025` and "
    "`12/31/2025` are detected.",
    "missing_values": "texts that mean a missing value, in texts too, in the place of `NA`, `nan`, `null`, `?`, `-` "
    "and others, which do so in columns of numbers, booleans and times. May be repeated.",
    "encoding": "the encoding of the text, by default UTF-8; UTF-16 is detected by its byte order mark.",
    "skip_rows": "the number of lines or rows above the table, such as those of a title.",
    "sheet": "the name of the sheet, by default the first visible one.",
}
"""Descriptions of the options of a body's format."""

CREDENTIALS = "An API key, or a token of the OpenID Connect issuer whose tokens the service accepts."
COOKIE = (
    f"The session that `POST {SESSION}` creates; its name is `{NAME.decode()}` where the service is reached by http. "
    "`Authorization` comes first. Requests that may change something need `Sec-Fetch-Site` or `Origin` of the service."
)
"""Descriptions of what authenticates requests."""


def contents(formats: Iterable[Format]) -> dict[str, dict[str, object]]:
    """Return the OpenAPI content of formats other than JSON, by media type."""
    text, binary = {"type": "string"}, {"type": "string", "format": "binary"}
    return {one.media_type: {"schema": text if one.is_text else binary} for one in formats if not one.is_document}


def described(option: OptionName) -> str:
    """Return the description of an option, after the formats that have it."""
    titles = ", ".join(one.title for one in ROW_FORMATS if isinstance(one, RowFormat) and option in one.row_options)
    return f"{titles}: {DESCRIBED[option]}"


_BYTES = {"schema": {"type": "string", "format": "binary"}}
IMAGE_CONTENT: Mapping[str, object] = dict.fromkeys(IMAGE_MEDIA_TYPES, _BYTES)
"""The OpenAPI content of images, which `image_media_type` negotiates."""


Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
Object: TypeAlias = dict[str, Json]


class Schema(Protocol):
    """The schema of a body that a route reads itself, with the interface of pydantic's TypeAdapter."""

    def json_schema(self, *, ref_template: str) -> Object:
        """Return the JSON schema, with references by the template."""


EXAMPLES = Path(__file__).with_name("examples.json")
"""Recorded exchanges with a running service, in order: operation, path, media type, request, status, response."""

PROJECT = "Project"
"""The name of the header's description, which all operations with an owner share."""

OBJECT_DEFAULT = "x-default"
"""The member of a schema that has a default which is an object; generators of clients refuse it as `default`."""

_REFERENCE = "#/components/schemas/"
_PROBLEM: Object = {"application/problem+json": {"schema": {"$ref": f"{_REFERENCE}ProblemOut"}}}
_INFERENCE_PROBLEM: Object = {"application/json": {"schema": {"$ref": f"{_REFERENCE}InferenceProblemOut"}}}
_KINDS = {
    **FRAMEWORK,
    401: UNAUTHENTICATED,
    403: KINDS[CrossSiteError],
    409: KINDS[ConflictError],
    410: KINDS[GoneError],
    429: KINDS[TooManyJobsError],
    500: UNEXPECTED,
    501: KINDS[NotInstalledError],
}


def problems(*statuses: int) -> dict[int | str, dict[str, object]]:
    """Return a route's problem responses: those with the given statuses, and the default."""
    return _problems(statuses, _PROBLEM)


def inference_problems(*statuses: int) -> dict[int | str, dict[str, object]]:
    """Return the same for the Open Inference Protocol, whose problems have another schema."""
    return _problems(statuses, _INFERENCE_PROBLEM)


def _problems(statuses: Collection[int], content: Object) -> dict[int | str, dict[str, object]]:
    named: dict[int | str, dict[str, object]] = {
        status: {"description": _KINDS[status].title, "content": content} for status in sorted(statuses)
    }
    return {**named, "default": {"description": "Any other problem", "content": content}}


def json_body(schema: str) -> dict[str, object]:
    """Return a required JSON body that the route reads itself."""
    content = {"application/json": {"schema": {"$ref": f"{_REFERENCE}{schema}"}}}
    return {"requestBody": {"required": True, "content": content}}


def file_body(schema: str, media_type: str) -> dict[str, object]:
    """Return a required body that is JSON or a file of another media type."""
    content = {
        "application/json": {"schema": {"$ref": f"{_REFERENCE}{schema}"}},
        media_type: {"schema": {"type": "string", "format": "binary"}},
    }
    return {"requestBody": {"required": True, "content": content}}


def document(app: FastAPI, schemas: Mapping[str, Schema], *, protected: bool) -> None:
    """Add the `schemas` of bodies that routes read themselves to the application's OpenAPI, by their names.

    Operations on owned resources need a key with one of the named scopes; unless the service is `protected`, they need
    none while the service has no key.
    """

    made_of_routes = app.openapi

    def openapi() -> Object:
        if not app.openapi_schema:
            app.openapi_schema = _completed(made_of_routes(), schemas, protected=protected)
        schema: Object = app.openapi_schema
        return schema

    app.openapi = openapi  # type: ignore[method-assign]


def _completed(made: Object, bodies: Mapping[str, Schema], *, protected: bool) -> Object:
    components = _object(made, "components")
    schemas = _object(components, "schemas")
    for name, adapter in bodies.items():
        # Names of their own, because FastAPI names the response schemas of the same classes, with all members required.
        schema = adapter.json_schema(ref_template=f"{_REFERENCE}{{model}}-Input")
        definitions = _object(schema, "$defs")
        del schema["$defs"]
        schemas |= {f"{inner}-Input": definition for inner, definition in definitions.items()}
        schemas[name] = schema | {"title": name} if "title" in schema else schema
    _suit_generators(schemas)
    for exchange in recorded():
        _illustrate(_object(made, "paths"), exchange)
    _object(components, "securitySchemes").update(
        key={"type": "http", "scheme": "bearer", "description": CREDENTIALS},
        session={"type": "apiKey", "in": "cookie", "name": HOST_NAME.decode(), "description": COOKIE},
    )
    _object(components, "parameters")[PROJECT] = {
        "name": authentication.PROJECT_HEADER,
        "in": "header",
        "description": authentication.PROJECT_DESCRIPTION,
        "schema": {"type": "string"},
    }
    for path, operations in _object(made, "paths").items():
        if is_protected(path) and isinstance(operations, dict):
            for method, operation in operations.items():
                if isinstance(operation, dict):
                    if not is_below(path, PROJECTS):
                        parameters = operation.setdefault("parameters", [])
                        assert isinstance(parameters, list)
                        parameters.append({"$ref": f"#/components/parameters/{PROJECT}"})
                    allowed: list[Json] = [] if protected else [{}]
                    scopes = (*sufficient_scopes(method.upper(), path), "admin")
                    # A session is not created from another one.
                    for scheme in ("key",) if (method, path) == ("post", SESSION) else ("key", "session"):
                        allowed += [{scheme: [scope]} for scope in scopes]
                    operation["security"] = allowed
    return made


def _suit_generators(schemas: Object) -> None:
    """Complete schemas for generators of clients, which name classes by titles and have no objects as defaults."""
    titles = Counter(str(schema.get("title")) for schema in schemas.values() if isinstance(schema, dict))
    for name, schema in schemas.items():
        assert isinstance(schema, dict)
        if (title := schema.get("title")) and titles[str(title)] > 1:
            schema["title"] = _distinct_title(name, str(title), schemas)
        for member in _object(schema, "properties").values() if "properties" in schema else ():
            if isinstance(member, dict) and isinstance(member.get("default"), dict):
                member[OBJECT_DEFAULT] = member.pop("default")


def _distinct_title(name: str, title: str, names: Collection[str]) -> str:
    """Return the title of a schema whose class has namesakes: with its role, its module, or what it is generic in."""
    if name.endswith("-Input"):
        return f"{title}Input"
    if name.endswith(f"__{title}"):
        return f"{name.split('__')[-2].title()}{title}"
    return title + "Or".join(part for part in re.split(r"_+", name)[1:] if part in names)


def recorded() -> Sequence[Mapping[str, Json]]:
    """Return the recorded exchanges, in order."""
    exchanges: list[dict[str, Json]] = json.loads(EXAMPLES.read_text(encoding="utf-8")) if EXAMPLES.exists() else []
    return exchanges


def _illustrate(paths: Object, exchange: Mapping[str, Json]) -> None:
    """Add an exchange to its operation as an example."""
    method, _, template = str(exchange["operation"]).partition(" ")
    operation = _object(_object(paths, template), method.lower())
    summary = str(exchange["summary"])
    if exchange.get("request") is not None and not str(exchange["media_type"]).startswith("image/"):
        body = _object(_object(operation, "requestBody"), "content")
        media = _object(body, str(exchange["media_type"]))
        _object(media, "examples")[summary] = {"value": exchange["request"]}
    if exchange.get("response") is not None:
        status = int(str(exchange["status"]))
        response = _object(_object(operation, "responses"), str(status))
        response.setdefault("description", summary)
        media = _object(_object(response, "content"), "application/json" if status < 400 else PROBLEM_JSON)
        _object(media, "examples")[summary] = {"value": exchange["response"]}


def _object(parent: Object, name: str) -> Object:
    """Return an object member, created where it is absent."""
    member = parent.setdefault(name, {})
    assert isinstance(member, dict)
    return member


DOCS, REDOC, OPENAPI = "/docs", "/redoc", "/openapi.json"
STATIC = "/static-offline-docs"
"""Path at which fastapi_offline serves the scripts and styles of both pages."""

router = APIRouter(include_in_schema=False)


MAX_ROOTS = 8
"""The number of paths at which the service is mounted, by its proxies, whose documents are kept."""

MAX_FILES_OF_GUIDE = 128
"""The number of files of the guide that are kept."""

BUILDING = Lock()
"""Held while the OpenAPI document is built, so that concurrent first requests build it once."""

HTML = "text/html; charset=utf-8"


@lru_cache(MAX_ROOTS)
def _document(app: FastAPI, root: str) -> StaticContent:
    """Return the OpenAPI document of the service at a path, which is built once."""
    document = app.openapi()
    if root:
        document = {**document, "servers": [{"url": root}]}
    content = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return StaticContent.of(content.encode(), "application/json")


@router.get(OPENAPI)
def openapi(request: Request) -> Response:
    """Return the OpenAPI document, which a proxy's path precedes.

    It takes the place of FastAPI's route, which builds the document on the event loop: a second during which no other
    request would be answered.
    """
    with BUILDING:
        document = _document(request.app, request.scope.get("root_path", ""))
    return document.response(request, cache_control=REVALIDATED)


@router.get(DOCS)
async def swagger(request: Request) -> Response:
    """Return Swagger UI."""
    return _page(request, _swagger(request.scope.get("root_path", ""), request.app.title))


@lru_cache(MAX_ROOTS)
def _swagger(root: str, title: str) -> StaticContent:
    page = get_swagger_ui_html(
        openapi_url=f"{root}{OPENAPI}",
        title=f"{title} - Swagger UI",
        swagger_js_url=f"{root}{STATIC}/swagger-ui-bundle.js",
        swagger_css_url=f"{root}{STATIC}/swagger-ui.css",
        swagger_favicon_url=f"{root}{STATIC}/favicon.png",
    )
    return StaticContent.of(bytes(page.body), HTML)


@router.get(REDOC)
async def redoc(request: Request) -> Response:
    """Return ReDoc."""
    return _page(request, _redoc(request.scope.get("root_path", ""), request.app.title))


@lru_cache(MAX_ROOTS)
def _redoc(root: str, title: str) -> StaticContent:
    page = get_redoc_html(
        openapi_url=f"{root}{OPENAPI}",
        title=f"{title} - ReDoc",
        redoc_js_url=f"{root}{STATIC}/redoc.standalone.js",
        redoc_favicon_url=f"{root}{STATIC}/favicon.png",
        with_google_fonts=False,
    )
    return StaticContent.of(bytes(page.body), HTML)


def _page(request: Request, content: StaticContent, *, form_action: str = "'none'") -> Response:
    """Return a page, whose scripts are its own."""
    policy = {CONTENT_SECURITY_POLICY: _policy(content.content, form_action)}
    return content.response(request, cache_control=REVALIDATED, headers=policy)


@lru_cache(MAX_FILES_OF_GUIDE)
def _policy(html: bytes, form_action: str) -> str:
    return page_policy(html.decode(), form_action=form_action)


PACKAGE = Path(__file__).parents[1]
PLACES = (PACKAGE / "guide", PACKAGE.parent / "dist" / "guide")
"""The folders where the site may be: in an installed package, and in a checkout."""


@router.get(GUIDE)
async def first_page(request: Request) -> RedirectResponse:
    """Redirect to the folder, since the links of the pages are relative to it."""
    return RedirectResponse(f"{request.scope.get('root_path', '')}{GUIDE}/", 307)


@router.get(f"{GUIDE}/{{name:path}}")
def page(request: Request, name: str) -> Response:
    """Return a file of the site; raise NotFoundError for what is no file of it, or where no site was built."""
    folder = next((place for place in PLACES if place.is_dir()), None)
    if folder is None:
        raise NotFoundError("The guide is not installed here: `make docs` builds it from a checkout.")
    path = (folder / (name or "index.html")).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise NotFoundError(f"The guide has no page {name!r}.")
    file = _file(path, path.stat().st_mtime_ns)
    if file.media_type == HTML:
        return _page(request, file, form_action="'self'")  # the search of the site is a form
    return file.response(request, cache_control=REVALIDATED)


@lru_cache(MAX_FILES_OF_GUIDE)
def _file(path: Path, _changed_at: int) -> StaticContent:
    """Return a file of the site, as of the time of its last change."""
    media_type = guess_type(path.name)[0] or "application/octet-stream"
    charset = "; charset=utf-8" if media_type.startswith("text/") else ""
    return StaticContent.of(path.read_bytes(), media_type + charset)
