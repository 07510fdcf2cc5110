"""The output of commands: results on standard output, everything else on standard error."""

import sys
from typing import NoReturn

import typer


def has_terminal() -> bool:
    """Return True where standard input is a terminal, so that a command may prompt."""
    return sys.stdin.isatty()


def has_terminals() -> bool:
    """Return True where standard error is a terminal too, so that a prompt is seen while results go elsewhere."""
    return has_terminal() and sys.stderr.isatty()


def echo(text: str) -> None:
    """Print a line on standard output, unbuffered."""
    typer.echo(text)


def warn(text: str) -> None:
    """Print a line on standard error."""
    typer.echo(text, err=True)


def refuse(text: str) -> NoReturn:
    """Print the reason on standard error, and exit with 1."""
    warn(text)
    raise typer.Exit(1)
