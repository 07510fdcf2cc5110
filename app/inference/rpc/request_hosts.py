"""The hosts that the requests of an HTTP/2 connection name: frames (RFC 9113) and header blocks (HPACK, RFC 7541).

gRPC's library does not show `:authority` to a server in Python.
"""

from collections import deque
from collections.abc import Iterator
from functools import lru_cache

PREFACE_BYTES = 24
FRAME_HEADER_BYTES = 9
HEADERS, CONTINUATION = 1, 9
END_HEADERS, PADDED, PRIORITY = 0x4, 0x8, 0x20
PRIORITY_BYTES = 5
MAX_PADDING_BYTES = 1 + 255 + PRIORITY_BYTES

MAX_TABLE_BYTES = 4096
"""The maximum size of the dynamic table, which gRPC's library announces by default."""

ENTRY_BYTES = 32
"""The size of an entry of the dynamic table beside those of its name and value."""

MAX_INTEGER_BYTES = 5

HOSTS = frozenset({b":authority", b"host"})
"""The fields that name a host; gRPC reads the second where the first is missing."""

STATIC_NAMES = b"""
:authority :method :method :path :path :scheme :scheme :status :status :status :status :status :status :status
accept-charset accept-encoding accept-language accept-ranges accept access-control-allow-origin age allow authorization
cache-control content-disposition content-encoding content-language content-length content-location content-range
content-type cookie date etag expect expires from host if-match if-modified-since if-none-match if-range
if-unmodified-since last-modified link location max-forwards proxy-authenticate proxy-authorization range referer
refresh retry-after server set-cookie strict-transport-security transfer-encoding user-agent vary via www-authenticate
""".split()
"""The names of the static table (appendix A), which has no value of a host."""

SYMBOLS = {
    5: b"012aceiost",
    6: b" %-./3456789=A_bdfghlmnpru",
    7: b":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz",
    8: b"&*,;XZ",
    10: b'!"()?',
    11: b"'+|",
    12: b"#>",
    13: b"\x00$@[]~",
    14: b"^}",
    15: b"<`{",
    19: b"\\\xc3\xd0",
    20: b"\x80\x82\x83\xa2\xb8\xc2\xe0\xe2",
    21: b"\x99\xa1\xa7\xac\xb0\xb1\xb3\xd1\xd8\xd9\xe3\xe5\xe6",
    22: b"\x81\x84\x85\x86\x88\x92\x9a\x9c\xa0\xa3\xa4\xa9\xaa\xad\xb2\xb5\xb9\xba\xbb\xbd\xbe\xc4\xc6\xe4\xe8\xe9",
    23: b"\x01\x87\x89\x8a\x8b\x8c\x8d\x8f\x93\x95\x96\x97\x98\x9b"
    b"\x9d\x9e\xa5\xa6\xa8\xae\xaf\xb4\xb6\xb7\xbc\xbf\xc5\xe7\xef",
    24: b"\t\x8e\x90\x91\x94\x9f\xab\xce\xd7\xe1\xec\xed",
    25: b"\xc7\xcf\xea\xeb",
    26: b"\xc0\xc1\xc8\xc9\xca\xcd\xd2\xd5\xda\xdb\xee\xf0\xf2\xf3\xff",
    27: b"\xcb\xcc\xd3\xd4\xd6\xdd\xde\xdf\xf1\xf4\xf5\xf6\xf7\xf8\xfa\xfb\xfc\xfd\xfe",
    28: b"\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12"
    b"\x13\x14\x15\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f\xdc\xf9",
    30: b"\n\r\x16",
}
"""The symbols of the canonical Huffman code by the lengths of their codes in bits, in the order of the codes
(appendix B)."""


def _codes() -> Iterator[tuple[int, int]]:
    """Yield each code, with a 1 before its first bit, and its symbol."""
    code, length = 0, 0
    for bits, symbols in SYMBOLS.items():
        code, length = code << bits - length, bits
        for symbol in symbols:
            yield 1 << bits | code, symbol
            code += 1


CODES = dict(_codes())
END_OF_TEXT = (1 << 31) - 1
MAX_STEPS = 16_384
"""The maximum number of steps of the decoder that are kept."""


