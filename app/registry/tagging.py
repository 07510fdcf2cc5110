"""Tags of models and versions: read, write, filter."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias
from uuid import UUID

from sqlalchemy import ColumnElement, and_, delete, exists, insert, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.database.changes import changed
from app.registry.tables import ModelTagRow, VersionTagRow

TagRow: TypeAlias = type[ModelTagRow] | type[VersionTagRow]


def tags_of(session: Session, row: TagRow, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, str]]:
    """Return the tags of each of these ids, by name."""
    found: dict[UUID, dict[str, str]] = {one: {} for one in ids}
    for of, name, value in session.execute(
        select(row.of, row.name, row.value).where(row.of.in_(ids)).order_by(row.name)
    ):
        found[of][name] = value
    return found


def retag(session: Session, row: TagRow, of: UUID, tags: Mapping[str, str]) -> None:
    """Replace all tags."""
    changed(session, delete(row).where(row.of == of))
    if tags:
        session.execute(
            insert(row).values([{row.of: of, row.name: name, row.value: value} for name, value in tags.items()])
        )


def tagged(row: TagRow, of: InstrumentedAttribute[UUID], tags: Mapping[str, str]) -> ColumnElement[bool]:
    """Return the condition that the row has all of these tags."""
    return and_(
        True, *(exists().where(row.of == of, row.name == name, row.value == value) for name, value in tags.items())
    )
