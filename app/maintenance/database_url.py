"""The check of the database's URL, whose messages have no part of it, which may be a password."""

from pydantic import SecretStr

from app.errors import UnavailableError
from app.settings import Settings

DRIVERS = frozenset({"sqlite", "sqlite+pysqlite", "postgresql+psycopg"})


def reason_against(settings: Settings) -> str | None:
    """Return why the URL of the database can't be used; None where it can."""
    if isinstance(settings.shown_database_url, SecretStr):
        return "it is not a URL"
    try:
        driver = settings.url.drivername
    except OSError as failure:
        return f"{failure.filename} can't be read: {failure.strerror}"
    if driver in DRIVERS:
        return None
    return f"expected a database of SQLite or PostgreSQL, as in sqlite:/// or postgresql+psycopg://, got {driver}"


def check_url(settings: Settings) -> None:
    """Raise UnavailableError where the URL of the database can't be used."""
    if (reason := reason_against(settings)) is not None:
        raise UnavailableError(f"The URL of the database can't be used: {reason}.")
