"""The most frequent body of a prediction, rows of numbers only, decoded directly to a matrix.

A fast path beside `json_table`, which reads every body and reports its errors: what is read here gives the same numbers
there, and any other body returns None.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import msgspec
import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import NumberBlock

MAX_COLUMNS = 64
"""The maximum number of columns: in a wider row, the search for a name out of order takes too long."""

PIECE_BYTES = 65_536
"""The size of the chunks in which a long body is decoded; the decoder holds the GIL only for one chunk."""

_BEGINNING = re.compile(rb'"rows"\s*:\s*\[\s*\Z')
_BETWEEN = re.compile(rb"\}\s*,\s*\{")
_MAX_BEGINNING_LENGTH = 100


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    """The members besides the rows, None where they are absent."""

    rows: list[msgspec.Struct]
    interval: float | None = None
    outputs: tuple[str, ...] | None = None
    row_ids: list[str] | None = None

    @property
    def texts(self) -> int:
        """Return the number of keys and strings outside of the rows."""
        listed = (one for one in (self.outputs, self.row_ids) if one is not None)
        return 1 + (self.interval is not None) + sum(1 + len(one) for one in listed)


@dataclass(frozen=True, eq=False)
class NumberRows:
    """A table of numbers, and the options of the prediction, and the ids of rows: None where they are absent."""

    block: NumberBlock
    interval: float | None
    outputs: tuple[str, ...] | None
    row_ids: list[str] | None


def read_number_rows(
    body: bytes, names: tuple[str, ...], *, yield_gil: Callable[[], None] = lambda: None
) -> NumberRows | None:
    """Return rows (at least one) with exactly the columns `names`, all numbers; None for any other body.

    Decoders drop repeated keys silently. As in `json_body.decode` they are found by counting: each string and key has
    two quotation marks.
    """
    if b"\\" in body or (reader := _reader(names)) is None:
        return None
    try:
        return reader.whole(body) if len(body) <= PIECE_BYTES else reader.in_pieces(body, yield_gil)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def decoded_rows(texts: Sequence[bytes], names: tuple[str, ...]) -> Array | None:
    """Return the matrix (N, k) of N rows, each a JSON text with exactly the columns `names` (k), all numbers.

    Returns None, or raises msgspec's error, for any others.
    """
    if (reader := _reader(names)) is None or any(b"\\" in text for text in texts):
        return None
    if sum(text.count(b'"') for text in texts) != 2 * len(texts) * len(names):
        return None
    return reader.values([*map(reader.row.decode, texts)])


@dataclass(frozen=True, eq=False)
class _Reader:
    """Decoders of bodies, of lists of rows, and of rows, with the columns `names` (k)."""

    names: tuple[str, ...]
    body: "msgspec.json.Decoder[_Body]"
    rows: "msgspec.json.Decoder[list[msgspec.Struct]]"
    row: "msgspec.json.Decoder[msgspec.Struct]"

    def whole(self, body: bytes) -> NumberRows | None:
        found = self.body.decode(body)
        if not found.rows or body.count(b'"') != 2 * (found.texts + len(found.rows) * len(self.names)):
            return None
        return self._read(found, self.values(found.rows))

    def in_pieces(self, body: bytes, yield_gil: Callable[[], None]) -> NumberRows | None:
        """Return the same, decoded in chunks; no name may have a brace, so that only rows and the body have them."""
        first, last = body.find(b"{", body.find(b"{") + 1), body.rfind(b"}", 0, body.rfind(b"}")) + 1
        if not 0 < first < last or not _BEGINNING.search(body, max(0, first - _MAX_BEGINNING_LENGTH), first):
            return None
        without = body[:first] + body[last:]
        found = self.body.decode(without)
        if found.rows or without.count(b'"') != 2 * found.texts:
            return None
        parts: list[Array] = []
        for piece in _pieces(body, first, last):
            rows = self.rows.decode(b"[%b]" % piece)
            if piece.count(b'"') != 2 * len(rows) * len(self.names):
                return None
            parts.append(self.values(rows))
            yield_gil()
        return self._read(found, np.concatenate(parts))

    def values(self, rows: list[msgspec.Struct]) -> Array:
        """Return the matrix of rows."""
        cells = chain.from_iterable(map(msgspec.structs.astuple, rows))
        return np.fromiter(cells, np.float64, len(rows) * len(self.names)).reshape(-1, len(self.names))

    def _read(self, found: _Body, values: Array) -> NumberRows:
        return NumberRows(NumberBlock(self.names, values), found.interval, found.outputs, found.row_ids)


def _pieces(body: bytes, first: int, last: int) -> Iterator[bytes]:
    """Yield the rows between two positions, some at a time, without the commas between them."""
    while cut := _BETWEEN.search(body, first + PIECE_BYTES, last):
        yield body[first : cut.start() + 1]
        first = cut.end() - 1
    yield body[first:last]


@lru_cache(maxsize=256)
def _reader(names: tuple[str, ...]) -> _Reader | None:
    if not 0 < len(names) <= MAX_COLUMNS or any("{" in name or "}" in name for name in names):
        return None
    # A row is a struct whose members have the columns' names only in JSON, since names need not be identifiers.
    members = [(f"column_{place}", float, msgspec.field(name=name)) for place, name in enumerate(names)]
    row = msgspec.defstruct("Row", members, forbid_unknown_fields=True, gc=False)
    rows = list[row]  # type: ignore[valid-type]
    body = msgspec.defstruct("Body", [("rows", rows)], bases=(_Body,), forbid_unknown_fields=True)
    assert issubclass(body, _Body)
    return _Reader(names, msgspec.json.Decoder(body), msgspec.json.Decoder(rows), msgspec.json.Decoder(row))
