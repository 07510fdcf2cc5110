"""Trails of fits as bytes."""

import numpy as np

from app.storage.codec.frame import Content, Stored, UnreadableBytesError, read, write
from app.storage.codec.records import pack, unpack
from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.trail import Mark


def encode_trail(trail: tuple[Mark, ...]) -> bytes:
    """A trail as bytes."""
    arrays: list[Stored] = []
    value = pack(trail, arrays)
    return write(Content.TRAIL, value, arrays, compressible=True)


def decode_trail(data: bytes) -> tuple[Mark, ...]:
    """A trail from its bytes; raises UnreadableBytesError."""
    value, arrays = read(Content.TRAIL, data)
    marks = unpack(value, State, arrays)
    if not isinstance(marks, tuple):
        raise UnreadableBytesError(f"expected a trail, got {type(marks).__name__}")
    return tuple(_mark(mark) for mark in marks)


def _mark(mark: object) -> Mark:
    match mark:
        case State() | None:
            return mark
        case np.ndarray():
            return mark.astype(np.float64, copy=False)
    raise UnreadableBytesError(f"expected where a fit was, got {type(mark).__name__}")
