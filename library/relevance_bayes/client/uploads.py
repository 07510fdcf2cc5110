"""Files, and tables and arrays of other libraries, as contents of requests and as new datasets."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, Unpack, runtime_checkable  # noqa: TID251 - pyarrow is an extra

import httpx

from relevance_bayes.client.drivers import Query
from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.http import Http, decoded, parameters
from relevance_bayes.records.datasets import Dataset
from relevance_bayes.records.formats import (
    ARROW,
    CSV,
    RowReadOptions,
    by_beginning,
    by_name,
    media_type_of,
    uncompressed,
)
from relevance_bayes.records.values import ColumnKind

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


DATASETS = "/v1/datasets"

Uploadable: TypeAlias = str | Path | bytes | ArrowTable
"""The path of a file, its content, or a table with `__arrow_c_stream__`, as of pandas, polars and pyarrow."""


class ReadOptions(RowReadOptions, total=False):
    """Options of how the file of a dataset is read: `header` for CSV, `kinds` for columns by name.

    `format` is the format of bytes, such as `json`; by default it follows from their beginning, and is CSV for texts.
    """

    format: str | None
    header: bool | None
    kinds: Mapping[str, ColumnKind] | None


@dataclass(frozen=True)
class UploadedDataset:
    """The dataset of an upload: a new one, or the one that was there with the same name and content."""

    dataset: Dataset
    is_new: bool


async def uploaded(
    http: Http, data: Uploadable, name: str | None, *, key: str | None = None, **options: Unpack[ReadOptions]
) -> Dataset:
    """Upload a file, its content or a table as a dataset, by default of the file's name; `key` as in `Http.create`.

    Raises ClientError, also for a file that can't be read.
    """
    return decoded(await _sent(http, data, {"name": name}, options, key), Dataset)


async def uploaded_once(
    http: Http, data: Uploadable, name: str | None, **options: Unpack[ReadOptions]
) -> UploadedDataset:
    """Upload as `uploaded` does; a dataset of the same name and content is used, where there is one."""
    sent = await _sent(http, data, {"name": name, "reuse": "true"}, options, None)
    return UploadedDataset(decoded(sent, Dataset), is_new=sent.status_code == httpx.codes.CREATED)


async def _sent(http: Http, data: Uploadable, query: Query, options: ReadOptions, key: str | None) -> httpx.Response:
    query = {**query, **_query(options)}
    if isinstance(data, bytes | bytearray | memoryview):
        content = bytes(data)
        media_type = _media_type(content, options.get("format"))
        return await http.send_content(DATASETS, content, media_type=media_type, query=query, key=key)
    if isinstance(data, str | Path):
        file = Path(data)
        query["name"] = query["name"] or uncompressed(file).stem
        try:
            return await http.send_content(DATASETS, file, media_type=media_type_of(file), query=query, key=key)
        except (OSError, ValueError) as broken:  # a ValueError: the path contains NUL
            raise ClientError(Problem(title="Not readable", detail=f"The file can't be read: {broken}")) from broken
    parts = arrow_parts(arrow_table(data))
    return await http.send_content(DATASETS, parts, media_type=ARROW.media_type, query=query, key=key)


def _media_type(content: bytes, name: str | None) -> str:
    """Return the media type of the format of this name, else of that which the content begins as; CSV for texts."""
    try:
        return ((by_beginning(content) or CSV) if name is None else by_name(name)).media_type
    except LookupError as unknown:
        raise ClientError(Problem(title="No format", detail=str(unknown))) from unknown


def _query(options: ReadOptions) -> Query:
    header, kinds = options.get("header"), options.get("kinds") or {}
    own = {
        "format": None,
        "header": None if header is None else str(header).lower(),
        "kinds": [f"{name}:{kind}" for name, kind in kinds.items()] or None,
    }
    return parameters({**options, **own})
