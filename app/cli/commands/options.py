"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Url = Annotated[str, typer.Option("--url", envvar="RELEVANCE_URL", help="Where the service is.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
ReadableFile = Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True)]
UntilEof = Annotated[bool, typer.Option("--until-eof", hidden=True, help="End when standard input ends.")]

HERE = "http://127.0.0.1:8000"


def writable_format(name: str) -> str:
    """The name of a format in which predictions are written; raises typer.BadParameter."""
    from app.formats import WRITABLE_FORMATS  # here, because help pages do without them

    names = [one.name for one in WRITABLE_FORMATS]
    if name not in names:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}")
    return name
