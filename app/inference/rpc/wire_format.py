"""The number of fields of a protocol buffers message, limited before the message is parsed.

Each field begins with a tag: its number times 8 plus its type (https://protobuf.dev/programming-guides/encoding). 30 MB
may be 15 million empty submessages, for which a parser takes gigabytes in one call during which nothing else in the
process runs.
"""

from collections.abc import Mapping
from typing import TypeAlias

from app.errors import TooLargeError

MAX_FIELDS = 1_000_000
"""The maximum number of fields of a message and its submessages: each string is one field, packed numbers are one
together."""

VARINT, FIXED_64, LENGTH_DELIMITED, FIXED_32 = 0, 1, 2, 5

Submessages: TypeAlias = "Mapping[int, Submessages]"
"""The field numbers of submessages, each with those of its own."""

OF_INFERENCE: Submessages = {5: {5: {}}}
"""The submessages of ModelInferRequest: `inputs`, and their `contents`."""


def check_fields(content: bytes, submessages: Submessages, max_fields: int = MAX_FIELDS) -> None:
    """Raise TooLargeError for a message of too many fields; the parser reports malformed ones."""
    fields = 0
    pending = [(0, len(content), submessages)]
    while pending:
        place, end, inner = pending.pop()
        while place < end:
            fields += 1
            if fields > max_fields:
                raise TooLargeError(f"Expected at most {max_fields:,} fields in the message, got more.")
            tag, place = _varint(content, place, end)
            kind, length = tag & 7, 0
            if kind == LENGTH_DELIMITED:
                length, place = _varint(content, place, end)
                if (nested := inner.get(tag >> 3)) is not None and place + length <= end:
                    pending.append((place, place + length, nested))
            elif kind == VARINT:
                _, place = _varint(content, place, end)
            elif kind in {FIXED_64, FIXED_32}:
                length = 8 if kind == FIXED_64 else 4
            else:
                return
            place += length


def _varint(content: bytes, place: int, end: int) -> tuple[int, int]:
    """Return the integer at `place` (seven bits a byte, least significant first) and the position after it."""
    number = shift = 0
    while place < end and shift < 70:
        byte = content[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    return number, place
