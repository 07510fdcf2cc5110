"""Logs of fits as bytes."""

import numpy as np

from app.database.frame import Content, Stored, UnreadableBytesError, read, write
from app.database.frame_records import pack, unpack
from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.fit_log import LogEntry


def encode_fit_log(fit_log: tuple[LogEntry, ...]) -> bytes:
    """Return a log as bytes."""
    arrays: list[Stored] = []
    value = pack(fit_log, arrays)
    return write(Content.FIT_LOG, value, arrays, compressible=True)


def decode_fit_log(data: bytes) -> tuple[LogEntry, ...]:
    """Return a log from its bytes; raises UnreadableBytesError."""
    value, arrays = read(Content.FIT_LOG, data)
    entries = unpack(value, State, arrays)
    if not isinstance(entries, tuple):
        raise UnreadableBytesError(f"expected a log of fits, got {type(entries).__name__}")
    return tuple(_entry(entry) for entry in entries)


def _entry(entry: object) -> LogEntry:
    match entry:
        case State() | None:
            return entry
        case np.ndarray():
            return entry.astype(np.float64, copy=False)
    raise UnreadableBytesError(f"expected an entry of a log of fits, got {type(entry).__name__}")
