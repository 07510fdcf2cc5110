"""What a command says: results on standard output, everything else on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from app.domain.errors import UnavailableError


def say(text: str) -> None:
    """A line on standard output, at once."""
    typer.echo(text)


def warn(text: str) -> None:
    """A line on standard error."""
    typer.echo(text, err=True)


def refuse(text: str) -> NoReturn:
    """Say on standard error why not, and end with 1."""
    warn(text)
    raise typer.Exit(1)


@contextmanager
def database_in_reach() -> Iterator[None]:
    """What is done within needs the database; without it, say so, and end with 1."""
    try:
        yield
    except UnavailableError as away:
        refuse(f"{away.detail}\nRELEVANCE_DATABASE_URL says where the database is.")
