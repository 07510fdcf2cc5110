"""Who is asking: the API key, as every door reads it."""

import hmac
from collections.abc import Collection

HOW_TO_SEND = "Send the API key as `Authorization: Bearer <key>`."


class Key:
    """The key that is asked for; None: everybody is let in."""

    def __init__(self, key: str | None) -> None:
        self._expected = None if key is None else f"Bearer {key}".encode()

    def is_sent(self, authorizations: Collection[bytes]) -> bool:
        """Return whether these values of `Authorization` let somebody in: the key, once."""
        if self._expected is None:
            return True
        if len(authorizations) != 1:
            return False
        (sent,) = authorizations
        return hmac.compare_digest(_normal(sent), self._expected)


def _normal(authorization: bytes) -> bytes:
    """The header with its scheme as `Bearer`, which may come in any case."""
    scheme, _, credentials = authorization.partition(b" ")
    return b"Bearer " + credentials.strip() if scheme.lower() == b"bearer" else authorization
