"""`relevance export`, `import` and `report`: a version as a file, and back, on the same or another service."""

from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo_written, write_result
from relevance_bayes.cli.options import HERE, AsJson, ModelOrAlias, Url, file_argument
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.cli.versions import show_version
from relevance_bayes.client import Client
from relevance_bayes.client.registry import ExportFormat
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


FORMATS: dict[str, ExportFormat] = {".json": "json", ".npz": "npz", ".onnx": "onnx", ".py": "python"}
"""Formats by suffix."""

TEXTS = ("json", "python")
"""The formats that a terminal shows."""


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The name of a model, or MODEL@ALIAS.")],
    version: Annotated[
        str | None,
        typer.Argument(
            metavar="VERSION", show_default="the newest", help="The number of a version, or an alias of it."
        ),
    ] = None,
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write; - is standard output.")
    ],
    form: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format",
            show_default="by the suffix of FILE, else json",
            help="json and npz can be imported again; onnx and python predict without the service.",
        ),
    ] = None,
    url: Url = HERE,
) -> None:
    """Export a version of MODEL to a file."""
    with service(url) as client:
        found = client.version(model, version, of=VersionBase)
        coded = form or FORMATS.get(output.suffix.lower(), "json")
        content = client.export(found.model, found.version, coded)
        write_result(output, content, form=coded, is_text=coded in TEXTS)
        echo_written(output, f"Version {found.version} of {found.model} is in {output}.")


def import_version(
    file: Annotated[Path, file_argument("An exported version, .json or .npz.")],
    *,
    model: Annotated[str | None, typer.Option(metavar="NAME", show_default="as exported", help="The model.")] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Import an exported version as the next one of a model."""
    with service(url) as client:
        version = client.import_version(file, model=model)
        print_json(version) if as_json else show_version(version)
