"""File formats of requests and responses; only the service reads and writes them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypedDict

from relevance_bayes.records.values import DecimalMark, TextEncoding, ThousandsMark


@dataclass(frozen=True)
class FileFormat:
    """A format: its name in the API, its media type and the suffixes of its files, with their points.

    `is_text`: files are UTF-8. `is_document`: the API's own JSON, which has options with the rows. `is_written`: it is
    a format of predictions, and `for_batches`: of batch predictions. `magic`: the bytes that only its files begin with.
    """

    name: str
    media_type: str
    suffixes: tuple[str, ...]
    is_text: bool = False
    is_document: bool = False
    is_written: bool = False
    for_batches: bool = False
    magic: bytes = b""


JSON = FileFormat("json", "application/json", (".json",), is_text=True, is_document=True, is_written=True)
NDJSON = FileFormat("ndjson", "application/x-ndjson", (".ndjson", ".jsonl"), is_text=True, is_written=True)
CSV = FileFormat("csv", "text/csv", (".csv", ".tsv", ".txt"), is_text=True, is_written=True, for_batches=True)

ARROW = FileFormat(
    "arrow",
    "application/vnd.apache.arrow.stream",
    (".arrow", ".arrows"),
    is_written=True,
    for_batches=True,
    magic=b"\xff\xff\xff\xff",
)
PARQUET = FileFormat(
    "parquet", "application/vnd.apache.parquet", (".parquet", ".pq"), is_written=True, for_batches=True, magic=b"PAR1"
)
NPY = FileFormat("npy", "application/x-npy", (".npy",), is_written=True, magic=b"\x93NUMPY")
FEATHER = FileFormat(
    "feather",
    "application/vnd.apache.arrow.file",
    (".feather", ".ipc"),
    is_written=True,
    for_batches=True,
    magic=b"ARROW1",
)
XLSX = FileFormat(
    "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", (".xlsx",), magic=b"PK\x03\x04"
)
PNG = FileFormat("png", "image/png", (".png",), magic=b"\x89PNG\r\n\x1a\n")

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


def by_beginning(content: bytes) -> FileFormat | None:
    """Return the format of a file by the bytes that it begins with; None for texts, which begin with any."""
    return next((one for one in FILE_FORMATS if one.magic and content.startswith(one.magic)), None)


def by_name(name: str) -> FileFormat:
    """Return the format of this name; raises LookupError."""
    for one in FILE_FORMATS:
        if one.name == name:
            return one
    raise LookupError(f"There is no format {name!r}.")


def media_type_of(file: PurePath) -> str:
    """Return the media type of a file by its suffix; that of CSV for an unknown suffix."""
    return (by_suffix(file) or CSV).media_type


class RowReadOptions(TypedDict, total=False):
    """Options of how the rows of a file are read; what is not given, or None, is detected.

    `missing_values` are texts that mean a missing value in the place of the defaults, `skip_rows` the number of lines
    or rows above the table. `sheet` is for workbooks, these two are for both, the others for CSV.
    """

    delimiter: str | None
    decimal: DecimalMark | None
    thousands: ThousandsMark | None
    date_format: str | None
    missing_values: Sequence[str] | None
    encoding: TextEncoding | None
    skip_rows: int | None
    sheet: str | None
