"""`relevance datasets` and `upload`: tables and images, and the options by which their files are read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Self, get_args

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo, warn
from relevance_bayes.cli.options import HERE, AsJson, Url, file_argument, with_options
from relevance_bayes.cli.readings import with_readings
from relevance_bayes.cli.rendering import cell_text, print_json, print_list, print_table, time_text
from relevance_bayes.cli.rows import RowOptions
from relevance_bayes.client import Client
from relevance_bayes.client.responses import Column, Dataset
from relevance_bayes.client.uploads import UploadedDataset
from relevance_bayes.records.datasets import CategoryColumn, DatasetRow, TimestampColumn
from relevance_bayes.records.values import ColumnKind

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


KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)


@dataclass(frozen=True, kw_only=True)
class FileOptions(RowOptions):
    """Options of how a file of a dataset is read, None where they are detected."""

    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="NAME:KIND",
            show_default="inferred from 1,000 rows",
            help="The kind of a column: number, boolean, category or timestamp. May be repeated.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", show_default="detected", help="A CSV begins with column names."),
    ] = None

    def with_header(self, has_header: bool) -> Self:
        """Return the options for a file that has a header or not."""
        return replace(self, header=has_header)

    def upload(self, client: Client, file: Path, *, name: str | None = None, prompts: bool = True) -> UploadedDataset:
        """Upload a file, and print where its dataset was there before; raises typer.BadParameter.

        Where a column has two readings, it `prompts` for one on a terminal.
        """
        kinds = dict(map(_named_kind, self.kind or ()))
        uploaded = with_readings(
            self,
            lambda options: client.upload_once(
                file,
                name=name,
                header=options.header,
                kinds=kinds,
                **options.of_client,
            ),
            prompts=prompts,
        )
        if not uploaded.is_new:
            found = uploaded.dataset
            warn(
                f"Dataset {found.id} ({found.name}, of {time_text(found.created_at)}) has the same content: it is used."
            )
        return uploaded

    def of_texts(self, dataset: Dataset) -> RowOptions:
        """Return options by which the rows of its file are read as texts, to the letter."""
        readings = (column.reading for column in dataset.columns)
        return RowOptions(
            delimiter=self.delimiter,
            encoding=self.encoding,
            skip_rows=self.skip_rows,
            has_header=all(one is None or one.has_header is not False for one in readings),
            as_written=True,
        )

    def dataset_id(self, client: Client, file: Path | None, dataset: str | None, *, prompts: bool) -> str:
        """Return the id of the dataset that is given, else that of the file, which is uploaded."""
        if dataset is not None or file is None:
            return dataset or ""
        return self.upload(client, file, prompts=prompts).dataset.id

    def refuse_unless_one(self, file: Path | None, dataset: str | None) -> None:
        """Raise typer.BadParameter unless either a file, which has these options, or a dataset is given."""
        if (file is None) == (dataset is None):
            raise typer.BadParameter("pass either FILE or --dataset", param_hint="FILE")
        if file is None and self != FileOptions():
            raise typer.BadParameter("options of how a file is read need FILE", param_hint="--dataset")


@with_options
def upload(
    file: Annotated[Path, file_argument("The table or image; the suffix gives the format.")],
    *,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", show_default="the file's", help="The name of the dataset.")
    ] = None,
    options: FileOptions,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Upload FILE as a dataset, and show its columns."""
    with service(url, creates=True) as client:
        dataset = options.upload(client, file, name=name, prompts=not as_json).dataset
        print_json(dataset) if as_json else show_dataset(dataset)


def _named_kind(text: str) -> tuple[str, ColumnKind]:
    name, _, written = text.rpartition(":")
    for kind in KINDS:
        if name and written == kind:
            return name, kind
    raise typer.BadParameter(f"expected NAME:KIND with one of {', '.join(KINDS)}, got {text!r}", param_hint="--kind")
