"""File formats of requests and responses; only the service reads and writes them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True)
class FileFormat:
    """A format: its name in the API, its media type and the suffixes of its files, with their points.

    `is_text`: files are UTF-8. `is_document`: the API's own JSON, which has options with the rows. `is_written`: it is
    a format of predictions, and `for_batches`: of batch predictions.
    """

    name: str
    media_type: str
    suffixes: tuple[str, ...]
    is_text: bool = False
    is_document: bool = False
    is_written: bool = False
    for_batches: bool = False


JSON = FileFormat("json", "application/json", (".json",), is_text=True, is_document=True, is_written=True)
NDJSON = FileFormat("ndjson", "application/x-ndjson", (".ndjson", ".jsonl"), is_text=True, is_written=True)
CSV = FileFormat("csv", "text/csv", (".csv", ".tsv", ".txt"), is_text=True, is_written=True, for_batches=True)

ARROW = FileFormat(
    "arrow", "application/vnd.apache.arrow.stream", (".arrow", ".arrows"), is_written=True, for_batches=True
)
PARQUET = FileFormat(
    "parquet", "application/vnd.apache.parquet", (".parquet", ".pq"), is_written=True, for_batches=True
)
NPY = FileFormat("npy", "application/x-npy", (".npy",), is_written=True)
FEATHER = FileFormat(
    "feather", "application/vnd.apache.arrow.file", (".feather", ".ipc"), is_written=True, for_batches=True
)
XLSX = FileFormat("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", (".xlsx",))
PNG = FileFormat("png", "image/png", (".png",))

FILE_FORMATS: Sequence[FileFormat] = (JSON, NDJSON, CSV, ARROW, PARQUET, NPY, FEATHER, XLSX, PNG)

CONTENT_ENCODINGS = {".gz": "gzip", ".zst": "zstd"}
"""The Content-Encoding of compressed files, by the suffix that follows that of the format: `kiosk.csv.gz`."""


def content_encoding_of(file: PurePath) -> str | None:
    """Return the Content-Encoding of a compressed file by its suffix; None for another file."""
    return CONTENT_ENCODINGS.get(file.suffix.lower())


def uncompressed(file: PurePath) -> PurePath:
    """Return the name that a file has before it is compressed."""
    return file if content_encoding_of(file) is None else file.with_suffix("")


def by_suffix(file: PurePath, formats: Iterable[FileFormat] = FILE_FORMATS) -> FileFormat | None:
    """Return the format of a file by its suffix."""
    suffix = uncompressed(file).suffix.lower()
    return next((one for one in formats if suffix in one.suffixes), None)


def by_name(name: str) -> FileFormat:
    """Return the format of this name; raises LookupError."""
    for one in FILE_FORMATS:
        if one.name == name:
            return one
    raise LookupError(f"There is no format {name!r}.")


def media_type_of(file: PurePath) -> str:
    """Return the media type of a file by its suffix; that of CSV for an unknown suffix."""
    return (by_suffix(file) or CSV).media_type
