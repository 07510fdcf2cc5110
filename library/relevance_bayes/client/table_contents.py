"""Tables and arrays of other libraries as contents of requests, without a copy of their values."""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, runtime_checkable  # noqa: TID251 - pyarrow is an extra

from relevance_bayes.client.errors import ClientError, Problem

if TYPE_CHECKING:
    import pyarrow as pa
    from _typeshed import ReadableBuffer

NEEDS_ARROW = "Tables need the Python package `pyarrow`: install relevance-bayes[arrow]."


@runtime_checkable
class ArrowTable(Protocol):
    """A table that exports Arrow's C stream, as those of pandas, polars and pyarrow do."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the capsule of a stream."""


def arrow_table(table: object) -> "pa.Table":
    """Return a table of any library as Arrow's, which shares its values where their layout is Arrow's.

    The index of a DataFrame of pandas is no column. Raises ClientError without pyarrow, and for other values.
    """
    try:
        import pyarrow as pa
    except ImportError as missing:
        raise ClientError(Problem(title="Not installed", detail=NEEDS_ARROW)) from missing
    if not isinstance(table, ArrowTable):
        got = type(table).__name__
        raise ClientError(Problem(title="No table", detail=f"Expected a table with `__arrow_c_stream__`, got a {got}."))
    try:
        if type(table).__module__.partition(".")[0] == "pandas":
            return pa.Table.from_pandas(table, preserve_index=False)
        return pa.RecordBatchReader.from_stream(table).read_all()
    except (pa.ArrowException, TypeError) as broken:
        raise ClientError(Problem(title="No table", detail=f"The table has no form in Arrow: {broken}")) from broken


def arrow_parts(table: "pa.Table") -> tuple[bytes | memoryview, ...]:
    """Return an Arrow stream of a table; its parts are the columns' own buffers."""
    import pyarrow as pa

    sink = _Parts()
    with pa.PythonFile(sink, mode="w") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return tuple(sink.parts)


def slices(table: "pa.Table", rows: int) -> Iterator["pa.Table"]:
    """Yield a table in parts of at most so many rows, which share its values; one without rows as itself."""
    for first in range(0, max(table.num_rows, 1), rows):
        yield table.slice(first, rows)


class _Parts(io.RawIOBase):
    """A file that keeps what is written, as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[bytes | memoryview] = []

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer", /) -> int:
        part = data if isinstance(data, bytes) else memoryview(data)
        self.parts.append(part)
        return len(part)
