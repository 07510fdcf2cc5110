"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.rows import CommandContext, RowReader, text_rows
from relevance_bayes.types.formats import FILE_FORMATS

Url = Annotated[str, typer.Option("--url", envvar="RELEVANCE_URL", help="Where the service is.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
ReadableFile = Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True)]
UntilEof = Annotated[bool, typer.Option("--until-eof", hidden=True, help="End when standard input ends.")]

HERE = "http://127.0.0.1:8000"


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
