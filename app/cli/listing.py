"""`relevance jobs` and `relevance models`: what there is."""

from collections.abc import Mapping
from datetime import datetime
from itertools import islice

from app.cli.connection import in_plain_text
from app.cli.progress import figures, watch
from app.cli.rendering import cell_text, number, print_facts, print_json, print_table
from app.cli.saying import say
from app.cli.versions import fit_name, show_version, tags_text
from app.client import Relevance
from app.client.answers import ApproximationJob, ComponentsJob, Job, RelevanceVector, SupervisedJob, VersionBase


def list_jobs(client: Relevance, *, limit: int, as_json: bool) -> None:
    """The newest jobs."""
    jobs = tuple(islice(client.trainings.all(), limit))
    if as_json:
        print_json(jobs)
        return
    rows = ((job.id, job.state, job.model, _learned(job), time_text(job.created_at), _outcome(job)) for job in jobs)
    print_table(("job", "state", "model", "target", "created", ""), rows, if_none="No jobs.")


def show_job(client: Relevance, job_id: str, *, as_json: bool) -> None:
    """One job, with its history."""
    job = client.trainings.get(job_id, of=Job)
    if as_json:
        print_json(job)
        return
    print_facts(
        [
            ("job", job.id),
            ("state", job.state),
            ("model", job.model),
            *_asked(job),
            ("inputs", ", ".join(column.name for column in job.inputs)),
            ("left out", "; ".join(f"{column.name}: {column.reason}" for column in job.ignored) or None),
            ("outcome", _outcome(job) or None),
            ("priority", str(job.priority) if job.priority else None),
            ("again after", job.retry_of),
            *(
                (time_text(move.at), f"{move.state}{f' ({move.reason})' if move.reason else ''}")
                for move in job.transitions
            ),
        ]
    )


def follow_job(client: Relevance, job_id: str, *, as_json: bool) -> None:
    """What happens to a job until it has ended, then all of it."""
    watch(client.trainings.follow(job_id), label=client.trainings.get(job_id, of=Job).model)
    show_job(client, job_id, as_json=as_json)


def _asked(job: Job) -> list[tuple[str, str | None]]:
    """What is to be learned, and how."""
    match job:
        case SupervisedJob():
            return [
                ("task", f"{job.task}: {job.task_reason}"),
                ("target", job.target),
                ("scatter", str(job.likelihood["type"]).replace("_", " ")),
                ("prior", str(job.prior["type"]).replace("_", " ")),
                ("beside it", "; ".join(map(fit_name, job.rivals)) or None),
            ]
        case ApproximationJob():
            return [
                ("task", job.task),
                ("coefficients", job.coefficients),
                ("width", ", ".join(map(number, job.widths))),
                ("to miss", f"{job.tolerance:.2%} of the function at most"),
            ]
        case ComponentsJob():
            return [
                ("task", job.task),
                ("kernel", str(job.kernel["type"]).replace("_", " ")),
                ("width", ", ".join(map(number, job.widths)) if job.widths else "the median distance of rows"),
                ("to explain", f"{job.explained:.0%} before noise"),
            ]
        case _:
            return [("task", job.task)]


def _learned(job: Job) -> str:
    """The column that is to be learned, or the task where there is none."""
    match job:
        case SupervisedJob():
            return job.target
        case ApproximationJob(coefficients=str(name)):
            return name
        case _:
            return f"({job.task})"


def cancel_job(client: Relevance, job_id: str, *, as_json: bool) -> None:
    """Ask for a job's end."""
    job = client.trainings.cancel(job_id)
    if as_json:
        print_json(job)
    else:
        say(f"Job {job.id} is cancelled." if job.has_ended else f"Job {job.id} is asked to end.")


def retry_job(client: Relevance, job_id: str, *, as_json: bool) -> None:
    """Ask for a finished job's training again."""
    job = client.trainings.retry(job_id)
    print_json(job) if as_json else say(f"Job {job.id} is {job.state}. See: relevance jobs {job.id}")


def list_models(client: Relevance, tags: Mapping[str, str], *, limit: int, as_json: bool) -> None:
    """The newest models that have these tags."""
    models = tuple(islice(client.models(tags=tags), limit))
    if as_json:
        print_json(models)
        return
    rows = (
        (
            model.name,
            model.task,
            model.target or "",
            ", ".join(model.inputs),
            str(model.versions),
            ", ".join(f"{alias}: {number}" for alias, number in model.aliases.items()),
            tags_text(model.tags),
            time_text(model.created_at),
        )
        for model in models
    )
    print_table(
        ("model", "task", "target", "inputs", "versions", "aliases", "tags", "created"), rows, if_none="No models."
    )


def show_model(client: Relevance, name: str, version: str | None, *, as_json: bool) -> None:
    """What one version has learned."""
    learned = client.version(name, version, of=VersionBase)
    print_json(learned) if as_json else show_version(learned)


def list_vectors(client: Relevance, name: str, version: str | None, *, limit: int, as_json: bool) -> None:
    """The functions that a version keeps, greatest weights first."""
    learned = client.version(name, version, of=VersionBase)
    vectors = tuple(islice(client.relevance_vectors(learned.model, learned.version, sort="weight"), limit))
    if as_json:
        print_json(vectors)
        return
    inputs = tuple(column.name for column in learned.inputs)
    classes = [cell_text(weight.label) for weight in vectors[0].weight_means] if vectors else []
    weights = [f"weight for {label}" for label in classes] or ["weight"]
    headings = ("function", "row", *inputs, *weights, "sd", "alpha", "gamma")
    print_table(
        headings, (_vector(vector, inputs) for vector in vectors), if_none="No functions: it predicts a constant."
    )


def _vector(vector: RelevanceVector, inputs: tuple[str, ...]) -> tuple[str, ...]:
    cells = vector.inputs or {}
    weights = tuple(weight.mean for weight in vector.weight_means) or (vector.weight_mean,)
    return (
        _function(vector),
        "" if vector.row is None else f"{vector.row}{' (moved)' if vector.moved else ''}",
        *map(cell_text, map(cells.get, inputs)),
        *map(number, (*weights, vector.weight_sd, vector.alpha, vector.gamma)),
    )


def _function(vector: RelevanceVector) -> str:
    """What it is, and how it lies in each input that it sees."""
    name = vector.kind if vector.input is None else f"{vector.kind} {vector.input}"
    lies = [
        f"{said} {number(value)}{f' of {one.input}' if len(vector.shape) > 1 else ''}"
        for one in vector.shape
        for said, value in (("at", one.place), ("over", one.span), ("frequency", one.frequency))
        if value is not None
    ]
    phase = [] if vector.phase is None else [f"phase {number(vector.phase)}"]
    return ", ".join([name, *lies, *phase])


def _outcome(job: Job) -> str:
    if job.version is not None:
        return f"{job.version.model}, version {job.version.version}"
    if job.error is not None:
        return in_plain_text(job.error)
    if job.progress is not None and not job.has_ended:
        return f"{job.progress.phase} {job.progress.completed} {figures(job.progress)}".rstrip()
    return ""


def time_text(moment: datetime) -> str:
    """A moment as the clock on the wall here has it."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")
