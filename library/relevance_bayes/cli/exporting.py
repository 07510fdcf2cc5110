"""`relevance export` and `relevance import`: a version to a file, and back, perhaps on another service."""

from pathlib import Path

from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.cli.versions import show_version
from relevance_bayes.client import Relevance
from relevance_bayes.client.exports import ExportFormat
from relevance_bayes.client.responses import VersionBase

FORMATS: dict[str, ExportFormat] = {".json": "json", ".npz": "npz", ".onnx": "onnx", ".py": "python"}
"""By what a file's name ends in."""


def export(client: Relevance, model: str, version: str | None, form: ExportFormat | None, output: Path) -> None:
    """Write a version to a file, in the format that its name says; raises typer.Exit(1) where that can't be written."""
    found = client.version(model, version, of=VersionBase)
    coded = form or FORMATS.get(output.suffix.lower(), "json")
    content = client.export(found.model, found.version, coded)
    try:
        output.write_bytes(content)
    except OSError as error:
        refuse(f"{output}: {error.strerror}")
    echo(f"Version {found.version} of {found.model} is in {output}.")


def import_file(client: Relevance, file: Path, model: str | None, *, as_json: bool) -> None:
    """A file as a new version."""
    version = client.import_version(file, model=model)
    print_json(version) if as_json else show_version(version)
