"""Formats of tables and predictions, one class each, and their common parts.

To add a format, write its class in `app.formats.media_types` (see `app.formats.format`) and list it in `FORMATS`.
"""

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TypeVar

from app.formats.format import AssembledFormat, Format, PartsFormat, RowFormat, TableFormat, WritableFormat
from app.formats.media_types import Arrow, Csv, Feather, Json, Ndjson, Npy, Parquet, Png, Xlsx

FORMATS: tuple[Format, ...] = (
    Json(),
    Ndjson(),
    Csv(),
    Arrow(),
    Parquet(),
    Npy(),
    Feather(),
    Xlsx(),
    Png(),
)
"""All formats, in order of preference where a client accepts several equally."""

DEFAULT = Csv()
"""The format of a file with an unknown suffix."""

ASSEMBLED_FROM: PartsFormat = Arrow()
"""The format in which rows are stored until a file of an `AssembledFormat` is written from them."""

F = TypeVar("F", bound=Format)

TABLE_FORMATS = tuple(one for one in FORMATS if isinstance(one, TableFormat))
ROW_FORMATS = tuple(one for one in FORMATS if isinstance(one, RowFormat) or one.is_document)
WRITABLE_FORMATS = tuple(one for one in FORMATS if isinstance(one, WritableFormat))
BATCH_FORMATS = tuple(one for one in FORMATS if isinstance(one, PartsFormat | AssembledFormat))


def named(formats: Iterable[F], name: str) -> F:
    """Return the format of that name; raises LookupError."""
    found = next((one for one in formats if one.name == name), None)
    if found is None:
        raise LookupError(f"There is no format {name!r}.")
    return found


def by_media_type(formats: Iterable[F], media_type: str) -> F | None:
    """Return the format of that media type, which is in lower case without parameters."""
    return next((one for one in formats if media_type in one.media_types), None)


def by_suffix(formats: Iterable[F], file: str | PurePath) -> F | None:
    """Return the format of a file by its suffix."""
    suffix = PurePath(file).suffix.lower()
    return next((one for one in formats if suffix in one.suffixes), None)


def listed(formats: Sequence[Format], last: str = "or") -> str:
    """Return the titles as an enumeration in a sentence."""
    *others, end = (one.title for one in formats)
    return f"{', '.join(others)} {last} {end}" if others else end
