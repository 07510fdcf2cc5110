"""Tables in JSON as blocks of typed columns."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from app.formats.cell_faults import refuse
from app.formats.cells import JSON, block_of, column_of
from app.formats.json_cells import Cells, cells_of
from app.formats.json_forms import RawTable, read_json
from app.formats.streams import TableStream, check_names, kinds_of
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
    cell_faults = [Fault(detail, row=row, column=name) for name, found in wrong for row, detail in found]
    return block, (*cells.faults, *cell_faults)


def json_stream(body: bytes, *, declared: Mapping[str, ColumnKind], max_columns: int) -> TableStream:
    """Return a JSON body as a stream of blocks; kinds not declared are inferred."""
    cells = cells_of(read_json(body, max_columns=max_columns))
    check_names(cells.names, max_columns=max_columns)
    refuse(cells.faults)
    kinds = kinds_in(cells, declared)
    return TableStream(cells.names, kinds, _blocks(cells, kinds, frozenset(cells.names) - declared.keys()))


def kinds_in(cells: Cells, declared: Mapping[str, ColumnKind]) -> tuple[ColumnKind, ...]:
    """Return the declared kinds, else those inferred from the first rows; raises InvalidRequestError as `kinds_of`."""
    found = (kind_of_cells(map(_scalar, column[:ROWS_LOOKED_AT])) for column in cells.columns)
    return kinds_of(cells.names, declared, found)


def _scalar(cell: JSON) -> Cell:
    return None if isinstance(cell, list | dict) else cell


def _blocks(cells: Cells, kinds: Sequence[ColumnKind], inferred: frozenset[str]) -> Iterator[Block]:
    rows, step = len(cells.columns[0]), rows_of_a_block(len(cells.names))
    for first in range(0, rows, step):
        block: dict[str, Column] = {}
        faults: list[Fault] = []
        for name, kind, column in zip(cells.names, kinds, cells.columns, strict=True):
            block[name], cell_faults = column_of(kind, column[first : first + step], exact=name in inferred)
            faults.extend(Fault(detail, row=first + row, column=name) for row, detail in cell_faults)
        refuse(sorted(faults, key=lambda fault: fault.row or 0), inferred=inferred)
        yield block
