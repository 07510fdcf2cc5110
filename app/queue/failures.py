"""What the engine and its database raise, in the service's own words."""

from collections.abc import Iterator
from contextlib import contextmanager

from dbos import error as engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.domain.errors import ConflictError, UnavailableError

AWAY = "The queue's database can't be reached or is not migrated; try again later."


@contextmanager
def translated() -> Iterator[None]:
    """Raise the service's errors for the engine's: UnavailableError, ConflictError."""
    try:
        yield
    except engine.DBOSWorkflowIDInUseError as error:
        raise ConflictError("This job was submitted before.") from error
    except (OperationalError, InterfaceError, PoolTimeoutError, ProgrammingError) as error:
        raise UnavailableError(AWAY) from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise UnavailableError(AWAY) from error
        raise
