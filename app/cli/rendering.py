"""Answers as tables for people, or as JSON for programs; on standard output."""

from collections.abc import Iterable, Sequence

import msgspec
from rich.console import Console
from rich.table import Table

from app.cli.saying import say
from app.client.answers import Version

WIDTH_OFF_TERMINAL = 200
"""Columns of text where there is no terminal that would say how many it has."""


def print_json(answer: object) -> None:
    """An answer of the client as the API would say it."""
    say(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, if_none: str) -> None:
    """A plain table, or `if_none` where there are no rows."""
    table = Table(*headings, box=None, padding=(0, 3, 0, 0))
    for row in rows:
        table.add_row(*row)
    if table.row_count == 0:
        say(if_none)
    else:
        _console().print(table, highlight=False, markup=False)


def print_facts(facts: Iterable[tuple[str, str | None]]) -> None:
    """One line a fact; those that are None are left out."""
    table = Table(show_header=False, box=None, padding=(0, 3, 0, 0))
    for name, value in facts:
        if value is not None:
            table.add_row(name, value)
    _console().print(table, highlight=False, markup=False)


def number(value: float | None) -> str:
    """A figure with four digits that count."""
    return "" if value is None else f"{value:.4g}"


def show_version(version: Version) -> None:
    """What was learned."""
    raise NotImplementedError


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH_OFF_TERMINAL)
