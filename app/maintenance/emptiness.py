"""The condition of a database to write into: the service's tables and the queue have no rows."""

from app.database.contents import Contents
from app.maintenance.errors import NotEmptyError
from app.tables import Base

QUEUES = frozenset({"workflow_status", "dbos.workflow_status"})
"""The table of queued work, which may be of another program that uses DBOS in the same database."""

IGNORED = frozenset({"rate_demands", "workers"})
"""Tables that a database without content may have rows in."""


def refuse_content(contents: Contents, remedy: str) -> None:
    """Raise NotEmptyError where a table of the service, or the queue, has rows."""
    filled = sorted(table for table in (Base.metadata.tables.keys() | QUEUES) - IGNORED if contents.rows.get(table))
    if filled:
        raise NotEmptyError(f"The database is not empty ({', '.join(filled)}): {remedy}")
