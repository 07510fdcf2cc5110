"""`Idempotency-Key`: a repeated request gets the stored response and creates nothing.

As in draft-ietf-httpapi-idempotency-key-header; a key may be quoted, as there, or bare.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Header
from pydantic.json_schema import SkipJsonSchema
from starlette.requests import Request
from starlette.responses import Response

from app.database.transaction import OpenTransaction
from app.errors import KeyInUseError
from app.http.idempotency_records import Keyed, RequestKey, StoredResponse
from app.http.key_repository import IdempotencyKeyRepository
from relevance_bayes.records.errors import Fault, InvalidRequestError


@dataclass(frozen=True)
class Idempotency:
    """The responses to requests with a key; the services that create resources store them in the same transaction."""

    transaction: OpenTransaction

    def stored_response(self, key: RequestKey) -> StoredResponse | None:
        """Return the response to the first request with this key, None if this is the first.

        Raises KeyReusedError where the first was another request, KeyInUseError while it is in progress.
        """
        with self.transaction() as tx:
            return IdempotencyKeyRepository(tx).find(key)


T = TypeVar("T")

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
MAX_KEY_LENGTH = 255
_QUOTED = re.compile(r'"((?:[!#-\[\]-~]|\\["\\])+)"')
_BARE = re.compile(r"[!#-~][!-~]*")

DESCRIPTION = (
    "A unique key for this request: 1 to 255 visible ASCII characters, quoted or bare. "
    "The same request with the same key creates nothing: it gets the first response, byte for byte, with "
    f"`{REPLAYED}: true`. Another request with the key is 422, and one still in progress 409. Errors are "
    "not stored, so a corrected request may use the same key."
)


_PATTERN = rf'^("([!#-\[\]-~]|\\["\\]){{1,{MAX_KEY_LENGTH}}}"|[!#-~][!-~]{{0,{MAX_KEY_LENGTH - 1}}})$'
"""The pattern of both ways to write a key, for OpenAPI."""

_KeyHeader = Annotated[
    str | SkipJsonSchema[None],
    Header(alias=HEADER, description=DESCRIPTION, json_schema_extra={"type": "string", "pattern": _PATTERN}),
]


async def _key(request: Request, _: _KeyHeader = None) -> str | None:
    sent = request.headers.getlist(HEADER)
    if len(sent) > 1:
        detail = f"Expected one {HEADER}, got {len(sent)}."
        raise InvalidRequestError(detail, [Fault(detail, header=HEADER)])
    return read_key(sent[0]) if sent else None


Key = Annotated[str | None, Depends(_key)]


def read_key(text: str) -> str:
    """Return the key in a header; raises InvalidRequestError."""
    bare = text.strip()
    if quoted := _QUOTED.fullmatch(bare):
        key = re.sub(r"\\(.)", r"\1", quoted[1])
    elif _BARE.fullmatch(bare):
        key = bare
    else:
        key = ""
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        detail = f"Expected an {HEADER} of 1 to {MAX_KEY_LENGTH} visible ASCII characters, such as a UUID."
        raise InvalidRequestError(detail, [Fault(detail, header=HEADER)])
    return key


def named(request: Request, owner: str, key: str | None, *content: bytes) -> RequestKey | None:
    """Return the request's key with a fingerprint of the request, None without a key.

    The fingerprint is of `content` (the body or its digest, and its media type) and of the query.
    """
    if key is None:
        return None
    digest = hashlib.sha256()
    for part in (request.url.query.encode(), *content):
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return RequestKey(owner, f"{request.method} {request.url.path}", key, digest.hexdigest())


def once(
    idempotency: Idempotency,
    key: RequestKey | None,
    response: Callable[[T], StoredResponse],
    create: Callable[[Keyed[T] | None], T],
    *,
    shown: Callable[[StoredResponse], StoredResponse] = lambda kept: kept,
) -> Response:
    """Create, or return the stored response; blocks the thread. Raises KeyReusedError, KeyInUseError, and as `create`.

    `create` stores the response to a keyed request with what it creates. `shown` adds what is not stored, to the first
    response and to each repeated one.
    """
    if key is None:
        return _response(shown(response(create(None))))
    kept = idempotency.stored_response(key)
    if kept is None:
        keyed = Keyed(key, response)
        try:
            return _response(shown(keyed.response(create(keyed))))
        except KeyInUseError:
            kept = idempotency.stored_response(key)  # a concurrent request had the key first and may have finished
            if kept is None:
                raise
    return _response(shown(kept), replayed=True)


def _response(response: StoredResponse, *, replayed: bool = False) -> Response:
    headers = dict(response.headers) | ({REPLAYED: "true"} if replayed else {})
    return Response(response.content, response.status, headers=headers)
