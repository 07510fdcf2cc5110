"""Compressed responses: texts of some hundred kB, which are a fraction of that by gzip."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from app.http.conditional_requests import conditional_response, tag_of
from app.http.negotiation import weight

ENCODING = "Accept-Encoding"
LEVEL = 6
"""Level 9 saves 1 % of the bytes of the OpenAPI document, and takes 1.5 times as long."""


def accepts_gzip(request: Request) -> bool:
    """Return whether the client accepts gzip: `Accept-Encoding` names it, and does not exclude it."""
    given = ",".join(request.headers.getlist("accept-encoding"))
    return bool(given.strip()) and weight(given, "gzip") > 0


@dataclass(frozen=True)
class StaticContent:
    """A content that many requests get, the same compressed by gzip, and the entity tags of both, made once.

    To compress the OpenAPI document takes 20 ms, for which anybody could make the service work without a key.
    """

    media_type: str
    content: bytes
    compressed: bytes
    tag: str
    compressed_tag: str

    @classmethod
    def of(cls, content: bytes, media_type: str) -> "StaticContent":
        """Return a content of a media type with what is made of it."""
        compressed = gzip.compress(content, mtime=0)
        return cls(media_type, content, compressed, tag_of(content), tag_of(compressed))

    def response(
        self, request: Request, *, cache_control: str, vary: str = ENCODING, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Return the response to a request: compressed where it accepts gzip, and 304 where it has the content."""
        is_compressed = accepts_gzip(request)
        response = conditional_response(
            request,
            self.compressed if is_compressed else self.content,
            cache_control=cache_control,
            media_type=self.media_type,
            vary=vary,
            tag=self.compressed_tag if is_compressed else self.tag,
        )
        if is_compressed and response.status_code == 200:
            response.headers["Content-Encoding"] = "gzip"
        response.headers.update(headers or {})
        return response


def compressed_response(request: Request, content: bytes, *, cache_control: str, media_type: str) -> Response:
    """Return a response with an entity tag, compressed where the client accepts gzip.

    Each of the two encodings has a tag of its own.
    """
    if not accepts_gzip(request):
        return conditional_response(request, content, cache_control=cache_control, media_type=media_type, vary=ENCODING)
    response = conditional_response(
        request,
        gzip.compress(content, LEVEL, mtime=0),
        cache_control=cache_control,
        media_type=media_type,
        vary=ENCODING,
    )
    if response.status_code == 200:
        response.headers["Content-Encoding"] = "gzip"
    return response
