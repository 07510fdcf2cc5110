"""File formats that a client sends and asks for; how they are read and written is the service's alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True)
class FileFormat:
    """A format by its name in the API, its media type and the suffixes of its files, with their points."""

    name: str
    media_type: str
    suffixes: tuple[str, ...]


CSV = FileFormat("csv", "text/csv", (".csv", ".tsv", ".txt"))

FILE_FORMATS: Sequence[FileFormat] = (
    FileFormat("json", "application/json", (".json",)),
    FileFormat("ndjson", "application/x-ndjson", (".ndjson", ".jsonl")),
    CSV,
    FileFormat("arrow", "application/vnd.apache.arrow.stream", (".arrow", ".arrows")),
    FileFormat("parquet", "application/vnd.apache.parquet", (".parquet", ".pq")),
    FileFormat("npy", "application/x-npy", (".npy",)),
    FileFormat("feather", "application/vnd.apache.arrow.file", (".feather", ".ipc")),
    FileFormat("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", (".xlsx",)),
    FileFormat("png", "image/png", (".png",)),
)


def media_type_of(file: PurePath) -> str:
    """Return the media type of a file by its suffix; CSV's for a suffix of no format."""
    suffix = file.suffix.lower()
    return next((one for one in FILE_FORMATS if suffix in one.suffixes), CSV).media_type


def media_type_named(name: str) -> str:
    """Return the media type of the format of this name; raises LookupError."""
    for one in FILE_FORMATS:
        if one.name == name:
            return one.media_type
    raise LookupError(f"There is no format {name!r}.")
