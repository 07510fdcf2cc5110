"""Arrow's record batches, from Parquet and IPC, as a stream of typed blocks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain

import pyarrow as pa

from app.errors import MalformedBodyError
from app.formats.arrow_columns import kind_of, readable, typed_column
from app.formats.cell_faults import refuse
from app.formats.streams import TableStream, kinds_of
from relevance_bayes.tables.columns import Block, Column
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT
from relevance_bayes.types.errors import Fault, InvalidDataError
from relevance_bayes.types.values import ColumnKind


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
    names: tuple[str, ...], batches: Iterator[pa.RecordBatch], *, declared: Mapping[str, ColumnKind]
) -> TableStream:
    """Return a table of these columns as a stream of blocks; kinds not declared are inferred from the first rows.

    Raises InvalidDataError where there are no rows, InvalidRequestError for a kind of an unknown column, and what
    `batches` raises.
    """
    head = _head(batches)
    if not head:
        raise InvalidDataError("The table has no rows.")
    table = pa.Table.from_batches(head).slice(0, ROWS_LOOKED_AT)
    kinds = kinds_of(names, declared, (kind_of(table, position) for position in range(len(names))))
    inferred = frozenset(names) - declared.keys()
    return TableStream(names, kinds, _blocks(chain(head, batches), names, kinds, inferred))


def _head(batches: Iterator[pa.RecordBatch]) -> list[pa.RecordBatch]:
    head: list[pa.RecordBatch] = []
    for batch in batches:
        head.append(batch)
        if sum(one.num_rows for one in head) >= ROWS_LOOKED_AT:
            break
    return head


def _blocks(
    batches: Iterator[pa.RecordBatch], names: Sequence[str], kinds: Sequence[ColumnKind], inferred: frozenset[str]
) -> Iterator[Block]:
    first_row = 0
    for batch in batches:
        block: dict[str, Column] = {}
        faults: list[Fault] = []
        for name, kind, values in zip(names, kinds, batch.columns, strict=True):
            block[name], cell_faults = typed_column(kind, values, exact=name in inferred)
            faults.extend(Fault(detail, row=first_row + row, column=name) for row, detail in cell_faults)
        refuse(sorted(faults, key=lambda fault: fault.row or 0), inferred=inferred)
        first_row += batch.num_rows
        yield block
