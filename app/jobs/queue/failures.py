"""Translation of the queue's errors to the service's errors."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from dbos import error as engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.errors import ConflictError, UnavailableError

AWAY = "The queue's database can't be reached or is not migrated; try again later."


@contextmanager
def translated() -> Iterator[None]:
    """Raise the service's errors for the engine's: UnavailableError, ConflictError."""
    try:
        yield
    except engine.DBOSWorkflowIDInUseError as error:
        raise ConflictError("This job was submitted before.") from error
    except (DBAPIError, PoolTimeoutError) as error:
        if is_connection_failure(error) or isinstance(error, ProgrammingError):
            raise UnavailableError(AWAY) from error
        raise


def is_connection_failure(error: BaseException) -> bool:
    """Return whether an error is a failure to connect to a database, or a lost connection."""
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    return lost or isinstance(error, OperationalError | InterfaceError | PoolTimeoutError | psycopg.OperationalError)
