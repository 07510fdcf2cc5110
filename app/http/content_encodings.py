"""Content encodings: responses compressed by gzip, and bodies of requests decompressed up to a maximum size."""

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.errors import MalformedBodyError, TooLargeError
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


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PIECE = 65_536
"""The maximum number of bytes that are decompressed at once."""

SLICE = 16_384
"""The maximum number of compressed bytes passed to a decoder at once; it copies those that it has not used."""

FREE_MEMBERS = 1_000
BYTES_PER_MEMBER = 8_192
"""A body may have `FREE_MEMBERS` gzip members or zstd frames, and one more for each `BYTES_PER_MEMBER` decompressed
bytes: even an empty member costs time. Writers of many members (bgzip) put 64 KiB or more into each."""

MAX_WINDOW_BITS = 23
"""The base-2 logarithm of the maximum zstd window, 8 MiB: what decoders on the web must support (RFC 9659)."""

GZIP, ZLIB, RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS


class _Decoder(Protocol):
    """A decoder of one encoding, which yields at most PIECE bytes at a time."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def take(self, data: bytes) -> Iterator[bytes]: ...


class _Zlib:
    """The decoder of gzip and deflate."""

    def __init__(self, bits: int) -> None:
        self._decoder = zlib.decompressobj(bits)

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def take(self, data: bytes) -> Iterator[bytes]:
        while data and not self._decoder.eof:
            yield self._decoder.decompress(data, PIECE)
            data = self._decoder.unconsumed_tail


class _Zstandard:
    """The decoder of zstd."""

    def __init__(self) -> None:
        options = {int(zstd.DecompressionParameter.window_log_max): MAX_WINDOW_BITS}
        self._decoder = zstd.ZstdDecompressor(options=options)

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def take(self, data: bytes) -> Iterator[bytes]:
        yield self._decoder.decompress(data, PIECE)
        while not self._decoder.eof and not self._decoder.needs_input:
            yield self._decoder.decompress(b"", PIECE)


def _deflate(first: bytes) -> _Zlib:
    """Return the decoder of deflate, with the zlib header of the standard or, as some clients send it, without."""
    has_header = len(first) > 1 and first[0] & 0x0F == 8 and (first[0] << 8 | first[1]) % 31 == 0
    return _Zlib(ZLIB if has_header else RAW)


_DECODERS: dict[str, Callable[[bytes], _Decoder]] = {
    "gzip": lambda _: _Zlib(GZIP),
    "x-gzip": lambda _: _Zlib(GZIP),
    "deflate": _deflate,
    "zstd": lambda _: _Zstandard(),
}
ENCODINGS = ("gzip", "deflate", "zstd")
_AS_IT_IS = frozenset({"", "identity"})


class Decompressor:
    """Decompresses a body to at most `max_bytes`; a body without an encoding is passed on unchanged.

    Raises 415 for an unknown encoding.
    """

    def __init__(self, content_encoding: str, max_bytes: int) -> None:
        self._name = content_encoding.strip().lower()
        self.is_needed = self._name not in _AS_IT_IS
        if self.is_needed and self._name not in _DECODERS:
            expected = ", ".join(ENCODINGS)
            detail = f"Expected a body without Content-Encoding, or with one of {expected}; got {self._name}."
            raise HTTPException(415, detail, {"Accept-Encoding": expected})
        self._left = self._max_bytes = max_bytes
        self._members = 0
        self._decoder: _Decoder | None = None
        self._begins = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decompressed bytes of a chunk; raises TooLargeError, MalformedBodyError."""
        if not self.is_needed:
            if data:
                yield data
            return
        for start in range(0, len(data), SLICE):
            yield from self._unpacked(data[start : start + SLICE])

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        data, self._begins = self._begins + data, b""
        while data:
            if self._decoder is None:
                if len(data) < 2:  # too few to recognise the header
                    self._begins = data
                    return
                self._decoder = _DECODERS[self._name](data)
                self._count_member()
            try:
                for piece in self._decoder.take(data):
                    if piece:
                        self._count(piece)
                        yield piece
            except (zlib.error, zstd.ZstdError, EOFError) as error:
                raise MalformedBodyError(f"Expected a {self._name} body, got other bytes: {error}.") from None
            if not self._decoder.eof:
                return
            data, self._decoder = self._decoder.unused_data, None  # followed by another member or by the end

    def finish(self) -> None:
        """Raise MalformedBodyError where the encoding is incomplete."""
        if self._decoder is not None or self._begins:
            raise MalformedBodyError(f"Expected a complete {self._name} body, got a truncated one.")

    def _count_member(self) -> None:
        self._members += 1
        if self._members > FREE_MEMBERS + (self._max_bytes - self._left) // BYTES_PER_MEMBER:
            raise MalformedBodyError(
                f"The body has too many {self._name} members: at most {FREE_MEMBERS:,}, and one for each"
                f" {BYTES_PER_MEMBER:,} decompressed bytes."
            )

    def _count(self, piece: bytes) -> None:
        self._left -= len(piece)
        if self._left < 0:
            raise TooLargeError(f"Expected at most {self._max_bytes:,} bytes once decompressed, got more.")


def expanded(body: bytes, content_encoding: str, max_bytes: int) -> bytes:
    """Return a complete body decompressed; raises as `Decompressor` does."""
    decompressor = Decompressor(content_encoding, max_bytes)
    if not decompressor.is_needed:
        return body
    pieces = list(decompressor.feed(body))
    decompressor.finish()
    return b"".join(pieces)
