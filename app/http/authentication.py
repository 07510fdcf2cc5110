"""Authentication of requests by an API key, for every protocol."""

import hmac
from collections.abc import Collection

HOW_TO_SEND = "Send the API key as `Authorization: Bearer <key>`."


class Key:
    """The expected API key; with None, every request is authenticated."""

    def __init__(self, key: str | None) -> None:
        self._expected = None if key is None else f"Bearer {key}".encode()

    def is_sent(self, authorizations: Collection[bytes]) -> bool:
        """Return whether these values of `Authorization` are exactly one, the key."""
        if self._expected is None:
            return True
        if len(authorizations) != 1:
            return False
        (sent,) = authorizations
        return hmac.compare_digest(_normal(sent), self._expected)


def _normal(authorization: bytes) -> bytes:
    """Return the header with its scheme, which is case-insensitive, as `Bearer`."""
    scheme, _, credentials = authorization.partition(b" ")
    return b"Bearer " + credentials.strip() if scheme.lower() == b"bearer" else authorization
