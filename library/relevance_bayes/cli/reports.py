"""`relevance report`: a version as an HTML file that needs no service."""

from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.options import HERE, ModelOrAlias, Url
from relevance_bayes.cli.streams import echo_written, write_result
from relevance_bayes.client import Client
from relevance_bayes.client.responses import VersionBase


def report(
    model: ModelOrAlias,
    version: Annotated[
        str | None,
        typer.Argument(
            metavar="VERSION", show_default="the newest", help="The number of a version, or an alias of it."
        ),
    ] = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            show_default="MODEL-VERSION.html",
            help="The file to write; - is standard output.",
        ),
    ] = None,
    url: Url = HERE,
) -> None:
    """Write a report of a version of MODEL, an HTML file.

    It needs no service, and loads nothing: browsers open it from a disk or a mail.
    """
    with service(url) as client:
        found = client.version(model, version, of=VersionBase)
        file = output or Path(f"{found.model}-{found.version}.html")
        echo_written(file, write_report(client, found, file))


def write_report(client: Client, version: VersionBase, output: Path) -> str:
    """Write the report of a version to a file, and return where it is; raises typer.Exit(1) where that fails."""
    write_result(output, client.report(version.model, version.version), form="html", is_text=True)
    return f"The report of version {version.version} of {version.model} is in {output}."
