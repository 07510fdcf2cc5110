"""Blocks of a dataset as bytes: {"columns": [[name, kind] or [name, "category", labels], ...]}, one array each."""

import numpy as np

from app.database.frame import Arrays, Content, Json, Stored, UnreadableBytesError, read, write
from relevance_bayes.tables.columns import Block, BooleanArray, CategoryArray, Column, NumberArray, TimestampArray


def encode_block(block: Block) -> bytes:
    """Return a block as bytes; raises UnicodeEncodeError for a text with an unpaired surrogate."""
    columns: list[Json] = []
    arrays: list[Stored] = []
    for name, column in block.items():
        match column:
            case NumberArray(values):
                columns.append([name, "number"])
                arrays.append(values)
            case TimestampArray(values):
                columns.append([name, "timestamp"])
                arrays.append(values)
            case BooleanArray(flags):
                columns.append([name, "boolean"])
                arrays.append(flags)
            case CategoryArray(codes, labels):
                columns.append([name, "category", list(labels)])
                arrays.append(codes)
    return write(Content.BLOCK, {"columns": columns}, arrays, compressible=True)


def cell_bytes(block: Block) -> int:
    """Return the bytes that the cells of a block take uncompressed: of a text, those of UTF-8 wherever it occurs."""
    return sum(map(_cell_bytes, block.values()))


def _cell_bytes(column: Column) -> int:
    if not isinstance(column, CategoryArray):
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
            return name, NumberArray(arrays.real(number))
        case [str(name), "timestamp"]:
            return name, TimestampArray(arrays.real(number))
        case [str(name), "boolean"]:
            return name, BooleanArray(arrays.flags(number))
        case [str(name), "category", [*labels]]:
            return name, CategoryArray(arrays.codes(number), tuple(str(label) for label in labels))
    raise UnreadableBytesError(f"expected a column of a known kind, got {described!r}")
