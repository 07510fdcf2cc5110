"""A version to a file, and back."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.commands.options import HERE, AsJson, ReadableFile, Url


class Form(StrEnum):
    """The format of an exported version."""

    JSON = "json"
    NPZ = "npz"
    ONNX = "onnx"
    PYTHON = "python"


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model's name, or model@alias.")],
    version: Annotated[
        str | None, typer.Argument(metavar="[VERSION]", help="Its number, or an alias; the newest by default.")
    ] = None,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")],
    form: Annotated[
        Form | None,
        typer.Option(
            "--format",
            show_default=False,
            help="json and npz can be imported; onnx and python predict. By default what FILE ends in, else json.",
        ),
    ] = None,
    url: Url = HERE,
) -> None:
    """Export a version of MODEL to a file, for other programs or another service."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.exporting import export

    with service(url) as client:
        export(client, model, version, None if form is None else form.value, output)


def import_version(
    file: ReadableFile,
    *,
    model: Annotated[str | None, typer.Option(help="The new version's model; by default the name that it had.")] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Import the exported version in FILE (.json or .npz) as the next one of a model."""
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.exporting import import_file

    with service(url) as client:
        import_file(client, file, model, as_json=as_json)
