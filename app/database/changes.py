"""Statements that change rows."""

from sqlalchemy import Delete, Update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session


def changed(session: Session, statement: Update | Delete) -> int:
    """Execute a statement and return the number of rows it changed. Objects read before are stale: read them again."""
    result = session.execute(statement, execution_options={"synchronize_session": False})
    if not isinstance(result, CursorResult):
        raise TypeError(f"expected the result of a statement, got {type(result).__name__}")
    return result.rowcount
