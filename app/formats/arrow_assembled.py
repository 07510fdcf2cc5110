"""Files whose end tells where everything stands, Parquet and Arrow's file format: made once all rows are known."""

from collections.abc import Callable, Iterator
from io import BufferedReader, RawIOBase
from typing import Protocol, TypeAlias

import pyarrow as pa

PIECE = 2**20
"""About so many bytes of a file are held in memory, beside a part and the places of all that was written."""


class BatchWriter(Protocol):
    """Writes record batches to a file, whose end it writes when it is closed."""

    def write_batch(self, batch: pa.RecordBatch, /) -> None:
        """The next rows."""

    def close(self) -> None:
        """The end of the file."""


OpenWriter: TypeAlias = "Callable[[pa.NativeFile, pa.Schema], BatchWriter]"


def assembled(parts: Iterator[bytes], open_writer: OpenWriter) -> Iterator[bytes]:
    """A file, a piece after the other, of the bytes of an Arrow stream, divided anywhere."""
    with pa.ipc.open_stream(pa.PythonFile(BufferedReader(_Joined(parts)), "r")) as stream:
        sink = _Sink()
        writer = open_writer(pa.PythonFile(sink, "w"), stream.schema)
        for batch in stream:
            writer.write_batch(batch)
            if sink.size >= PIECE:
                yield sink.taken()
        writer.close()
        yield sink.taken()


class _Joined(RawIOBase):
    """Reads pieces as if they were one file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]  # the wider type has a name from 3.12 on
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


class _Sink(RawIOBase):
    """Keeps what is written until it is taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, piece: bytes, /) -> int:  # type: ignore[override]  # as above
        self._pieces.append(bytes(piece))
        self.size += len(piece)
        return len(piece)

    def taken(self) -> bytes:
        taken, self._pieces, self.size = b"".join(self._pieces), [], 0
        return taken
