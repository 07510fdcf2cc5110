"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Url = Annotated[str, typer.Option("--url", envvar="RELEVANCE_URL", help="Where the service is.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
ReadableFile = Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True)]
UntilEof = Annotated[bool, typer.Option("--until-eof", hidden=True, help="End when standard input ends.")]

HERE = "http://127.0.0.1:8000"
