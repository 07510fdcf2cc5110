"""`relevance evaluate`, `promote` and `outcomes`: versions measured by targets and by what happened."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import typer

from relevance_bayes.cli.connection import in_plain_text, service
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.datasets import FileOptions
from relevance_bayes.cli.options import (
    HERE,
    AsJson,
    Dataset,
    LabelledFile,
    Priority,
    Url,
    VersionOfModel,
    Wait,
    file_argument,
    row_reader,
    with_options,
)
from relevance_bayes.cli.progress import watch_job
from relevance_bayes.cli.readings import read_batches
from relevance_bayes.cli.remedies import in_options
from relevance_bayes.cli.rendering import number, print_facts, print_json, print_list, time_text
from relevance_bayes.cli.rows import Row, RowOptions
from relevance_bayes.client import Problem
from relevance_bayes.client.responses import SupervisedVersion
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.evaluations import (
    ClassDiagnostics,
    ClassMetrics,
    Criterion,
    Evaluation,
    NumberDiagnostics,
    NumberMetrics,
    PromotionResult,
)
from relevance_bayes.records.models import Reference
from relevance_bayes.records.outcomes import BucketWidth, OutcomeBucket, OutcomesReceived
from relevance_bayes.records.values import ColumnKind, Label, text_of


@with_options
def evaluate(
    model: VersionOfModel,
    file: LabelledFile = None,
    *,
    dataset: Dataset = None,
    options: FileOptions,
    priority: Priority = 0,
    wait: Wait = True,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Measure the predictions of MODEL on the targets in FILE."""
    options.refuse_unless_one(file, dataset)
    with service(url) as client:
        job = client.evaluations.submit(
            model, options.dataset_id(client, file, dataset, prompts=not as_json), priority=priority
        )
        if not wait:
            print_json(job) if as_json else echo(f"Evaluation {job.id} is {job.state}.")
            return
        watch_job(client.evaluations, job, label=model)
        job = client.evaluations.get(job.id)
        if job.result is None:
            refuse(in_plain_text(Problem.of_job(job)))
        print_json(job) if as_json else _show_evaluation(job)


def _show_evaluation(job: Evaluation) -> None:
    """Print the metrics of an evaluation as a table."""
    facts: list[tuple[str, str | None]] = [
        ("version", None if job.version is None else f"{job.version.model}@{job.version.version}"),
        ("dataset", job.dataset_id),
        ("state", job.state),
    ]
    if job.result is not None:
        found = job.result
        facts += [
            ("rows", f"{found.rows:,}"),
            ("without target", f"{found.rows_without_target:,}" if found.rows_without_target else None),
            ("seen in training", _seen(found.rows_seen_in_training)),
            ("not predicted", f"{found.rows_not_predicted:,}" if found.rows_not_predicted else None),
            *_figures(found.metrics),
        ]
    print_facts(facts)


def _seen(rows: int | None) -> str | None:
    """Return the number of rows that were seen in training, None where it is 0."""
    if rows is None:
        return "not known"
    return f"{rows:,}" if rows else None


def _figures(metrics: NumberMetrics | ClassMetrics) -> Iterator[tuple[str, str | None]]:
    match metrics:
        case NumberMetrics():
            for name, figure in (("rmse", metrics.rmse), ("mae", metrics.mae), ("r2", metrics.r2)):
                yield name, number(figure)
            yield "nll", f"{number(metrics.nll)} nats"
            yield "zero density", f"{metrics.rows_of_zero_density:,}" if metrics.rows_of_zero_density else None
            for one in metrics.coverage:
                yield f"in {one.percent} %", f"{one.share:.1%} of rows, mean width {number(one.width)}"
        case ClassMetrics():
            yield "error", None if metrics.error is None else f"{metrics.error:.2%}"
            for name, figure in (("log loss", metrics.log_loss), ("brier", metrics.brier), ("ece", metrics.ece)):
                yield name, number(figure)
            yield "auc", None if metrics.auc is None else number(metrics.auc.value)
            if (positive := metrics.positive) is not None:
                figures = positive.precision, positive.recall, positive.specificity, positive.f1
                for name, figure in zip(("precision", "recall", "specificity", "f1"), figures, strict=True):
                    yield f"{name} of {text_of(positive.label)}", number(figure)
            yield "of unknown classes", f"{metrics.rows_of_unknown_class:,}" if metrics.rows_of_unknown_class else None


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


