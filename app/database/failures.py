"""Translation of database errors to the service's errors."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from psycopg.errors import DiskFull, InsufficientPrivilege, LockNotAvailable, ReadOnlySqlTransaction, UndefinedTable
from sqlalchemy.exc import DatabaseError, DataError, DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.errors import ConflictError, StorageFullError, UnavailableError
from relevance_bayes.records.errors import InvalidDataError

FULL = "The disk of the database is full: free space on it, or delete what is not needed."

WITHOUT_SPACE = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE})
"""SQLite's codes for writes that its disk does not take: of pages, of large files, and of the index of its log."""


@contextmanager
def translated() -> Iterator[None]:
    """Raise the service's errors for the database's: UnavailableError, StorageFullError, ConflictError,
    InvalidDataError.

    An error in the service's own SQL is not translated.
    """
    try:
        yield
    except IntegrityError as error:
        raise ConflictError("Another transaction changed the same data at the same time; retry.") from error
    except DataError as error:
        raise InvalidDataError("The database can't store a value of the request.") from error
    except UnicodeEncodeError as error:
        raise InvalidDataError("A text contains an unpaired surrogate, which is not a character.") from error
    except PoolTimeoutError as error:
        raise UnavailableError("The database is too busy; try again later.") from error
    except DBAPIError as error:
        if (refused := permission_error(error)) is not None:
            raise refused from error
        if isinstance(error.orig, ReadOnlySqlTransaction):  # a standby, or a primary that has become one
            raise UnavailableError("The database is read-only; try again later.") from error
        if _is_missing_table(error):
            raise UnavailableError("The database is not migrated: run `relevance migrate`.") from error
        if is_full(error):
            raise StorageFullError(FULL) from error
        if _code_of_sqlite(error) == sqlite3.SQLITE_CANTOPEN:
            raise UnavailableError(
                "The database's file does not exist or can't be opened; `relevance migrate` creates it."
            ) from error
        lost = error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)
        if lost and not _is_programming_error(error):
            raise UnavailableError("The database can't be reached or is too busy; try again later.") from error
        if type(error) is DatabaseError:
            raise UnavailableError(f"The database can't be used: {error.orig}.") from error
        raise


def is_full(error: DBAPIError) -> bool:
    """Return whether the cause is a full disk of the database."""
    return isinstance(error.orig, DiskFull) or _code_of_sqlite(error) in WITHOUT_SPACE


def permission_error(error: DBAPIError) -> UnavailableError | None:
    """Return the error for a statement that the role of the connection may not execute; None for another error."""
    if not isinstance(error.orig, InsufficientPrivilege):
        return None
    reason = str(error.orig).splitlines()[0]
    return UnavailableError(f"The database's role lacks a permission: {reason}.")


def explained(error: UnavailableError) -> str:
    """Return the detail without its full stop, with the database's own message where a connection has failed."""
    cause, detail = error.__cause__, error.detail.rstrip(".")
    if not isinstance(cause, OperationalError | InterfaceError) or _is_missing_table(cause):
        return detail
    return f"{detail} ({' '.join(str(cause.orig).split())})"


def is_lock_timeout(error: UnavailableError) -> bool:
    """Return whether the cause is a lock of PostgreSQL that was not free within `lock_timeout`."""
    cause = error.__cause__
    return isinstance(cause, DBAPIError) and isinstance(cause.orig, LockNotAvailable)


def _is_missing_table(error: DBAPIError) -> bool:
    return isinstance(error.orig, UndefinedTable) or (
        _is_programming_error(error) and "no such table" in str(error.orig)
    )


def _is_programming_error(error: DBAPIError) -> bool:
    # SQLite reports an invalid statement as an OperationalError too; its code differs from a locked or missing file's.
    return _code_of_sqlite(error) == sqlite3.SQLITE_ERROR


def _code_of_sqlite(error: DBAPIError) -> int | None:
    code: object = getattr(error.orig, "sqlite_errorcode", None)  # an error that SQLite did not raise has none
    return code if isinstance(code, int) else None
