"""Secrets of API keys: 256 random bits behind a prefix, of which the SHA-256 digest alone is kept; scopes of roles."""

import hashlib
import secrets
from collections.abc import Mapping

from relevance_bayes.records.accounts import KEY_SCOPES, KeyScope
from relevance_bayes.records.members import Role

KEY_PREFIX = "rlv_"
"""The prefix of all keys, by which scanners for leaked secrets find them."""

SHOWN_LENGTH = len(KEY_PREFIX) + 6
"""The number of characters of a key that are kept in plain text."""

MIN_KEY_LENGTH = 16
"""The minimum length of a key that an operator chose."""

MAX_KEYS = 1_000
"""The maximum number of valid keys of one owner."""

MAX_SESSIONS = 100
"""The maximum number of sessions of one API key, and of all tokens of one owner."""

MAX_MEMBERS = 1_000
"""The maximum number of members of one project."""

ROLE_SCOPES: Mapping[Role, frozenset[KeyScope]] = {
    "viewer": frozenset({"predict", "read"}),
    "editor": frozenset({"predict", "read", "train"}),
    "admin": frozenset(KEY_SCOPES),
}
"""The scopes that the keys and tokens of a member may have in a project, by its role."""

MAX_OWNER_LENGTH = 100


def permitted_scopes(role: str) -> frozenset[KeyScope]:
    """Return the scopes that a stored role permits; none for one that only a later release knows."""
    return next((scopes for name, scopes in ROLE_SCOPES.items() if name == role), frozenset())


def is_label(text: str, max_length: int) -> bool:
    """Return whether a name or an owner has 1 to `max_length` printable characters, without spaces at its ends."""
    return 1 <= len(text) <= max_length and text.isprintable() and text == text.strip()


def is_token(secret: bytes) -> bool:
    """Return whether a secret has the form of a signed JSON Web Token: three parts, first an object in base64url."""
    return secret.startswith(b"eyJ") and secret.count(b".") == 2


def new_secret() -> str:
    """Return a new key: the prefix and 256 random bits in base64url."""
    return KEY_PREFIX + secrets.token_urlsafe(32)


def digest(secret: bytes) -> bytes:
    """Return the SHA-256 digest of a key. With 256 random bits, a slow or salted hash would add nothing."""
    return hashlib.sha256(secret).digest()
