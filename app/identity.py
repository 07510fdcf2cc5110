"""Identifiers that sort by time of creation, and the principal of a request."""

import os
import secrets
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from uuid import UUID

from relevance_bayes.records.accounts import KEY_SCOPES, KeyScope

BUILT_IN_OWNER = "local"
"""The owner of what is created without an API key, and of keys that name no other owner."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who sends a request: the owner whose resources it sees, and the scopes that it has there.

    `expires_at` (seconds since 1970; None: never) and `key_id` (None: not an API key) are those of its credential; a
    session has the id of the key that it was created from. Where it acts in another owner's project, `own` is the
    principal in its own one. Principals of the same owner and scopes are equal.
    """

    owner: str
    scopes: frozenset[KeyScope] = frozenset(KEY_SCOPES)
    expires_at: float | None = field(default=None, compare=False)
    key_id: UUID | None = field(default=None, compare=False)
    is_session: bool = field(default=False, compare=False)
    own: "Principal | None" = field(default=None, compare=False)

    @property
    def credential(self) -> "Principal":
        """Return the principal with the owner and the scopes of the key, token or session itself."""
        return self if self.own is None else self.own

    def acting_in(self, owner: str, permitted: frozenset[KeyScope]) -> "Principal":
        """Return the principal in the project of another owner, with those of its scopes that are permitted there."""
        own = self.credential
        scopes = permitted if "admin" in own.scopes else own.scopes & permitted
        return replace(own, owner=owner, scopes=scopes, own=own)

    def has_any(self, scopes: Collection[KeyScope]) -> bool:
        """Return whether the request has one of these scopes, or `admin`, which permits everything."""
        return "admin" in self.scopes or not self.scopes.isdisjoint(scopes)

    def lacks(self, scopes: Sequence[KeyScope]) -> str:
        """Return a sentence with the scopes that would be sufficient."""
        needed = " or ".join((*scopes, "admin")[: max(1, len(scopes))])
        where = "" if self.own is None else f" in the project {self.owner!r}"
        has = ", ".join(sorted(self.scopes)) or "none"
        return f"The API key or token needs the scope {needed}{where}; it has {has}."


LOCAL = Principal(BUILT_IN_OWNER)
"""The principal of all requests to a service that needs no key."""

_GUESSABLE = Random()
os.register_at_fork(after_in_child=_GUESSABLE.seed)


def uuid7() -> UUID:
    """A UUIDv7 (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then 74 random ones."""
    return UUID(int=_uuid7(secrets.randbits(74)))


def new_request_id() -> str:
    """Return a guessable UUIDv7 as text: random bytes of the system would take most of the time."""
    digits = f"{_uuid7(_GUESSABLE.getrandbits(74)):032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _uuid7(random: int) -> int:
    milliseconds = time.time_ns() // 1_000_000
    return (milliseconds & (2**48 - 1)) << 80 | 0x7 << 76 | (random >> 62) << 64 | 0b10 << 62 | (random & (2**62 - 1))
