"""Options and arguments that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.rows import CommandContext, RowReader, text_rows
from relevance_bayes.client import Relevance
from relevance_bayes.types.formats import FILE_FORMATS

Url = Annotated[str, typer.Option("--url", envvar="RELEVANCE_URL", help="Where the service is.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
ReadableFile = Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True)]


ModelOrAlias = Annotated[str, typer.Argument(metavar="MODEL", help="The model's name, or MODEL@ALIAS.")]
Version = Annotated[
    str | None, typer.Option(help="A version's number, or an alias; the newest by default.", show_default=False)
]
VersionOfModel = Annotated[
    str, typer.Argument(metavar="MODEL", help="A version: MODEL@ALIAS, MODEL@3; MODEL for the newest.")
]
LabelledFile = Annotated[
    Path | None,
    typer.Argument(exists=True, dir_okay=False, help="Uploaded as a dataset; it has the target too."),
]
Dataset = Annotated[str | None, typer.Option(metavar="ID", help="An uploaded dataset, instead of FILE.")]


HERE = "http://127.0.0.1:8000"


class Missing(StrEnum):
    """The treatment of missing values."""

    ERROR = "error"
    DROP_ROWS = "drop_rows"
    INDICATOR = "indicator"


def writable_format(name: str) -> str:
    """The name of a format in which predictions are written; raises typer.BadParameter."""
    names = [one.name for one in FILE_FORMATS if one.is_written]
    if name not in names:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}")
    return name


def row_reader(context: typer.Context) -> RowReader:
    """Return how rows to predict for are read: as the program says that the command is part of, else `text_rows`."""
    given = context.find_object(CommandContext)
    return text_rows if given is None else given.read_rows


def refuse_unless_one(file: Path | None, dataset: str | None) -> None:
    """Raise typer.BadParameter unless either a file or a dataset is given."""
    if (file is None) == (dataset is None):
        raise typer.BadParameter("on a FILE, or on a --dataset?", param_hint="FILE")


def dataset_id(client: Relevance, file: Path | None, dataset: str | None) -> str:
    """The id of the dataset that is given, else that of the file, which is uploaded."""
    return client.upload(file).id if dataset is None and file is not None else dataset or ""
