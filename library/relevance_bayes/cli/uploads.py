"""`relevance upload`, and the options by which a file is read."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Self, get_args

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import warn
from relevance_bayes.cli.datasets import show_dataset
from relevance_bayes.cli.file_options import with_options
from relevance_bayes.cli.options import HERE, AsJson, Url, file_argument
from relevance_bayes.cli.readings import with_readings
from relevance_bayes.cli.rendering import print_json, time_text
from relevance_bayes.cli.rows import RowOptions
from relevance_bayes.client import Client
from relevance_bayes.client.responses import Dataset
from relevance_bayes.client.uploads import UploadedDataset
from relevance_bayes.records.values import ColumnKind

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
