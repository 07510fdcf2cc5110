"""`relevance datasets`: uploaded tables and images."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo
from relevance_bayes.cli.options import HERE, AsJson, Url
from relevance_bayes.cli.rendering import cell_text, print_json, print_list, print_table, time_text
from relevance_bayes.client.responses import Column, Dataset
from relevance_bayes.records.datasets import CategoryColumn, DatasetRow, TimestampColumn

MAX_COLUMNS_SHOWN = 8
DIGITS = 6


def datasets(
    dataset: Annotated[str | None, typer.Argument(metavar="DATASET", help="The id of a dataset to show.")] = None,
    *,
    rows: Annotated[bool, typer.Option("--rows", help="Show the rows of DATASET, the first --limit of them.")] = False,
    sample: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Show so many rows of DATASET, evenly spaced.")
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="List only datasets of this name.")] = None,
    limit: Annotated[int, typer.Option(help="The largest number of datasets, or rows, to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List datasets, or show one of them."""
    if dataset is None and (rows or sample is not None):
        raise typer.BadParameter("pass the id of the dataset", param_hint="DATASET")
    with service(url) as client:
        if dataset is not None and (rows or sample is not None):
            show_rows(islice(client.rows(dataset, sample=sample), sample or limit), as_json=as_json)
            return
        if dataset is not None:
            found = client.dataset(dataset)
            print_json(found) if as_json else show_dataset(found)
            return
        print_list(islice(client.datasets(name=name), limit), DATASETS, if_none="No datasets.", as_json=as_json)


def show_rows(rows: Iterable[DatasetRow], *, as_json: bool) -> None:
    """Print rows of a dataset, with their numbers, from 1; those in JSON are from 0, as the API has them."""
    shown = tuple(rows)
    if as_json:
        print_json(shown)
        return
    names = tuple(shown[0].cells) if shown else ()
    lines = ((f"{one.row + 1:,}", *(cell_text(one.cells[name]) for name in names)) for one in shown)
    print_table(("row", *names), lines, if_none="No rows.")


def show_dataset(dataset: Dataset) -> None:
    """Print a dataset with its columns."""
    echo(f"Dataset {dataset.id}: {dataset.name}, {dataset.rows:,} rows")
    rows = ((column.name, column.kind, f"{column.missing:,}", _values(column)) for column in dataset.columns)
    print_table(("column", "kind", "missing", "values"), rows, if_none="No columns.")


def _values(column: Column) -> str:
    """Return the range of numbers and times, or the first categories."""
    if isinstance(column, CategoryColumn):
        return _first([category.label for category in column.categories])
    if column.min is None or column.max is None:
        return ""
    if isinstance(column, TimestampColumn):
        return f"{column.min} to {column.max}"
    return f"{column.min:.{DIGITS}g} to {column.max:.{DIGITS}g}"


def _first(names: Sequence[str]) -> str:
    shown, more = ", ".join(names[:MAX_COLUMNS_SHOWN]), len(names) - MAX_COLUMNS_SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown


DATASETS: Mapping[str, Callable[[Dataset], str]] = {
    "dataset": lambda one: one.id,
    "name": lambda one: one.name,
    "rows": lambda one: f"{one.rows:,}",
    "columns": lambda one: "an image" if one.image else _first([column.name for column in one.columns]),
    "created": lambda one: time_text(one.created_at),
}
