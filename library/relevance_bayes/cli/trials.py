"""`relevance try`: a model of a file by a temporary service, of which nothing is left."""

from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import has_terminal, warn
from relevance_bayes.cli.file_options import with_options
from relevance_bayes.cli.options import AsJson, file_argument
from relevance_bayes.cli.reports import write_report
from relevance_bayes.cli.streams import STREAM
from relevance_bayes.cli.training import TrainOptions, run_training, training_document
from relevance_bayes.cli.uploads import FileOptions
from relevance_bayes.client.embedded import MEMORY
from relevance_bayes.client.responses import Dataset
from relevance_bayes.records.values import Effort

HELD_OUT = 0.2
"""The share of the rows on which the model is measured."""


@with_options
def try_file(
    file: Annotated[Path, file_argument("The rows to train on; the suffix gives the format.")],
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", show_default="a prompt", help="The column to predict.")
    ] = None,
    *,
    options: FileOptions,
    effort: Annotated[Effort, typer.Option(help="The amount of computation.")] = "normal",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Also write a report, an HTML file, to FILE.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how well a column of FILE can be predicted.

    The service that trains is started for it, on a temporary database, and stopped: nothing is left. A fifth of the
    rows is held out and measured on.
    """
    if output == STREAM:
        raise typer.BadParameter("standard output has the verdict: pass a file", param_hint="--output")
    if output is not None and not output.parent.is_dir():
        raise typer.BadParameter(f"{output.parent} is no folder", param_hint="--output")
    warn("Starting a temporary service.")
    with service(MEMORY) as client:
        uploaded = options.upload(client, file, prompts=not as_json)
        choices = TrainOptions(target=target or _chosen_target(uploaded.dataset), holdout=HELD_OUT, effort=effort)
        version = run_training(client, uploaded, training_document(choices, None), wait=True, as_json=as_json)
        if output is not None and version is not None:
            warn(write_report(client, version, output))


def _chosen_target(dataset: Dataset) -> str:
    """Prompt for a column by its number or name; raises typer.BadParameter where there is no terminal."""
    names = [column.name for column in dataset.columns]
    if not has_terminal():
        raise typer.BadParameter(f"pass one of the columns {', '.join(names)}", param_hint="--target")
    for number, column in enumerate(dataset.columns, 1):
        warn(f"{number:>4}  {column.name} ({column.kind})")
    while True:
        given: str = typer.prompt("The column to predict, by name or number", err=True)
        if given in names:
            return given
        if given.isdecimal() and 1 <= int(given) <= len(names):
            return names[int(given) - 1]
