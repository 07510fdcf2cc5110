"""Identifiers that sort by time of creation."""

import secrets
import time
from uuid import UUID

BUILT_IN_OWNER = "local"
"""Who owns everything while there is one key or none."""


def uuid7() -> UUID:
    """A UUIDv7 (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then 74 random ones."""
    milliseconds = time.time_ns() // 1_000_000
    random = secrets.randbits(74)
    value = (milliseconds & (2**48 - 1)) << 80 | 0x7 << 76 | (random >> 62) << 64 | 0b10 << 62 | (random & (2**62 - 1))
    return UUID(int=value)
