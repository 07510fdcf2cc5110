"""Identifiers that sort by time of creation."""

import os
import secrets
import time
from random import Random
from uuid import UUID

BUILT_IN_OWNER = "local"
"""Who owns everything while there is one key or none."""

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
