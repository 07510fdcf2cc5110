"""Statements that change rows."""

from sqlalchemy import Delete, Update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session

from app.database.base import Base


def changed(session: Session, statement: Update | Delete) -> int:
    """Execute a statement and return the number of rows it changed. Objects read before are stale: read them again."""
    result = session.execute(statement, execution_options={"synchronize_session": False})
    if not isinstance(result, CursorResult):
        raise TypeError(f"expected the result of a statement, got {type(result).__name__}")
    return result.rowcount


def insertion(session: Session, row: type[Base]) -> sqlite.Insert | postgresql.Insert:
    """Return an insertion into a table that can have ON CONFLICT, which each kind of database has as its own."""
    is_file = session.connection().dialect.name == "sqlite"
    return sqlite.insert(row) if is_file else postgresql.insert(row)
