"""Rows with their predictions, as a table on a terminal or as CSV."""

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TextIO

from relevance_bayes.cli.console import warn
from relevance_bayes.cli.prediction_columns import PredictOptions, columns_of
from relevance_bayes.cli.rendering import cell_text, print_table
from relevance_bayes.cli.rows import Row
from relevance_bayes.cli.streams import STREAM
from relevance_bayes.client.responses import Prediction, VersionBase
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.values import Label
from relevance_bayes.tables.formulas import escaped

ROWS_SHOWN = 20
"""The number of rows of a table on a terminal."""


def write_predictions(
    stream: TextIO, version: VersionBase, answered: Iterable[tuple[Row, Prediction]], required: PredictOptions
) -> None:
    """Write rows with their predictions as CSV; raises InvalidDataError where the rows have a column of predictions."""
    columns = columns_of(version, required)
    writer, escapes = csv.writer(stream, lineterminator="\n"), required.csv_escape_formulas
    for position, (row, response) in enumerate(answered):
        if position == 0:
            if taken := [name for name in columns.headings if name in row]:
                raise InvalidDataError(f"Predictions have a column {taken[0]!r} too: rename that of the file.")
            writer.writerow([_csv_cell(name, escapes) for name in (*row, *columns.headings)])
        writer.writerow([_csv_cell(cell, escapes) for cell in (*row.values(), *columns.cells(response))])


def write_with_texts(
    stream: TextIO, predicted: TextIO, kept: Iterable[Sequence[str]], *, escapes_formulas: bool
) -> None:
    """Write the rows of a CSV with `kept` texts in the place of its first cells; raises InvalidDataError for other
    numbers of rows."""
    rows, writer = csv.reader(predicted), csv.writer(stream, lineterminator="\n")
    writer.writerow(next(rows))
    try:
        for row, texts in zip(rows, kept, strict=True):
            writer.writerow([*(_csv_cell(text, escapes_formulas) for text in texts), *row[len(texts) :]])
    except ValueError:
        raise InvalidDataError("The file has another number of rows than its dataset: it has changed.") from None


def _csv_cell(cell: Label | None, escapes_formulas: bool) -> Label | None:
    if isinstance(cell, str) and escapes_formulas:
        return escaped(cell)
    return str(cell).lower() if isinstance(cell, bool) else cell


def show_predictions(
    version: VersionBase, answered: Iterator[tuple[Row, Prediction]], required: PredictOptions
) -> None:
    """Print the first rows with their predictions as a table."""
    shown = list(islice(answered, ROWS_SHOWN))
    names = tuple(column.name for column in version.inputs if not shown or column.name in shown[0][0])
    columns = columns_of(version, required)
    cells = ((*(row[name] for name in names), *columns.cells(response)) for row, response in shown)
    titles = (*names, *columns.headings)
    print_table(titles, (tuple(map(cell_text, row)) for row in cells), if_none="No rows.")
    if more := sum(1 for _ in answered):
        warn(f"... and {more:,} more rows: --output FILE writes all of them.")


@contextmanager
def opened(output: Path | None) -> Iterator[TextIO]:
    """Return standard output, or a file that exists only once it is complete."""
    if output is None or output == STREAM:
        yield sys.stdout
        return
    part = output.with_name(f"{output.name}.part")
    try:
        with part.open("w", newline="") as stream:
            yield stream
        part.replace(output)
    finally:
        part.unlink(missing_ok=True)
