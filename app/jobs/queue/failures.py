"""Translation of the queue's errors to the service's errors."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from dbos import error as engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.database.failures import FULL, is_full, permission_error
from app.errors import ConflictError, StorageFullError, UnavailableError

UNREACHABLE = "The queue's database can't be reached or is not migrated; try again later."


@contextmanager
def translated() -> Iterator[None]:
    """Raise the service's errors for the engine's: UnavailableError, StorageFullError, ConflictError."""
    try:
        yield
    except engine.DBOSWorkflowIDInUseError as error:
        raise ConflictError("This job was submitted before.") from error
    except (DBAPIError, PoolTimeoutError) as error:
        if isinstance(error, DBAPIError) and (refused := permission_error(error)) is not None:
            raise refused from error
        if isinstance(error, DBAPIError) and is_full(error):
            raise StorageFullError(FULL) from error
        if is_connection_failure(error) or isinstance(error, ProgrammingError):
            raise UnavailableError(UNREACHABLE) from error
        raise


def is_connection_failure(error: BaseException) -> bool:
    """Return whether an error is a failure to connect to a database, or a lost connection."""
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    return lost or isinstance(error, OperationalError | InterfaceError | PoolTimeoutError | psycopg.OperationalError)


LOGGERS = ("dbos", "app.database.pool.RetryingPool")


class OutageFilter(logging.Filter):
    """Drops log records about failed connections, and passes the first line of the failure to `report`.

    DBOS formats failures into its messages; the exception that is being handled shows the kind of failure.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__()
        self._report = report

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged."""
        error = record.exc_info[1] if record.exc_info else sys.exc_info()[1]
        if error is None or not is_connection_failure(error):
            return True
        self._report(str(error).partition("\n")[0])
        return False


@contextmanager
def reported_outages(report: Callable[[str], None]) -> Iterator[None]:
    """Return a context in which connection failures are reported, and not logged."""
    outages = OutageFilter(report)
    for name in LOGGERS:
        logging.getLogger(name).addFilter(outages)
    try:
        yield
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeFilter(outages)
