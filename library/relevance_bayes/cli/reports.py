"""`relevance report`: a version as an HTML file that needs no service."""

from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.options import HERE, ModelOrAlias, Url
from relevance_bayes.client import Relevance
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
        typer.Option("--output", "-o", metavar="FILE", show_default="MODEL-VERSION.html", help="The file to write."),
    ] = None,
    url: Url = HERE,
) -> None:
    """Write a report of a version of MODEL, an HTML file.

    It needs no service, and loads nothing: browsers open it from a disk or a mail.
    """
    with service(url) as client:
        found = client.version(model, version, of=VersionBase)
        echo(write_report(client, found, output or Path(f"{found.model}-{found.version}.html")))


def write_report(client: Relevance, version: VersionBase, output: Path) -> str:
    """Write the report of a version to a file, and return where it is; raises typer.Exit(1) where that fails."""
    content = client.report(version.model, version.version)
    try:
        output.write_bytes(content)
    except OSError as error:
        refuse(f"{output}: {error.strerror}")
    return f"The report of version {version.version} of {version.model} is in {output}."
