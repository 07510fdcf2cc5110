"""Responses on standard output, as tables or as JSON."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar  # noqa: TID251 - help loads neither rich nor pydantic

from relevance_bayes.cli.console import echo

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

T = TypeVar("T")

Fact: TypeAlias = tuple[str, str | None]
"""A name and a text, None where there is nothing to show."""

WIDTH_OFF_TERMINAL = 200
"""The width of tables where standard output is not a terminal, in characters."""


def print_json(response: object) -> None:
    """Print a response of the client as the API's JSON."""
    from relevance_bayes.records.json import encode

    echo(json.dumps(encode(response), ensure_ascii=False, indent=2))


def write_json(path: Path, response: object) -> None:
    """Write a response of the client to a file as the API's JSON."""
    from relevance_bayes.records.json import dumps

    path.write_text(f"{dumps(response)}\n", encoding="utf-8")


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, if_none: str) -> None:
    """Print a plain table, or `if_none` where there are no rows."""
    table = _table(headings)
    for row in rows:
        table.add_row(*row)
    if table.row_count == 0:
        echo(if_none)
    else:
        _print(table)


def print_list(items: Iterable[T], columns: Mapping[str, Callable[[T], str]], *, if_none: str, as_json: bool) -> None:
    """Print the items of a list as the API's JSON, or as a table with the text of each under the headings."""
    if as_json:
        print_json(tuple(items))
    else:
        print_table(tuple(columns), ([text(one) for text in columns.values()] for one in items), if_none=if_none)


def print_sentences(sentences: Iterable[str]) -> None:
    """Print each sentence as a paragraph."""
    for sentence in sentences:
        _print(sentence)


def print_facts(facts: Iterable[Fact]) -> None:
    """Print a line for each fact that is not None."""
    table = _table(())
    for name, value in facts:
        if value is not None:
            table.add_row(name, value)
    _print(table)


def number(value: float | None) -> str:
    """Return a number with four significant digits."""
    return "" if value is None else f"{value:.4g}"


def cell_text(cell: str | int | float | bool | None) -> str:
    """Return a value of a row, numbers with four significant digits."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return number(cell) if isinstance(cell, float) else "" if cell is None else str(cell)


def time_text(moment: datetime) -> str:
    """Return a time in the local time zone."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _table(headings: Sequence[str]) -> "Table":
    """Return a plain table, without a header where there are no headings."""
    from rich.table import Table

    return Table(*headings, show_header=bool(headings), box=None, padding=(0, 2, 0, 0), pad_edge=False)


def _print(shown: "RenderableType") -> None:
    """Print within the width of the terminal, without spaces at the ends of lines."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else WIDTH_OFF_TERMINAL
    console = Console(width=width, markup=False, highlight=False)
    with console.capture() as captured:
        console.print(shown)
    echo("\n".join(line.rstrip() for line in captured.get().splitlines()))
