"""Commands that need the database."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.errors import UnavailableError
from relevance_bayes.cli.console import refuse


@contextmanager
def database_in_reach() -> Iterator[None]:
    """Run a block that needs the database; where it is unavailable, print why and exit with 1."""
    try:
        yield
    except UnavailableError as away:
        refuse(f"{away.detail}\nRELEVANCE_DATABASE_URL is the URL of the database.")
