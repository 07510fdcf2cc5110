"""Predictions as columns beside their rows, by the task of the version: a table on a terminal, or CSV."""

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, TextIO, TypeAlias

import typer

from relevance_bayes.cli.console import STREAM, warn
from relevance_bayes.cli.options import (
    ClassPriors,
    Components,
    Costs,
    CsvEscapeFormulas,
    NullsOption,
    RejectCost,
    UnknownCategoriesOption,
    read_costs,
    read_priors,
)
from relevance_bayes.cli.rendering import cell_text, print_table
from relevance_bayes.cli.rows import Row
from relevance_bayes.client.predictions import SharedOptions
from relevance_bayes.client.responses import ComponentsVersion, Contribution, Prediction, SupervisedVersion, VersionBase
from relevance_bayes.records.errors import InvalidDataError
from relevance_bayes.records.values import Label, text_of
from relevance_bayes.tables.kinds import escaped

COMPONENTS = 10
"""The default number of components shown for a row."""

Cells: TypeAlias = tuple[Label | None, ...]


@dataclass(frozen=True)
class PredictCommandOptions:
    """Options of predictions; `class_priors` and `costs` as given, JSON or a file of it."""

    interval: Annotated[float, typer.Option(help="The probability of the interval from lower to upper.")] = 0.95
    explain: Annotated[
        int | None,
        typer.Option(min=1, max=20, help="The number of functions to show that contribute most to each prediction."),
    ] = None
    class_priors: ClassPriors = None
    costs: Costs = None
    reject_cost: RejectCost = None
    components: Components = None
    row_ids: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column with ids, by which a model records predictions."),
    ] = None
    unknown_categories: UnknownCategoriesOption = None
    nulls: NullsOption = None
    on_error: Annotated[
        Literal["fail", "row"],
        typer.Option(help="A row that can't be predicted for: fail, or its reason in a last column `error`."),
    ] = "fail"
    csv_escape_formulas: CsvEscapeFormulas = False

    def of_client(self, columns: "PredictionColumns") -> SharedOptions:
        """Return the options of a client for predictions with these columns; raises typer.Exit(1) for unreadable ones.

        Without `explain`, `row_ids` and `csv_escape_formulas`, which depend on the form of the rows.
        """
        return {
            "interval": self.interval,
            "on_error": "per_row" if self.on_error == "row" else None,
            "class_priors": read_priors(self.class_priors, columns.classes),
            "costs": read_costs(self.costs),
            "reject_cost": self.reject_cost,
            "components": columns.components,
            "unknown_categories": self.unknown_categories,
            "nulls": self.nulls,
        }

    @property
    def has_decisions(self) -> bool:
        """Return True where an option requires a decision for each row."""
        return any(given is not None for given in (self.class_priors, self.costs, self.reject_cost))


@dataclass(frozen=True)
class PredictionColumns:
    """The columns of a version's predictions: `cells` returns the values of a prediction under `headings`.

    The headings are the names of the columns in the API's files. `classes` are empty where no class is predicted;
    `components` is the number to request for each row.
    """

    headings: tuple[str, ...]
    cells: Callable[[Prediction], Cells]
    classes: tuple[Label, ...] = ()
    components: int | None = None

    def with_errors(self) -> "PredictionColumns":
        """Return the columns and a last one with the reason why a row has no prediction."""
        cells, empty = self.cells, (None,) * len(self.headings)

        def with_error(one: Prediction) -> Cells:
            return (*cells(one), None) if one.error is None else (*empty, one.error.detail or one.error.title)

        return replace(self, headings=(*self.headings, "error"), cells=with_error)


def columns_of(version: VersionBase, required: PredictCommandOptions) -> PredictionColumns:
    """Return the columns of a version's predictions, with the reasons of rows without one where these are required.

    The service rejects options that the version does not have.
    """
    found = _columns_of(version, required)
    return found.with_errors() if required.on_error == "row" else found


def _columns_of(version: VersionBase, required: PredictCommandOptions) -> PredictionColumns:
    match version:
        case SupervisedVersion(classes=classes):
            explanation = () if required.explain is None else ("because",)
            if classes:
                decision = ("decision", "expected_cost") if required.has_decisions else ()
                names = ("label", *(f"probability_{text_of(label)}" for label in classes), *decision, "support")
            else:
                names = ("mean", "sd", "lower", "upper", "support")
            cells = partial(_supervised_cells, classes=classes)
            return PredictionColumns((*names, *explanation), cells, classes, required.components)
        case ComponentsVersion():
            components = required.components or COMPONENTS
            count = min(components, len(version.variances))
            names = (*(f"component_{k}" for k in range(1, count + 1)), "reconstruction_error", "log_density", "novelty")
            return PredictionColumns(names, _component_cells, components=components)
        case _:
            return PredictionColumns(("value",), lambda one: (one.value,), components=required.components)


def _supervised_cells(one: Prediction, *, classes: tuple[Label, ...]) -> Cells:
    cells: Cells = (one.mean, one.sd, one.lower, one.upper, one.support)
    if classes:
        shares = {share.label: share.probability for share in one.probabilities or ()}
        decision = () if one.decision is None else (one.decision.label, one.decision.expected_cost)
        cells = (one.label, *(shares[label] for label in classes), *decision, one.support)
    return cells if one.explanation is None else (*cells, "; ".join(_because(one)))


def _component_cells(one: Prediction) -> Cells:
    return (*(one.components or ()), one.reconstruction_error, one.log_density, one.novelty)


def _because(response: Prediction) -> Iterator[str]:
    """Yield the terms of the sum of a prediction.

    As in "baseline: +3; gaussian at row 17 of the data: +2.5; others: -0.1".
    """
    whole = response.explanation_sum
    if whole is not None:
        yield f"baseline: {whole.baseline:+.4g}"
    yield from map(_contribution, response.explanation or ())
    if whole is not None:
        yield f"others: {whole.others:+.4g}"


def _contribution(one: Contribution) -> str:
    """Return a function and its contribution, as in "gaussian at row 17 of the data: +2.5"."""
    place = one.kind if one.row is None else f"{one.kind} at row {one.row + 1} of the data"
    return f"{place if one.input is None else one.input}: {one.contribution:+.4g}"


ROWS_SHOWN = 20
"""The number of rows of a table on a terminal."""


def write_predictions(
    stream: TextIO, version: VersionBase, answered: Iterable[tuple[Row, Prediction]], required: PredictCommandOptions
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
    version: VersionBase, answered: Iterator[tuple[Row, Prediction]], required: PredictCommandOptions
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
