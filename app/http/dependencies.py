"""Dependencies of routes: the application's services and limits, and the owner."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar
from uuid import UUID

from anyio import to_thread
from fastapi import Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.http.content_encodings import Decompressor, expanded
from app.http.fast_path import body_of
from app.http.negotiation import media_type_of
from app.identity import Principal
from relevance_bayes.records.errors import NotFoundError

T = TypeVar("T")


class Services:
    """The services of an application, each found by its class: `services[Catalogue]`."""

    def __init__(self, *services: object) -> None:
        self._by_class = {type(service): service for service in services}

    def __getitem__(self, kind: type[T]) -> T:
        """Return the service of this class; raises KeyError where there is none."""
        service = self._by_class[kind]
        assert isinstance(service, kind)
        return service


@dataclass(frozen=True)
class RequestLimits:
    """The limits of HTTP requests."""

    max_upload_bytes: int
    max_body_bytes: int
    max_rows: int
    max_columns: int
    max_prediction_rows: int
    spool_directory: Path | None
    max_connections: int = 4096


def services_of(request: Request) -> Services:
    """Return the application's services."""
    services: Services = request.app.state.services
    return services


def limits_of(request: Request) -> RequestLimits:
    """Return the application's limits."""
    return services_of(request)[RequestLimits]


def principal_of(request: Request) -> Principal:
    """Return the principal whom the middleware found."""
    principal: Principal = request.state.principal
    return principal


def owner_of(request: Request) -> str:
    """Return the owner whose resources the request sees."""
    return principal_of(request).owner


async def _services(request: Request) -> Services:
    return services_of(request)


async def _owner(request: Request) -> str:
    return owner_of(request)


async def _author(request: Request) -> str:
    return principal_of(request).credential.owner


def require_json(request: Request) -> None:
    """Raise 415 unless Content-Type is JSON, which a form on a page of another site can't send."""
    media_type = media_type_of(request.headers.get("content-type", ""))
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise HTTPException(415, f"Expected application/json, got {media_type or 'no Content-Type'}.")


def content_encoding_of(request: Request) -> str:
    """Return the request's Content-Encoding, empty for identity; raises 415 for an unknown one."""
    encodings = request.headers.getlist("content-encoding")
    if not encodings:
        return ""
    encoding = ",".join(encodings)
    return encoding if Decompressor(encoding, 0).is_needed else ""


async def unpacked_body_of(request: Request) -> bytes:
    """Return the complete body, decompressed; raises as `content_encoding_of` and `expanded` do."""
    encoding = content_encoding_of(request)
    body = await body_of(request.receive)
    if not encoding:
        return body
    return await to_thread.run_sync(expanded, body, encoding, limits_of(request).max_body_bytes)


async def json_body_of(request: Request) -> bytes:
    """Return the complete body of a request whose Content-Type is JSON; raises 415 for another."""
    require_json(request)
    return await unpacked_body_of(request)


# These are async because FastAPI runs plain functions in the threadpool, at a cost for each request.
ServicesDependency = Annotated[Services, Depends(_services)]
Owner = Annotated[str, Depends(_owner)]
Author = Annotated[str, Depends(_author)]
"""The owner of the request's key, token or session, whatever project it acts in."""
JsonBody = Annotated[bytes, Depends(json_body_of)]


def identifier(text: str, noun: str) -> UUID:
    """Return an id from a path; raises NotFoundError where the text is not a UUID."""
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFoundError(f"There is no {noun} {text!r}.") from error
