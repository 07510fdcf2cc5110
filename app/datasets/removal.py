"""Removal of datasets in pieces, so that no transaction is long."""

from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.database.changes import changed
from app.datasets.tables import DatasetBlockRow, DatasetRow

BLOCKS_AT_ONCE = 8
"""On SQLite about 60 ms for blocks of 2 MB."""


def remove_piece(session: Session, dataset_id: UUID) -> bool:
    """Remove some blocks of a dataset in state `deleted`, and with the last of them itself; whether some are left."""
    if session.scalar(select(DatasetRow.state).where(DatasetRow.id == dataset_id)) != "deleted":
        return False
    piece = (
        select(DatasetBlockRow.number)
        .where(DatasetBlockRow.dataset_id == dataset_id)
        .order_by(DatasetBlockRow.number)
        .limit(BLOCKS_AT_ONCE)
        .subquery()
    )
    last = select(func.max(piece.c.number)).scalar_subquery()
    removed = changed(
        session,
        delete(DatasetBlockRow).where(DatasetBlockRow.dataset_id == dataset_id, DatasetBlockRow.number <= last),
    )
    if removed == BLOCKS_AT_ONCE:
        return True
    changed(session, delete(DatasetRow).where(DatasetRow.id == dataset_id))
    return False