class RequestHosts:
    """Reads what a client sends on one connection."""

    def __init__(self, max_block_bytes: int) -> None:
        self._max_block = max_block_bytes
        self._received = bytearray()
        self._skipped = PREFACE_BYTES
        self._block = b""
        self._stream = self._last_stream = 0
        self._table: deque[tuple[bytes, bytes]] = deque()
        self._table_bytes = 0
        self._max_table = MAX_TABLE_BYTES

    def feed(self, data: bytes) -> Iterator[list[bytes]]:
        """Yield the hosts of each request whose header block ends in received bytes.

        Raises ValueError for what is no header block, or a larger one: the connection can't be read further.
        """
        self._received += data
        while (frame := self._frame()) is not None:
            kind, flags, stream, payload = frame
            if kind == HEADERS:
                start = (1 if flags & PADDED else 0) + (PRIORITY_BYTES if flags & PRIORITY else 0)
                end = len(payload) - (payload[0] if flags & PADDED and payload else 0)
                self._stream, self._block, payload = stream, b"", payload[start:end]
            self._block += payload
            if len(self._block) > self._max_block:
                raise ValueError(f"Expected a header block of at most {self._max_block} bytes.")
            if flags & END_HEADERS:
                hosts = [value for name, value in self._fields(self._block) if name in HOSTS]
                if self._stream > self._last_stream:  # else trailers
                    self._last_stream = self._stream
                    yield hosts

    def _frame(self) -> tuple[int, int, int, bytes] | None:
        """Return the kind, the flags, the stream and the payload of the next frame of a header block, once it has
        arrived; others are skipped."""
        while True:
            dropped = min(self._skipped, len(self._received))
            del self._received[:dropped]
            self._skipped -= dropped
            if self._skipped or len(self._received) < FRAME_HEADER_BYTES:
                return None
            size, kind, flags = int.from_bytes(self._received[:3]), self._received[3], self._received[4]
            end = FRAME_HEADER_BYTES + size
            if kind in {HEADERS, CONTINUATION}:
                if size > self._max_block + MAX_PADDING_BYTES:
                    raise ValueError(f"Expected a header block of at most {self._max_block} bytes.")
                if len(self._received) < end:
                    return None
                stream = int.from_bytes(self._received[5:FRAME_HEADER_BYTES]) & 0x7FFFFFFF
                payload = bytes(self._received[FRAME_HEADER_BYTES:end])
                del self._received[:end]
                return kind, flags, stream, payload
            self._skipped = end

    def _fields(self, block: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the fields of a header block, and keep those for later blocks that are to be kept."""
        at = 0
        while at < len(block):
            first = block[at]
            if first & 0x80:
                index, at = _integer(block, at, 7)
                yield self._entry(index)
            elif first & 0xE0 == 0x20:
                self._max_table, at = _integer(block, at, 5)
                if self._max_table > MAX_TABLE_BYTES:
                    raise ValueError(f"Expected a table of at most {MAX_TABLE_BYTES} bytes.")
                self._evict()
            else:
                index, at = _integer(block, at, 6 if first & 0x40 else 4)
                name, at = _text(block, at) if index == 0 else (self._entry(index)[0], at)
                value, at = _text(block, at)
                if first & 0x40:
                    self._table.appendleft((name, value))
                    self._table_bytes += ENTRY_BYTES + len(name) + len(value)
                    self._evict()
                yield name, value

    def _entry(self, index: int) -> tuple[bytes, bytes]:
        dynamic = index - len(STATIC_NAMES) - 1
        if index == 0 or dynamic >= len(self._table):
            raise ValueError(f"There is no field {index}.")
        return (STATIC_NAMES[index - 1], b"") if dynamic < 0 else self._table[dynamic]

    def _evict(self) -> None:
        while self._table_bytes > self._max_table:
            name, value = self._table.pop()
            self._table_bytes -= ENTRY_BYTES + len(name) + len(value)


def _integer(block: bytes, at: int, bits: int) -> tuple[int, int]:
    """Return an integer whose prefix has so many bits, and the position after it (section 5.1)."""
    prefix = (1 << bits) - 1
    number = block[at] & prefix
    at += 1
    if number < prefix:
        return number, at
    for place, byte in enumerate(block[at : at + MAX_INTEGER_BYTES]):
        number += (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return number, at + place + 1
    raise ValueError("Expected the end of an integer.")


def _text(block: bytes, at: int) -> tuple[bytes, int]:
    """Return a text, and the position after it (section 5.2)."""
    if at >= len(block):
        raise ValueError("Expected a text.")
    is_coded = block[at] & 0x80
    size, start = _integer(block, at, 7)
    end = start + size
    if end > len(block):
        raise ValueError("Expected the end of a text.")
    text = block[start:end]
    return (_decoded(text) if is_coded else text), end


def _decoded(text: bytes) -> bytes:
    """Return a coded text without its padding; raises ValueError where it contains the end of a text."""
    found, code = bytearray(), 1
    for byte in text:
        symbols, code = _read(code, byte)
        found += symbols
    return bytes(found)


@lru_cache(MAX_STEPS)
def _read(code: int, byte: int) -> tuple[bytes, int]:
    """Return the symbols whose codes end in a byte after the bits of a begun code, and the code that has begun then."""
    found = bytearray()
    for place in range(7, -1, -1):
        code = code << 1 | byte >> place & 1
        symbol = CODES.get(code)
        if symbol is not None:
            found.append(symbol)
            code = 1
        elif code == END_OF_TEXT:
            raise ValueError("Expected no end of a text within it.")
    return bytes(found), code
