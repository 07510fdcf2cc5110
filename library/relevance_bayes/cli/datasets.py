"""`relevance datasets`: uploaded tables and images."""

from collections.abc import Sequence
from itertools import islice
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.options import HERE, AsJson, Url
from relevance_bayes.cli.rendering import print_json, print_table, time_text
from relevance_bayes.client.responses import Column

MAX_COLUMNS_SHOWN = 8


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


def _named(columns: Sequence[Column]) -> str:
    """Return the names of the first columns, and the number of the others."""
    names = ", ".join(column.name for column in columns[:MAX_COLUMNS_SHOWN])
    more = len(columns) - MAX_COLUMNS_SHOWN
    return f"{names} and {more:,} more" if more > 0 else names
