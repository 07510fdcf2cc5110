"""`relevance datasets`: uploaded tables and images."""

from collections.abc import Sequence
from itertools import islice
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo
from relevance_bayes.cli.options import HERE, AsJson, Url
from relevance_bayes.cli.rendering import print_json, print_table, time_text
from relevance_bayes.client.responses import Column, Dataset
from relevance_bayes.types.datasets import CategoryColumn, TimestampColumn

MAX_COLUMNS_SHOWN = 8
DIGITS = 6


def datasets(
    *,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="List only datasets of this name.")] = None,
    limit: Annotated[int, typer.Option(help="The largest number of datasets to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List datasets."""
    with service(url) as client:
        datasets = tuple(islice(client.datasets(name=name), limit))
        if as_json:
            print_json(datasets)
            return
        rows = (
            (
                dataset.id,
                dataset.name,
                f"{dataset.rows:,}",
                "an image" if dataset.image else _named(dataset.columns),
                time_text(dataset.created_at),
            )
            for dataset in datasets
        )
        print_table(("dataset", "name", "rows", "columns", "created"), rows, if_none="No datasets.")


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


def _named(columns: Sequence[Column]) -> str:
    """Return the names of the first columns, and the number of the others."""
    return _first([column.name for column in columns])


def _first(names: Sequence[str]) -> str:
    shown, more = ", ".join(names[:MAX_COLUMNS_SHOWN]), len(names) - MAX_COLUMNS_SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown
