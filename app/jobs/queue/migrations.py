"""DBOS's own tables: in SQLite in the same file, in PostgreSQL in the schema `dbos`."""

from dbos import DBOS, DBOSClient
from dbos import error as engine_errors
from sqlalchemy import Engine

from app.database.copying import TableShape, shapes
from app.database.passwords import url_in_use
from app.jobs.queue import dbos_internals
from app.jobs.queue.failures import translated


def migrate(engine: Engine) -> None:
    """Create DBOS's tables, or upgrade them; of two concurrent calls the second finds nothing to do.

    Raises UnavailableError when the database can't be reached.
    """
    with translated():
        DBOS.migrate(url_in_use(engine).render_as_string(hide_password=False))


def is_migrated(client: DBOSClient) -> bool:
    """Return whether DBOS's tables exist at the revision that it needs; raises UnavailableError."""
    try:
        with translated():
            dbos_internals.verify_migrations(client)
    except engine_errors.DBOSInitializationError:
        return False
    return True


def tables() -> tuple[TableShape, ...]:
    """Return DBOS's tables, but that of its migrations."""
    return shapes(dbos_internals.METADATA, "dbos")
