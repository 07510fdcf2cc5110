"""`relevance evaluate` and `promote`: how good a version's predictions are, and whether they are better."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from relevance_bayes.cli.connection import in_plain_text
from relevance_bayes.cli.console import echo, refuse, warn
from relevance_bayes.cli.progress import watch
from relevance_bayes.cli.rendering import number, print_facts, print_json
from relevance_bayes.client import Problem, Relevance
from relevance_bayes.types.evaluations import (
    ClassDiagnostics,
    ClassMetrics,
    Evaluation,
    NumberDiagnostics,
    NumberMetrics,
)
from relevance_bayes.types.promotions import PromotionResult


def evaluate(
    client: Relevance, model: str, file: Path | None, dataset: str | None, *, wait: bool, as_json: bool
) -> None:
    """Evaluate on a file, which is uploaded, or a dataset; raises typer.Exit(1) when the job does not succeed."""
    dataset_id = client.upload(file).id if dataset is None and file is not None else dataset or ""
    job = client.evaluations.submit(model, dataset_id)
    if not wait:
        print_json(job) if as_json else echo(f"Evaluation {job.id} is {job.state}.")
        return
    try:
        watch(client.evaluations.follow(job.id), label=model)
    except KeyboardInterrupt:
        warn(f"The evaluation {job.id} goes on.")
        raise
    job = client.evaluations.get(job.id)
    if job.result is None:
        refuse(in_plain_text(Problem.of_job(job)))
    print_json(job) if as_json else show_evaluation(job)


@dataclass(frozen=True)
class PromotionCriteria:
    """By what a version has to be better, as the options said; None is "not said"."""

    metric: str | None
    margin: float | None
    criterion: str | None
    groups: str | None


def promote(
    client: Relevance,
    named: tuple[str, str],
    version: int | str,
    file: Path | None,
    dataset: str | None,
    proof: PromotionCriteria,
    *,
    as_json: bool,
) -> None:
    """Move the alias `named`, a model's, if a version is better; raises typer.Exit(1) when it stays."""
    dataset_id = client.upload(file).id if dataset is None and file is not None else dataset or ""
    model, alias = named
    job = client.promotions.submit(
        model,
        alias,
        version,
        dataset_id,
        metric=proof.metric,
        margin=proof.margin,
        criterion=proof.criterion,
        groups=proof.groups,
    )
    watch(client.promotions.follow(job.id), label=f"{model}@{alias}")
    job = client.promotions.get(job.id)
    if job.result is None:
        refuse(in_plain_text(Problem.of_job(job)))
    if as_json:
        print_json(job)
    elif job.result.moved:
        moved_to = None if job.version is None else job.version.version
        echo(f"{model}@{alias} is version {moved_to} now. {job.result.reason}{_left_out(job.result)}")
    if not job.result.moved:
        refuse(f"{model}@{alias} stays. {job.result.reason}{_left_out(job.result)}")


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


def show_evaluation(job: Evaluation) -> None:
    """Print the figures found, as a table."""
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
            ("not answered", f"{found.rows_not_predicted:,}" if found.rows_not_predicted else None),
            *_figures(found.metrics),
        ]
    print_facts(facts)


def _seen(rows: int | None) -> str | None:
    """Return how many rows a version was trained on, None where it was on none."""
    if rows is None:
        return "not known"
    return f"{rows:,}" if rows else None


def _figures(metrics: NumberMetrics | ClassMetrics) -> Iterator[tuple[str, str | None]]:
    match metrics:
        case NumberMetrics():
            for name, figure in (("rmse", metrics.rmse), ("mae", metrics.mae), ("r2", metrics.r2)):
                yield name, number(figure)
            yield "nll", f"{number(metrics.nll)} nats"
            yield "held impossible", f"{metrics.rows_of_zero_density:,}" if metrics.rows_of_zero_density else None
            for one in metrics.coverage:
                yield f"in {one.percent} %", f"{one.share:.1%} of rows, mean width {number(one.width)}"
        case ClassMetrics():
            yield "error", None if metrics.error is None else f"{metrics.error:.2%}"
            for name, figure in (("log loss", metrics.log_loss), ("brier", metrics.brier), ("ece", metrics.ece)):
                yield name, number(figure)
            yield "auc", None if metrics.auc is None else number(metrics.auc.value)
            yield "of unknown classes", f"{metrics.rows_of_unknown_class:,}" if metrics.rows_of_unknown_class else None
