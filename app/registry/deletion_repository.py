"""The deletion of a model with many versions: its row is renamed, and its versions are deleted in pieces."""

from uuid import UUID

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from app.database.base import changed
from app.identity import uuid7
from app.registry.tables import AliasMoveRow, ModelRow, ModelVersionRow

VERSIONS_AT_ONCE = 200
"""The number of versions that one transaction deletes: with their functions and posteriors about 0.1 s."""

MOVES_AT_ONCE = 5_000

DELETED = " deleted "
"""The beginning of the name of a renamed row: no model may have it."""


def rename(session: Session, model_id: UUID) -> None:
    """Rename the row of a deleted model, and make another one of its name that goes on with its numbers."""
    row = ModelRow
    old = session.execute(select(row).where(row.id == model_id).execution_options(populate_existing=True)).scalar_one()
    kept = {name: getattr(old, name) for name in ("owner", "name", "created_at", "task", "target", "inputs")}
    kept |= {"deleted_at": old.deleted_at, "last_number": old.last_number}
    changed(session, update(row).where(row.id == model_id).values(name=f"{DELETED}{model_id}"))
    session.execute(insert(row).values(id=uuid7(), **kept))


def next_model(session: Session) -> UUID | None:
    """Return a deleted model that has versions left, or moves of aliases, if there is one."""
    found = select(ModelRow.id).where(ModelRow.deleted_at.is_not(None), ModelRow.name.startswith(DELETED))
    return session.scalar(found.limit(1))


def remove_piece(session: Session, model_id: UUID) -> bool:
    """Delete some versions of a model, oldest first, then moves of its aliases; return whether all are gone."""
    version, move = ModelVersionRow, AliasMoveRow
    numbers = select(version.number).where(version.model_id == model_id).order_by(version.number)
    first = session.scalars(numbers.limit(VERSIONS_AT_ONCE + 1)).all()
    if first:
        last = first[:VERSIONS_AT_ONCE][-1]
        changed(session, delete(version).where(version.model_id == model_id, version.number <= last))
        if len(first) > VERSIONS_AT_ONCE:
            return False
    moves = session.scalars(select(move.id).where(move.model_id == model_id).limit(MOVES_AT_ONCE)).all()
    if moves:
        changed(session, delete(move).where(move.id.in_(moves)))
    return len(moves) < MOVES_AT_ONCE
