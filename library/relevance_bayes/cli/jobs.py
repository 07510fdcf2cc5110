"""`relevance jobs`: trainings, evaluations, batch predictions and promotions."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Annotated

import typer

from relevance_bayes.cli.connection import in_plain_text, service
from relevance_bayes.cli.console import echo
from relevance_bayes.cli.options import HERE, AsJson, Url
from relevance_bayes.cli.progress import Collection, cost_text, watch
from relevance_bayes.cli.rendering import number, print_facts, print_json, print_list, time_text
from relevance_bayes.cli.versions import fit_name
from relevance_bayes.client import Client, ClientError, Problem
from relevance_bayes.client.jobs import Trainings
from relevance_bayes.client.progress import figures, phase_text
from relevance_bayes.client.responses import ApproximationJob, ComponentsJob, Job, SupervisedJob
from relevance_bayes.records.batch_predictions import BatchPredicted, BatchPrediction
from relevance_bayes.records.evaluations import (
    ClassesEvaluation,
    ClassesPromotion,
    EvaluationResult,
    NumbersEvaluation,
    NumbersPromotion,
    PromotionResult,
)
from relevance_bayes.records.jobs import JobBase, JobKind, JobState, VersionName

NOT_FOUND = 404

KINDS: tuple[JobKind, ...] = ("training", "evaluation", "prediction", "promotion")
"""The kinds of jobs, in the order of `_collections`."""


def jobs(
    job: Annotated[str | None, typer.Argument(metavar="JOB", help="The id of a job to show.")] = None,
    *,
    cancel: Annotated[str | None, typer.Option(metavar="JOB", help="The id of a job to cancel.")] = None,
    retry: Annotated[str | None, typer.Option(metavar="JOB", help="The id of a job to retry; it has ended.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Follow the events of JOB until its end.")] = False,
    kind: Annotated[JobKind | None, typer.Option(help="List only jobs of this kind.")] = None,
    state: Annotated[JobState | None, typer.Option(help="List only jobs in this state.")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="List only jobs of this model.")] = None,
    dataset: Annotated[str | None, typer.Option(metavar="ID", help="List only jobs on this dataset.")] = None,
    limit: Annotated[int, typer.Option(help="The largest number of jobs to list.", min=1)] = 20,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """List jobs; show, follow, cancel or retry one."""
    if follow and job is None:
        raise typer.BadParameter("pass the id of the job to follow", param_hint="--follow")
    with service(url) as client:
        if cancel is not None:
            cancel_job(client, cancel, as_json=as_json)
        elif retry is not None:
            retry_job(client, retry, as_json=as_json)
        elif job is not None and follow:
            follow_job(client, job, as_json=as_json)
        elif job is not None:
            show_job(client, job, as_json=as_json)
        else:
            of_kinds = [
                collection for one, collection in zip(KINDS, _collections(client), strict=True) if kind in {None, one}
            ]
            lists = [one.all(state=state, model=model, dataset_id=dataset) for one in of_kinds]
            list_jobs(lists, limit=limit, as_json=as_json)


def list_jobs(lists: Iterable[Iterator[JobBase]], *, limit: int, as_json: bool) -> None:
    """Print the newest jobs of lists of several kinds."""
    jobs = heapq.merge(*lists, key=lambda job: job.created_at, reverse=True)
    print_list(islice(jobs, limit), JOBS, if_none="No jobs.", as_json=as_json)


def show_job(client: Client, job_id: str, *, as_json: bool) -> None:
    """Print a job with its transitions."""
    _, job = _found(client, job_id)
    if as_json:
        print_json(job)
        return
    print_facts(
        [
            ("job", job.id),
            ("kind", _kind(job)),
            ("state", job.state),
            ("model", job.model),
            *_requested(job),
            *_columns(job),
            ("expected", None if job.expected_cost is None else cost_text(job.expected_cost)),
            ("outcome", _outcome(job) or None),
            ("priority", str(job.priority) if job.priority else None),
            ("retry of", job.retry_of),
            *(
                (time_text(move.at), f"{move.state}{f' ({move.reason})' if move.reason else ''}")
                for move in job.transitions
            ),
        ]
    )


def follow_job(client: Client, job_id: str, *, as_json: bool) -> None:
    """Print the events of a job until its end, then the job."""
    collection, job = _found(client, job_id)
    watch(collection.follow(job_id), label=job.model)
    show_job(client, job_id, as_json=as_json)


def cancel_job(client: Client, job_id: str, *, as_json: bool) -> None:
    """Cancel a job."""
    collection, _ = _found(client, job_id)
    job = collection.cancel(job_id)
    if as_json:
        print_json(job)
    else:
        echo(f"Job {job.id} is cancelled." if job.has_ended else f"Job {job.id} is being cancelled.")


def retry_job(client: Client, job_id: str, *, as_json: bool) -> None:
    """Submit the request of an ended job again."""
    collection, _ = _found(client, job_id)
    job = collection.retry(job_id)
    print_json(job) if as_json else echo(f"Job {job.id} is {job.state}. See: relevance jobs {job.id}")


def _collections(client: Client) -> tuple[Collection, ...]:
    return client.trainings, client.evaluations, client.batch_predictions, client.promotions


def _found(client: Client, job_id: str) -> tuple[Collection, JobBase]:
    """Return a job and the collection that contains it; raises ClientError where no collection does."""
    for collection in _collections(client):
        try:
            return collection, collection.get(job_id, of=Job) if isinstance(collection, Trainings) else collection.get(
                job_id
            )
        except ClientError as refused:
            if refused.problem.status != NOT_FOUND:
                raise
    raise ClientError(Problem(title="Not found", detail=f"There is no job {job_id}.", status=NOT_FOUND))


def _kind(job: JobBase) -> str:
    match job:
        case Job():
            return "training"
        case BatchPrediction():
            return "prediction"
        case NumbersPromotion() | ClassesPromotion():
            return "promotion"
        case _:
            return "evaluation"


def _requested(job: JobBase) -> list[tuple[str, str | None]]:
    """The request of a job, as rows of a name and a text."""
    match job:
        case SupervisedJob():
            return [
                ("task", f"{job.task}: {job.task_reason}"),
                ("target", job.target),
                ("missing values", job.missing_reason or None),
                ("likelihood", str(job.likelihood["type"]).replace("_", " ")),
                ("prior", str(job.prior["type"]).replace("_", " ")),
                ("compared models", "; ".join(map(fit_name, job.compared_models)) or None),
                ("alternatives", f"{len(job.alternatives)}, judged by folds" if job.alternatives else None),
            ]
        case ApproximationJob():
            return [
                ("task", job.task),
                ("coefficients", job.coefficients),
                ("width", ", ".join(map(number, job.widths))),
                ("tolerance", f"at most {job.tolerance:.2%} of the function's norm"),
            ]
        case ComponentsJob():
            return [
                ("task", job.task),
                ("kernel", str(job.kernel["type"]).replace("_", " ")),
                ("width", ", ".join(map(number, job.widths)) if job.widths else "the median distance of rows"),
                ("min explained variance", f"{job.min_explained_variance:.0%} before noise"),
            ]
        case Job():
            return [("task", job.task)]
        case _:
            return [("of", _about(job)), ("dataset", job.dataset_id)]


def _columns(job: JobBase) -> list[tuple[str, str | None]]:
    """Return the input columns and the ignored columns of a training."""
    if not isinstance(job, Job):
        return []
    return [
        ("inputs", ", ".join(column.name for column in job.inputs)),
        ("ignored columns", "; ".join(f"{column.name}: {column.reason}" for column in job.ignored) or None),
    ]


def _about(job: JobBase) -> str:
    """Return the target of a training, its task if it has no target, or the version of another job."""
    match job:
        case SupervisedJob():
            return job.target
        case ApproximationJob(coefficients=str(name)):
            return name
        case Job():
            return f"({job.task})"
        case _:
            return "" if job.version is None else f"version {job.version.version}"


def _outcome(job: JobBase) -> str:
    """Return the result of a job, its error or its progress."""
    if job.error is not None:
        return in_plain_text(Problem.of_job(job))
    if job.progress is not None and not job.has_ended:
        return f"{phase_text(job.progress)} {job.progress.completed} {figures(job.progress)}".rstrip()
    match job:
        case Job(version=VersionName(model, version)):
            return f"{model}, version {version}"
        case NumbersEvaluation(result=EvaluationResult(metrics=found)):
            return f"rmse {number(found.rmse)}"
        case ClassesEvaluation(result=EvaluationResult(metrics=found)):
            return f"log loss {number(found.log_loss)}"
        case BatchPrediction(result=BatchPredicted(rows=rows)):
            return f"{rows:,} rows"
        case (
            NumbersPromotion(result=PromotionResult(moved=moved))
            | ClassesPromotion(result=PromotionResult(moved=moved))
        ):
            return f"{job.model}@{job.alias} {'moved' if moved else 'stays'}"
        case _:
            return ""


JOBS: Mapping[str, Callable[[JobBase], str]] = {
    "job": lambda job: job.id,
    "kind": _kind,
    "state": lambda job: job.state,
    "model": lambda job: job.model,
    "of": _about,
    "created": lambda job: time_text(job.created_at),
    "": _outcome,
}
