"""Files whose numbers or dates have two readings: on a terminal, a prompt lets the user choose one."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import typer

from relevance_bayes.cli.console import has_terminals, warn
from relevance_bayes.cli.remedies import in_options
from relevance_bayes.cli.rows import DecimalMark, Row, RowOptions, RowReader
from relevance_bayes.client import ClientError
from relevance_bayes.types.errors import RelevanceError
from relevance_bayes.types.values import ColumnKind

READINGS = re.compile(
    r"(?P<cell>`.+` has .+), which is (?P<first>.+) and (?P<second>.+); "
    r'set (?P<one>\w+)="(?P<of_one>[^"]+)" or (?P<other>\w+)="(?P<of_other>[^"]+)"'
)
"""The refusal of a column with two readings: an example, both readings, and the options that choose them."""

MARKS: Mapping[str, DecimalMark] = {".": ".", ",": ","}

T = TypeVar("T")
Options = TypeVar("Options", bound=RowOptions)


def with_readings(options: Options, read: Callable[[Options], T], *, prompts: bool) -> T:
    """Return what `read` returns; where it is refused for two readings, prompt for one and read with it.

    Without `prompts`, and where standard input or standard error is no terminal, the refusal is raised.
    """
    while True:
        try:
            return read(options)
        except (ClientError, RelevanceError) as refused:
            found = READINGS.search(refused.problem.detail if isinstance(refused, ClientError) else refused.detail)
            if found is None or not prompts or not has_terminals():
                raise
            options = _chosen(options, found)


def read_batches(
    reader: RowReader, path: Path, kinds: Mapping[str, ColumnKind], *, size: int, options: RowOptions, prompts: bool
) -> Iterator[Sequence[Row]]:
    """Yield the rows of a file as `reader` does, with prompts for readings as `with_readings` has them."""

    def begun(options: RowOptions) -> tuple[Sequence[Row] | None, Iterator[Sequence[Row]]]:
        batches = reader(path, kinds, size=size, options=options)
        return next(batches, None), batches

    first, others = with_readings(options, begun, prompts=prompts)
    if first is not None:
        yield first
        yield from others


def _chosen(options: Options, found: re.Match[str]) -> Options:
    """Prompt for one of two readings, and return the options with it."""
    readings = [
        (found["first"], found["one"], found["of_one"]),
        (found["second"], found["other"], found["of_other"]),
    ]
    warn(f"{found['cell']}, which has two readings:")
    for number, (reading, name, value) in enumerate(readings, 1):
        option = in_options(f'{name}="{value}"')
        warn(f"{number:>4}  {reading} ({option})")
    given = ""
    while given not in {"1", "2"}:
        given = typer.prompt("The reading that is meant, 1 or 2", err=True)
    _, name, value = readings[int(given) - 1]
    match name:
        case "decimal":
            return replace(options, decimal=MARKS[value])
        case "thousands":
            return replace(options, thousands=MARKS[value])
        case _:
            return replace(options, date_format=value)
