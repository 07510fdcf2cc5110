"""Files with a footer, Parquet and Arrow's file format, written once all rows are known."""

from collections.abc import Callable, Iterator
from io import BufferedReader, RawIOBase
from typing import Protocol, TypeAlias

import pyarrow as pa

PIECE = 2**20
"""The approximate number of bytes of a file buffered in memory, in addition to one part and the footer."""


class BatchWriter(Protocol):
    """A writer of record batches to a file, whose footer it writes when it is closed."""

    def write_batch(self, batch: pa.RecordBatch, /) -> None:
        """Write the next rows."""

    def close(self) -> None:
        """Write the footer."""


OpenWriter: TypeAlias = "Callable[[pa.NativeFile, pa.Schema], BatchWriter]"


def assembled(parts: Iterator[bytes], open_writer: OpenWriter) -> Iterator[bytes]:
    """Yield a file in chunks, from the bytes of an Arrow stream in chunks of any size."""
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
    """A readable file over chunks of bytes."""

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
    """A writable file that buffers chunks until they are taken."""

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
