"""`relevance promote`: an alias is moved to another version if that is better on a file."""

from typing import Annotated, Literal

import typer

from relevance_bayes.cli.connection import in_plain_text, service
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.file_options import with_options
from relevance_bayes.cli.options import HERE, AsJson, Dataset, LabelledFile, Url
from relevance_bayes.cli.progress import watch_job
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.cli.uploads import FileOptions
from relevance_bayes.client import Problem
from relevance_bayes.records.evaluations import ClassDiagnostics, ClassMetrics, NumberDiagnostics, NumberMetrics
from relevance_bayes.records.promotions import Criterion, PromotionResult
from relevance_bayes.records.references import Reference


@with_options
def promote(
    alias: Annotated[str, typer.Argument(metavar="MODEL@ALIAS", help="The alias to move.")],
    version: Annotated[str, typer.Argument(metavar="VERSION", help="The version to move to: a number or an alias.")],
    file: LabelledFile = None,
    *,
    dataset: Dataset = None,
    metric: Annotated[
        Literal["rmse", "mae", "nll", "error", "log_loss", "brier"] | None,
        typer.Option(show_default="rmse of numbers, log_loss of classes", help="The metric, of which less is better."),
    ] = None,
    margin: Annotated[
        float | None, typer.Option(min=0, show_default="0", help="The smallest improvement that moves the alias.")
    ] = None,
    criterion: Annotated[
        Criterion | None,
        typer.Option(
            show_default="interval",
            help="What must exceed the margin: the lower end of the improvement's interval, or the estimate.",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            show_default="that of the split",
            help="The column whose equal values group rows that are not independent.",
        ),
    ] = None,
    options: FileOptions,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Move MODEL@ALIAS to VERSION if that is better on FILE.

    It is compared with the version to which the alias points. Where it is not better, the exit status is 1.
    """
    options.refuse_unless_one(file, dataset)
    named = Reference.read(alias)
    if not isinstance(named.version, str):
        raise typer.BadParameter(f"{alias} names no alias", param_hint="MODEL@ALIAS")
    model, to = named.model, int(version) if version.isdecimal() else version
    with service(url) as client:
        job = client.promotions.submit(
            model,
            named.version,
            to,
            options.dataset_id(client, file, dataset, prompts=not as_json),
            metric=metric,
            margin=margin,
            criterion=criterion,
            groups=groups,
        )
        watch_job(client.promotions, job, label=alias)
        job = client.promotions.get(job.id)
        if job.result is None:
            refuse(in_plain_text(Problem.of_job(job)))
        if as_json:
            print_json(job)
        elif job.result.moved:
            moved_to = None if job.version is None else job.version.version
            echo(f"{alias} is version {moved_to} now. {job.result.reason}{_left_out(job.result)}")
        if not job.result.moved:
            refuse(f"{alias} stays. {job.result.reason}{_left_out(job.result)}")


def _left_out(
    found: PromotionResult[NumberMetrics, NumberDiagnostics] | PromotionResult[ClassMetrics, ClassDiagnostics],
) -> str:
    """A sentence on the rows that were compared and left out, empty where none was left out."""
    if not found.rows_seen_in_training:
        return ""
    return (
        f" {found.challenger.rows:,} rows were compared; {found.rows_seen_in_training:,} were left out, since a version"
        " was trained on them."
    )
