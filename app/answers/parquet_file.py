"""Predictions as a Parquet file, whose end tells where everything stands: it is made once all rows are known."""

from collections.abc import Iterator
from io import BufferedReader, RawIOBase

import pyarrow as pa
import pyarrow.parquet as pq

PIECE = 2**20
"""About so many bytes of a file are held in memory, beside a part and the places of all that was written."""


def parquet_file(table: pa.Table) -> bytes:
    """All of it in one file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def parquet_of(parts: Iterator[bytes]) -> Iterator[bytes]:
    """A Parquet file, a piece after the other, of the bytes of a stream, divided anywhere: each part a row group."""
    with pa.ipc.open_stream(pa.PythonFile(BufferedReader(_Joined(parts)), "r")) as stream:
        sink = _Sink()
        with pq.ParquetWriter(pa.PythonFile(sink, "w"), stream.schema) as writer:
            for batch in stream:
                writer.write_batch(batch, row_group_size=max(1, batch.num_rows))
                if sink.size >= PIECE:
                    yield sink.taken()
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
