"""The header that names the project in which a request acts."""

from collections.abc import Sequence
from urllib.parse import unquote

HEADER = "Relevance-Project"
HEADER_NAME = HEADER.lower().encode()
"""The header's name in requests, and in the metadata of gRPC."""

DESCRIPTION = (
    "The project in which the request acts: the owner whose resources it sees, with the characters of a URL's path. "
    "By default it is the owner of the API key, token or session. 404 where that is no member of such a project."
)


def joined(headers: Sequence[bytes]) -> bytes:
    """Return several headers as the one that they are equivalent to (RFC 9110, section 5.3)."""
    return b", ".join(headers)


def project_of(header: bytes) -> str:
    """Return the owner in a header: UTF-8, percent-encoded as in a URL's path."""
    return unquote(header.decode("utf-8", "replace"))
