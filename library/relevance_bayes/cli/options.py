"""Options and arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.connection import PROJECT
from relevance_bayes.cli.rows import CommandContext, RowReader, text_rows
from relevance_bayes.cli.streams import readable
from relevance_bayes.records.formats import FILE_FORMATS
from relevance_bayes.records.predictions import Nulls, UnknownCategories
from relevance_bayes.records.values import Missing

Url = Annotated[str, typer.Option("--url", envvar="RELEVANCE_URL", metavar="URL", help="The address of the service.")]
Project = Annotated[
    str | None,
    typer.Option(
        "--project",
        envvar="RELEVANCE_PROJECT",
        metavar="NAME",
        show_default="that of the API key",
        help="The project in which the command acts.",
        expose_value=False,
        callback=lambda project: PROJECT.set(project or None),
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the JSON of the API.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the end of the job.")]
ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", show_default="the file's name", help="The name of the model."),
]
Tag = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME:VALUE", help="List only what has this tag. May be repeated."),
]
Priority = Annotated[int, typer.Option(min=-100, max=100, help="The priority of the job: higher ones start first.")]
CsvEscapeFormulas = Annotated[
    bool,
    typer.Option("--csv-escape-formulas", help="Write an apostrophe before texts that a spreadsheet would compute."),
]
UnknownCategoriesOption = Annotated[
    UnknownCategories | None,
    typer.Option(
        show_default="average",
        help="Rows with a category that no training row had: predicted as averages over the known ones, or refused.",
    ),
]

NullsOption = Annotated[
    Nulls | None,
    typer.Option(
        show_default="average",
        help="Rows with missing values: predicted as averages over the values of training rows, or refused.",
    ),
]


ModelOrAlias = Annotated[str, typer.Argument(metavar="MODEL", help="The name of a model, or MODEL@ALIAS.")]
Version = Annotated[
    str | None,
    typer.Option(metavar="VERSION", show_default="the newest", help="The number of a version, or an alias of it."),
]
VersionOfModel = Annotated[
    str, typer.Argument(metavar="MODEL", help="A version: MODEL@ALIAS or MODEL@3; MODEL is the newest.")
]


def file_argument(help: str) -> object:  # noqa: A002 - as typer calls it
    """The argument FILE, a readable file, or `-`."""
    return typer.Argument(
        metavar="FILE", dir_okay=False, readable=True, callback=readable, help=f"{help} - is standard input."
    )


LabelledFile = Annotated[Path | None, file_argument("Rows with their targets, which are uploaded as a dataset.")]
Dataset = Annotated[str | None, typer.Option(metavar="ID", help="The id of an uploaded dataset, instead of FILE.")]


def in_project(*, project: Project = None) -> None:
    """The option of all client commands: it reaches their connection, and not their functions."""


HERE = "http://127.0.0.1:8000"


MissingValues = Annotated[
    Missing | None,
    typer.Option(
        show_default="indicator where there are some",
        help="error refuses missing values; drop_rows leaves out their rows; indicator fills them with the mean and "
        "adds a 0/1 column.",
    ),
]


def writable_format(name: str) -> str:
    """The name of a format in which predictions are written; raises typer.BadParameter."""
    names = [one.name for one in FILE_FORMATS if one.is_written]
    if name not in names:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}")
    return name


def row_reader(context: typer.Context) -> RowReader:
    """The reader of rows to predict for that the program of a command has, else `text_rows`."""
    given = context.find_object(CommandContext)
    return text_rows if given is None else given.read_rows