BATCH = 10_000
"""The number of outcomes in one request."""

MAX_IDS_SHOWN = 5

ModelName = Annotated[str, typer.Argument(metavar="MODEL", help="The name of the model.")]


@with_options
def send(
    context: typer.Context,
    model: ModelName,
    file: Annotated[Path, file_argument("Rows with an id and the target of MODEL.")],
    *,
    row_ids: Annotated[str, typer.Option(metavar="COLUMN", help="The column with the ids.")] = "row_id",
    options: RowOptions,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Send the outcomes in FILE."""
    with service(url) as client:
        version = client.version(model)
        kinds: Mapping[str, ColumnKind] = {row_ids: "category", version.target: _kind(version)}
        received = OutcomesReceived(0, 0, 0, 0, ())
        try:
            reader = row_reader(context)
            for rows in read_batches(reader, file, kinds, size=BATCH, options=options, prompts=not as_json):
                outcomes = {str(_value(row, row_ids)): _value(row, version.target) for row in rows}
                received = _sum(received, client.outcomes.send(model, outcomes))
        except RelevanceError as unreadable:
            refuse(f"{file}: {in_options(unreadable.detail)}")
        if as_json:
            print_json(received)
            return
        echo(
            f"{received.recorded:,} outcomes are recorded; {received.repeated:,} were known,"
            f" {received.conflicting:,} with another value; {received.unknown:,} have no recorded prediction."
        )
        if received.unknown_ids:
            echo(f"Without a prediction: {', '.join(received.unknown_ids[:MAX_IDS_SHOWN])} ...")


COLUMNS: Mapping[str, Callable[[OutcomeBucket], str]] = {
    "from": lambda one: time_text(one.start),
    "version": lambda one: str(one.version),
    "outcomes": lambda one: f"{one.outcomes:,}",
    "log score": lambda one: number(one.log_score),
    "expected": lambda one: number(one.expected_log_score),
    "coverage": lambda one: ", ".join(f"{level.percent} %: {level.coverage:.1%}" for level in one.coverage),
    "accuracy": lambda one: "" if one.accuracy is None else f"{one.accuracy:.1%}",
}


def show(
    model: ModelName,
    *,
    version: Annotated[int | None, typer.Option(min=1, show_default="all", help="The number of a version.")] = None,
    bucket: Annotated[BucketWidth, typer.Option(help="The time of which outcomes are counted together.")] = "day",
    limit: Annotated[int, typer.Option(help="The largest number of lines.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Compare predictions of MODEL with what happened."""
    with service(url) as client:
        found = client.outcomes.over_time(model, version=version, bucket=bucket)
        print_list(islice(found, limit), COLUMNS, if_none="No outcomes.", as_json=as_json)


def _kind(version: SupervisedVersion) -> ColumnKind:
    """Return the kind of a version's target."""
    classes = version.classes
    if not classes:
        return "number"
    return "boolean" if isinstance(classes[0], bool) else "category" if isinstance(classes[0], str) else "number"


def _value(row: Row, column: str) -> Label:
    """Return the value of a row in a column; raises typer.Exit(1) where there is none."""
    if (found := row.get(column)) is None:
        refuse(f"A row has no value in the column {column!r}.")
    return found


def _sum(one: OutcomesReceived, other: OutcomesReceived) -> OutcomesReceived:
    return OutcomesReceived(
        one.recorded + other.recorded,
        one.repeated + other.repeated,
        one.conflicting + other.conflicting,
        one.unknown + other.unknown,
        (*one.unknown_ids, *other.unknown_ids),
    )
