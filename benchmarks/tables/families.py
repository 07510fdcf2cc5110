"""Families of tables, and the half of them that is sealed."""

import hashlib
import re
from typing import Literal

Half = Literal["open", "sealed"]

RELATED = {"diamond": "diamonds"}
"""Names whose tables share columns with another family, to that family; `writing` refuses those it finds missing."""


def family(name: str) -> str:
    """Return the lower-case name up to its first digit, `-` or `_`; the family of those whose columns it shares."""
    own = re.split(r"[0-9\-_]", name.lower(), maxsplit=1)[0]
    return RELATED.get(own, own)


def half(family: str) -> Half:
    """Return the half to which a family was drawn by the hash of its name."""
    return "sealed" if hashlib.sha256(family.encode()).digest()[0] % 2 else "open"
