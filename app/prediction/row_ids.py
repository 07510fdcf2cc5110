"""The callers' own ids of rows, by which predictions are recorded and compared with outcomes."""

from collections.abc import Sequence
from typing import TypeAlias

from app.formats.cells import MAX_FAULTS, Columns, bad_text
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.outcomes import MAX_ROW_ID_LENGTH
from relevance_bayes.tables.columns import Block, CategoryArray, block_rows

RowIds: TypeAlias = Sequence[str | None]
"""The id of each row, None for a row without one; empty: the request has no ids."""


def check_row_ids(ids: RowIds, rows: int) -> None:
    """Raise InvalidRequestError unless there are as many ids as rows, each a text of at most MAX_ROW_ID_LENGTH."""
    if len(ids) != rows:
        detail = f"Expected a row id for each of {rows:,} rows, got {len(ids):,}."
        raise InvalidRequestError(detail, [Fault(detail, "/row_ids")])
    if wrong := [place for place, one in enumerate(ids) if one is not None and not _is_valid(one)][:MAX_FAULTS]:
        detail = f"Expected a text of 1 to {MAX_ROW_ID_LENGTH} characters."
        faults = [Fault(detail, f"/row_ids/{place}") for place in wrong]
        raise InvalidRequestError(f"At /row_ids/{wrong[0]}: {detail}", faults)


def _is_valid(one: str) -> bool:
    return 0 < len(one) <= MAX_ROW_ID_LENGTH and bad_text(one) is None


def with_row_ids(columns: Columns, name: str) -> Columns:
    """Return columns to read, and last that of the row ids; raises InvalidRequestError where the model reads that."""
    if any(name == other for other, _ in columns):
        detail = f"Expected a column that the model does not read, got {name!r}."
        raise InvalidRequestError(detail, [Fault(detail, "/row_ids")])
    return (*columns, (name, "category"))


def row_ids_of(block: Block, given: Sequence[str] | str | None) -> tuple[Block, RowIds]:
    """Return a block without the column of the row ids, and the ids: those `given`, or those in the column so named."""
    if given is None:
        return block, ()
    if not isinstance(given, str):
        check_row_ids(given, block_rows(block))
        return block, given
    column = block[given]
    assert isinstance(column, CategoryArray)
    labels = (*column.labels, None)
    ids = [labels[code] for code in column.codes.tolist()]
    check_row_ids(ids, len(ids))
    return {name: values for name, values in block.items() if name != given}, ids
