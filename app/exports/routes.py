"""Versions as files: out for other programs, and in from another service."""

import hashlib
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.exceptions import HTTPException

from app.errors import MalformedBodyError
from app.exports import formats
from app.exports.formats import NPZ, RENDERINGS, Format
from app.exports.service import Exporting, Importing
from app.formats.json_body import check_containers, check_members, decode
from app.http.bodies import MAX_DOCUMENT_MEMBERS, checked
from app.http.conditional_requests import NOT_MODIFIED, REVALIDATED, conditional_response
from app.http.dependencies import Owner, ServicesDependency, limits_of, unpacked_body_of
from app.http.idempotency import Idempotency, Key, named, once
from app.http.idempotency_records import Keyed, StoredResponse
from app.http.negotiation import AcceptsJson, accepts, media_type_of, to_json
from app.http.openapi import file_body, problems
from app.http.references import ModelName, VersionReference
from app.registry.records import Version
from app.tasks.responses import version_record
from relevance_bayes.documents.reports import ExportedVersion
from relevance_bayes.documents.schema import DOCUMENT, version_of
from relevance_bayes.records import versions

_BYTES = {"schema": {"type": "string", "format": "binary"}}
_FILES: dict[str, object] = {
    rendering.media_type: _BYTES for rendering in RENDERINGS.values() if rendering.media_type != "application/json"
}
_HEADERS = {
    "ETag": {"schema": {"type": "string"}, "description": "SHA-256 of the file, quoted."},
    "Cache-Control": {"schema": {"type": "string"}},
    "Content-Disposition": {"schema": {"type": "string"}, "description": "The file's name."},
}

router = APIRouter(prefix="/v1/models", tags=["Models"])


@router.get(
    "/{name}/versions/{version}/export",
    summary="Export a version",
    response_class=Response,
    responses={
        200: {
            "description": "The version, in the requested format.",
            "headers": _HEADERS,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/VersionDocument"}}, **_FILES},
        },
        304: NOT_MODIFIED,
        **problems(404, 406, 409, 422, 501),
    },
)
def export(
    reference: VersionReference,
    owner: Owner,
    services: ServicesDependency,
    request: Request,
    required: Annotated[
        Format,
        Query(
            alias="format",
            description="`json` and `npz` contain all that predictions need, and can be imported; `onnx` and "
            "`python`, one file that needs numpy alone, compute them.",
        ),
    ] = "json",
) -> Response:
    """Return everything that predictions need, for other programs: docs/reference/document.md describes each member.

    What a number means never changes, so its files don't either while the service stays the same: use
    `If-None-Match`.
    """
    rendering = RENDERINGS[required]
    if not accepts(request.headers.get("accept"), rendering.media_type):
        raise HTTPException(406, f"The file is {rendering.media_type}, which the Accept header does not allow.")
    exported = services[Exporting].version(owner, reference)
    content = rendering.render(exported)
    # The whole digest, which identifies the origin of an import.
    tag = f'"{hashlib.sha256(content).hexdigest()}"'
    response = conditional_response(
        request, content, cache_control=REVALIDATED, media_type=rendering.media_type, tag=tag
    )
    file = f"{exported.model}-{exported.number}{rendering.ending}"
    response.headers["Content-Disposition"] = f'attachment; filename="{file}"'
    return response


async def _document(request: Request) -> bytes:
    """The body of a request that claims to be a document."""
    media_type = media_type_of(request.headers.get("content-type", ""))
    if media_type not in {"application/json", NPZ}:
        raise HTTPException(415, f"Expected application/json or {NPZ}, got {media_type or 'no Content-Type'}.")
    return await unpacked_body_of(request)


@router.post(
    "/{name}/versions",
    status_code=201,
    summary="Import a version",
    response_model=versions.KnownVersion,
    openapi_extra=file_body("VersionDocument", NPZ),
    responses=problems(400, 406, 409, 413, 415, 422),
    dependencies=[AcceptsJson],
)
def import_version(
    name: ModelName,
    request: Request,
    body: Annotated[bytes, Depends(_document)],
    owner: Owner,
    services: ServicesDependency,
    key: Key,
) -> Response:
    """Add an exported version, as JSON or npz, to a model: a new one, or one with the same task, target and inputs.

    Its predictions are those of the exported version to the bit; `imported` has its origin.
    """
    media_type = media_type_of(request.headers.get("content-type", ""))

    def create(keyed: Keyed[Version] | None) -> Version:
        document = _read(body, media_type, max_bytes=limits_of(request).max_body_bytes)
        digest = hashlib.sha256(body).hexdigest()
        return services[Importing].add(owner, name, document, digest=digest, keyed=keyed)

    return once(services[Idempotency], named(request, owner, key, media_type.encode(), body), _imported, create)


def _read(body: bytes, media_type: str, *, max_bytes: int) -> ExportedVersion:
    """Return the version in a body; raises MalformedBodyError, TooLargeError, InvalidDataError, InvalidRequestError."""
    try:
        if media_type == NPZ:
            text, arrays = formats.read(body, max_bytes=max_bytes)
            check_containers(text)
            value = formats.with_arrays(decode(text), arrays)
        else:
            check_containers(body)
            check_members(body, MAX_DOCUMENT_MEMBERS)
            value = decode(body)
        document = checked(DOCUMENT, value, max_members=MAX_DOCUMENT_MEMBERS, max_elements=None)
        return version_of(document)
    except RecursionError as error:
        raise MalformedBodyError("The document is nested too deeply.") from error


def _imported(version: Version) -> StoredResponse:
    location = f"/v1/models/{quote(version.model, safe='')}/versions/{version.number}"
    headers = (("Location", location), ("Content-Type", "application/json"))
    return StoredResponse(201, headers, to_json(version_record(version)))
