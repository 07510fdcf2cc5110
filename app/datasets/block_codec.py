"""Blocks of a dataset as bytes: {"columns": [[name, kind] or [name, "category", labels], ...]}, one array each."""

import numpy as np

from app.database.frame import Arrays, Content, Json, Stored, UnreadableBytesError, read, write
from relevance_bayes.tables.columns import Block, BooleanColumn, CategoryColumn, Column, NumberColumn, TimestampColumn


def encode_block(block: Block) -> bytes:
    """Return a block as bytes; raises UnicodeEncodeError for a text with an unpaired surrogate."""
    columns: list[Json] = []
    arrays: list[Stored] = []
    for name, column in block.items():
        match column:
            case NumberColumn(values):
                columns.append([name, "number"])
                arrays.append(values)
            case TimestampColumn(values):
                columns.append([name, "timestamp"])
                arrays.append(values)
            case BooleanColumn(flags):
                columns.append([name, "boolean"])
                arrays.append(flags)
            case CategoryColumn(codes, labels):
                columns.append([name, "category", list(labels)])
                arrays.append(codes)
    return write(Content.BLOCK, {"columns": columns}, arrays, compressible=True)


def cell_bytes(block: Block) -> int:
    """Return the bytes that the cells of a block take uncompressed: of a text, those of UTF-8 wherever it occurs."""
    return sum(map(_cell_bytes, block.values()))


def _cell_bytes(column: Column) -> int:
    if not isinstance(column, CategoryColumn):
        return column.values.nbytes
    lengths = np.fromiter((len(label.encode()) for label in column.labels), np.int64, len(column.labels))
    return int(lengths[column.codes[column.codes >= 0]].sum()) + column.codes.nbytes


def decode_block(data: bytes) -> Block:
    """Return a block from its bytes; raises UnreadableBytesError."""
    value, arrays = read(Content.BLOCK, data)
    match value:
        case {"columns": [*columns]}:
            return dict(_column(column, number, arrays) for number, column in enumerate(columns))
    raise UnreadableBytesError("expected the columns of a block")


def _column(described: Json, number: int, arrays: Arrays) -> tuple[str, Column]:
    match described:
        case [str(name), "number"]:
            return name, NumberColumn(arrays.real(number))
        case [str(name), "timestamp"]:
            return name, TimestampColumn(arrays.real(number))
        case [str(name), "boolean"]:
            return name, BooleanColumn(arrays.flags(number))
        case [str(name), "category", [*labels]]:
            return name, CategoryColumn(arrays.codes(number), tuple(str(label) for label in labels))
    raise UnreadableBytesError(f"expected a column of a known kind, got {described!r}")
