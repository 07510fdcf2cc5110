"""Arrow's record batches, from Parquet and IPC, as a stream of typed blocks."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import MalformedBodyError, TooLargeError
from app.formats.arrow_columns import cells_of, is_empty, kind_of, readable, typed_column
from app.formats.cell_faults import CellFaults, refuse
from app.formats.names import checked_names
from app.formats.options import TableLimits
from app.formats.streams import EmptyColumns, ReadAgainError, TableStream, kinds_of, refuse_or_revise
from relevance_bayes.tables.columns import Block, Column
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT
from relevance_bayes.types.datasets import ColumnReading
from relevance_bayes.types.errors import Fault, InvalidDataError
from relevance_bayes.types.values import Cell, ColumnKind

_UNNAMED = re.compile(r"__index_level_[0-9]+__")
"""The name that pandas gives an index without one."""


@contextmanager
def reading(noun: str, what: str) -> Iterator[None]:
    """Raise MalformedBodyError for exceptions of Arrow while it reads a body or file in that format."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise MalformedBodyError(f"The {noun} can't be read as {what}; is it truncated? {first_line(error)}.") from None


def first_line(error: Exception) -> str:
    """Return the first line of the message of one of Arrow's errors."""
    lines = str(error).splitlines()
    return lines[0].rstrip(".")[:200] if lines else type(error).__name__


def check_types(schema: pa.Schema) -> None:
    """Raise InvalidDataError for columns of unsupported types."""
    refuse(
        [
            Fault(f"The type {field.type} is not supported.", column=field.name)
            for field in schema
            if not readable(field.type)
        ]
    )


def stream_of(
    schema: pa.Schema, batches: Iterator[pa.RecordBatch], *, declared: Mapping[str, ColumnKind], limits: TableLimits
) -> TableStream:
    """Return a table of a schema as a stream of blocks; kinds not declared are inferred from the first rows.

    Indexes of pandas without a name are left out. Raises InvalidDataError where there are no rows,
    InvalidRequestError for a kind of an unknown column, and what `batches` raises; its blocks raise TooLargeError where
    the cells take too many bytes.
    """
    kept = without_unnamed(schema)
    names, given_names = checked_names([schema.names[place] for place in kept], max_columns=limits.max_columns)
    check_types(pa.schema([schema.field(place) for place in kept]))
    if len(kept) < len(schema.names):
        batches = (batch.select([*kept]) for batch in batches)
    batches = _within(batches, limits.max_decoded_bytes)
    indexes = {name for name in index_names(schema) if schema.names.count(name) == 1}
    readings = {
        name: ColumnReading(given_name=given_names.get(name), is_index=True if name in indexes else None)
        for name in names
        if name in given_names or name in indexes
    }
    head = _head(batches)
    if not head:
        raise InvalidDataError("The table has no rows.")
    table = pa.Table.from_batches(head).slice(0, ROWS_LOOKED_AT)
    kinds = kinds_of(names, declared, (kind_of(table, position) for position in range(len(names))))
    inferred = frozenset(names) - declared.keys()
    empty = EmptyColumns(name for name in inferred if is_empty(table.column(names.index(name))))
    blocks = _blocks(chain(head, batches), names, kinds, inferred, empty)
    return TableStream(names, kinds, blocks, readings=lambda: readings)


def check_decoded(size: int, max_bytes: int) -> None:
    """Raise TooLargeError where the cells of a table take too many bytes."""
    if size > max_bytes:
        raise TooLargeError(f"Expected a table of at most {max_bytes:,} bytes once decoded, got more.")


def _within(batches: Iterator[pa.RecordBatch], max_bytes: int) -> Iterator[pa.RecordBatch]:
    """Yield the batches; raises TooLargeError once their cells take too many bytes."""
    size = 0
    for batch in batches:
        size += sum(map(decoded_bytes, batch.columns))
        check_decoded(size, max_bytes)
        yield batch


def decoded_bytes(values: pa.Array) -> int:  # type: ignore[type-arg]  # the stubs' class takes a parameter, Arrow's own does not
    """Return the bytes that the cells of a column take: a text of a dictionary takes them wherever it occurs."""
    texts = values.dictionary if isinstance(values, pa.DictionaryArray) else None
    if not isinstance(values, pa.DictionaryArray) or not isinstance(texts, pa.StringArray | pa.LargeStringArray):
        return values.nbytes
    lengths = pc.binary_length(texts).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    places = values.indices.drop_null().to_numpy(zero_copy_only=False)
    return int(lengths[places].sum()) + values.indices.nbytes


def _head(batches: Iterator[pa.RecordBatch]) -> list[pa.RecordBatch]:
    head: list[pa.RecordBatch] = []
    for batch in batches:
        head.append(batch)
        if sum(one.num_rows for one in head) >= ROWS_LOOKED_AT:
            break
    return head


def _blocks(
    batches: Iterator[pa.RecordBatch],
    names: Sequence[str],
    kinds: Sequence[ColumnKind],
    inferred: frozenset[str],
    empty: EmptyColumns,
) -> Iterator[Block]:
    first_row = 0
    for batch in batches:
        if again := empty.kinds_in(_by_name(names, batch)):
            for later in batches:
                again |= empty.kinds_in(_by_name(names, later))
            raise ReadAgainError(again)
        block: dict[str, Column] = {}
        wrong: dict[str, CellFaults] = {}
        for name, kind, values in zip(names, kinds, batch.columns, strict=True):
            block[name], wrong[name] = typed_column(kind, values, exact=name in inferred)
        refuse_or_revise(wrong, inferred, first_row)
        first_row += batch.num_rows
        yield block


def _by_name(names: Sequence[str], batch: pa.RecordBatch) -> Iterator[tuple[str, Callable[[], Sequence[Cell]]]]:
    return ((name, partial(cells_of, values)) for name, values in zip(names, batch.columns, strict=True))


def index_names(schema: pa.Schema) -> frozenset[str]:
    """Return the names of the columns that are indexes of pandas."""
    try:
        about = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return frozenset()
    listed = about.get("index_columns") if isinstance(about, dict) else None
    named = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    unnamed = {name for name in schema.names if _UNNAMED.fullmatch(name)}
    return frozenset((named | unnamed) & {*schema.names})


def unnamed_among(indexes: Collection[str]) -> frozenset[str]:
    """Return the names of indexes that have none of their own."""
    return frozenset(name for name in indexes if _UNNAMED.fullmatch(name))


def without_unnamed(schema: pa.Schema) -> Sequence[int]:
    """Return the positions of a schema's columns but for indexes without a name; all, where there are no others."""
    dropped = unnamed_among(index_names(schema))
    kept = [place for place, name in enumerate(schema.names) if name not in dropped]
    return kept or range(len(schema.names))
