"""Files whose numbers or dates have two readings: on a terminal, a prompt lets the user choose one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

import typer

from relevance_bayes.cli.console import has_terminals, warn
from relevance_bayes.cli.remedies import in_options
from relevance_bayes.cli.rows import Row, RowOptions, RowReader
from relevance_bayes.client import ClientError
from relevance_bayes.records.errors import Ambiguity, Fault, RelevanceError
from relevance_bayes.records.formats import CSV, by_suffix
from relevance_bayes.records.values import ColumnKind, DecimalMark

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
            faults = refused.problem.errors if isinstance(refused, ClientError) else refused.faults
            found = next((fault for fault in faults if fault.ambiguity is not None), None)
            if found is None or found.ambiguity is None or not prompts or not has_terminals():
                raise
            options = _chosen(options, found, found.ambiguity)


def read_batches(
    reader: RowReader, path: Path, kinds: Mapping[str, ColumnKind], *, size: int, options: RowOptions, prompts: bool
) -> Iterator[Sequence[Row]]:
    """Yield the rows of a file as `reader` does, with prompts for readings as `with_readings` has them."""
    batches, _ = _begun(reader, path, kinds, size, options, prompts)
    yield from batches


def read_with_texts(
    reader: RowReader, path: Path, kinds: Mapping[str, ColumnKind], *, size: int, options: RowOptions, prompts: bool
) -> Iterator[tuple[Sequence[Row], Sequence[Row]]]:
    """Yield batches of rows as `read_batches` does, and the same rows as the file has them.

    Those of a CSV are texts, to the letter, for which the file is read a second time beside the first; cells of formats
    with types are values.
    """
    batches, chosen = _begun(reader, path, kinds, size, options, prompts)
    if (by_suffix(path) or CSV) != CSV:
        yield from ((rows, rows) for rows in batches)
        return
    texts = chain.from_iterable(reader(path, {}, size=size, options=replace(chosen, as_written=True)))
    for rows in batches:
        yield rows, [*islice(texts, len(rows))]


def _begun(
    reader: RowReader,
    path: Path,
    kinds: Mapping[str, ColumnKind],
    size: int,
    options: RowOptions,
    prompts: bool,
) -> tuple[Iterator[Sequence[Row]], RowOptions]:
    """Return batches of rows, of which the first is read, and the options with the chosen readings."""

    def begun(options: RowOptions) -> tuple[Sequence[Sequence[Row]], Iterator[Sequence[Row]], RowOptions]:
        batches = reader(path, kinds, size=size, options=options)
        return [*islice(batches, 1)], batches, options

    first, others, chosen = with_readings(options, begun, prompts=prompts)
    return chain(first, others), chosen


def _chosen(options: Options, fault: Fault, ambiguity: Ambiguity) -> Options:
    """Prompt for one of the readings of a cell, and return the options with it."""
    readings = ambiguity.readings
    where = f"Line {fault.line}" if fault.column is None else f"`{fault.column}`"
    warn(f"{where} has {ambiguity.cell}, which has {'two' if len(readings) == 2 else len(readings)} readings:")
    for number, one in enumerate(readings, 1):
        option = in_options(f'{one.option}="{one.value}"')
        warn(f"{number:>4}  {one.meaning} ({option})")
    numbers = [str(number) for number in range(1, len(readings) + 1)]
    given = ""
    while given not in numbers:
        given = typer.prompt(f"The reading that is meant, {' or '.join(numbers)}", err=True)
    one = readings[int(given) - 1]
    match one.option:
        case "decimal":
            return replace(options, decimal=MARKS[one.value])
        case "thousands":
            return replace(options, thousands=MARKS[one.value])
        case "header":
            return options.with_header(one.value == "true")
        case "date_format":
            return replace(options, date_format=one.value)
