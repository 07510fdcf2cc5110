"""A small table as a body in each format, and answers in each format as rows again.

Each format has a module of its name in tests/formats/samples, with `written` where it reads and `read` where it writes.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

import pyarrow as pa

from app.formats import BATCH_FORMATS, FORMATS, ROW_FORMATS, WRITABLE_FORMATS
from app.formats.format import RowFormat, TableFormat
from tests.formats.samples.arrow import arrow_stream
from tests.formats.samples.json import FlatRow, flat
from tests.formats.samples.npy import npy

__all__ = [
    "FILES",
    "FLAT_FORMATS",
    "MEDIA_TYPES",
    "NAMED_ROWS",
    "RESPONSE_FORMATS",
    "ROWS",
    "TABLES",
    "FlatRow",
    "arrow_stream",
    "flat",
    "npy",
    "read",
    "table_of",
    "written",
]

MEDIA_TYPES: Mapping[str, str] = {one.name: one.media_type for one in FORMATS}

ROWS = tuple(one.name for one in ROW_FORMATS)
"""Formats of rows to predict for, ..."""

NAMED_ROWS = tuple(one.name for one in ROW_FORMATS if one.is_document or (isinstance(one, RowFormat) and one.has_names))
"""... of those that find columns by name and hold texts, ..."""

TABLES = tuple(one.name for one in FORMATS if isinstance(one, TableFormat) and one.name in NAMED_ROWS)
"""... of tables that are uploaded, ..."""

RESPONSE_FORMATS = tuple(one.name for one in WRITABLE_FORMATS)
"""... of predictions, ..."""

FLAT_FORMATS = tuple(one.name for one in WRITABLE_FORMATS if one.has_texts and not one.is_nested)
"""... of those in columns with texts, ..."""

FILES = tuple(one.name for one in BATCH_FORMATS)
"""... and of files of batch predictions."""


def written(coded: str, rows: Sequence[FlatRow]) -> bytes:
    """Rows that all have the same columns."""
    write: Callable[[Sequence[FlatRow]], bytes] = import_module(f"tests.formats.samples.{coded}").written
    return write(rows)


def read(coded: str, content: bytes, names: Sequence[str]) -> list[FlatRow]:
    """Predictions as flat rows, called `names` in a format that has no names."""
    to_rows: Callable[[bytes, Sequence[str]], list[FlatRow]] = import_module(f"tests.formats.samples.{coded}").read
    return to_rows(content, names)


def table_of(coded: str, content: bytes) -> pa.Table:
    """A file of a batch prediction, or a flat answer, as Arrow has it."""
    to_table: Callable[[bytes], pa.Table] = import_module(f"tests.formats.samples.{coded}").table_of
    return to_table(content)
