"""Tables in JSON as blocks of typed columns."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from app.formats.cell_faults import CellFaults, faults_of, refuse
from app.formats.cells import JSON, block_of, column_of
from app.formats.json_cells import Cells, cells_of
from app.formats.json_forms import RawTable, read_json
from app.formats.streams import EmptyColumns, TableStream, check_names, kinds_of, refuse_or_revise
from relevance_bayes.tables.columns import Block, Column, rows_of_a_block
from relevance_bayes.tables.kinds import ROWS_LOOKED_AT, kind_of_cells
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.values import Cell, ColumnKind


def typed_block(
    raw: RawTable, columns: Sequence[tuple[str, ColumnKind]], *, not_read: Collection[str] = ()
) -> tuple[Block, tuple[Fault, ...]]:
    """Return the named columns (N rows) of a table as a block, and a fault for each row or cell that does not fit,
    which is missing in the block.

    Columns in `not_read` are optional. Raises InvalidDataError for an error of the whole table: no rows, an unknown or
    missing column, columns of unequal length.
    """
    cells = cells_of(raw, names=tuple(name for name, _ in columns), not_read=not_read)
    block, wrong = block_of(columns, cells.columns)
    return block, (*cells.faults, *faults_of(wrong)) if any(wrong.values()) else cells.faults


def json_stream(body: bytes, *, declared: Mapping[str, ColumnKind], max_columns: int) -> TableStream:
    """Return a JSON body as a stream of blocks; kinds not declared are inferred."""
    cells = cells_of(read_json(body, max_columns=max_columns, may_be_list=True))
    check_names(cells.names, max_columns=max_columns)
    refuse(cells.faults)
    kinds = kinds_in(cells, declared)
    columns = zip(cells.names, cells.columns, strict=True)
    found = empty_in(cells, declared).kinds_in((name, partial(scalars, column)) for name, column in columns)
    kinds = tuple(found.get(name, kind) for name, kind in zip(cells.names, kinds, strict=True))
    return TableStream(cells.names, kinds, _blocks(cells, kinds, frozenset(cells.names) - declared.keys()))


def kinds_in(cells: Cells, declared: Mapping[str, ColumnKind]) -> tuple[ColumnKind, ...]:
    """Return the declared kinds, else those inferred from the first rows; raises InvalidRequestError as `kinds_of`."""
    found = (kind_of_cells(scalars(column[:ROWS_LOOKED_AT])) for column in cells.columns)
    return kinds_of(cells.names, declared, found)


def empty_in(cells: Cells, declared: Mapping[str, ColumnKind]) -> EmptyColumns:
    """Return the columns whose kind is not declared and whose first rows have no value."""
    columns = zip(cells.names, cells.columns, strict=True)
    return EmptyColumns(
        name
        for name, column in columns
        if name not in declared and all(cell is None for cell in column[:ROWS_LOOKED_AT])
    )


def scalars(cells: Sequence[JSON]) -> Sequence[Cell]:
    """Return cells, None for an array or object, which is refused later."""
    return [None if isinstance(cell, list | dict) else cell for cell in cells]


def _blocks(cells: Cells, kinds: Sequence[ColumnKind], inferred: frozenset[str]) -> Iterator[Block]:
    rows, step = len(cells.columns[0]), rows_of_a_block(len(cells.names))
    for first in range(0, rows, step):
        block: dict[str, Column] = {}
        wrong: dict[str, CellFaults] = {}
        for name, kind, column in zip(cells.names, kinds, cells.columns, strict=True):
            block[name], wrong[name] = column_of(kind, column[first : first + step], exact=name in inferred)
        refuse_or_revise(wrong, inferred, first)
        yield block
