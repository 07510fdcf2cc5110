"""`relevance train`: upload, submit, watch, say what was learned."""

import json
from dataclasses import dataclass
from pathlib import Path

import typer

from relevance_bayes.cli.connection import in_plain_text
from relevance_bayes.cli.console import echo, refuse, warn
from relevance_bayes.cli.progress import watch
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.cli.versions import show_version
from relevance_bayes.client import Problem, Relevance
from relevance_bayes.client.responses import Job, Json, VersionBase

Document = dict[str, Json]

SOUGHT = ("cross_validation", "evidence", "evidence_per_input")
"""The ways to find a width, by the API's names."""

WITHOUT_TARGET = ("approximation", "image", "components")
"""The tasks that predict no column."""


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The values of options; None is "not given"."""

    target: str | None = None
    model: str | None = None
    inputs: list[str] | None = None
    task: str | None = None
    likelihood: str | None = None
    prior: str | None = None
    kernel: str | None = None
    width: str | None = None
    noise_sd: str | None = None
    noise_column: str | None = None
    missing: str | None = None
    split: str | None = None
    holdout: float | None = None
    validation: int | None = None
    seed: int | None = None
    effort: str | None = None
    prefer: str | None = None
    max_score_loss: float | None = None
    local: str | None = None
    priority: int | None = None


def training_document(choices: TrainOptions, request: Path | None) -> Document:
    """The request for the API: the file's, with the options over it. Raises typer.BadParameter."""
    document = {} if request is None else _read(request)
    given: dict[str, Json] = {
        "target": choices.target,
        "model": choices.model,
        "inputs": None if choices.inputs is None else list(choices.inputs),
        "task": choices.task,
        "prior": None if choices.prior is None else {"type": choices.prior},
        "missing": choices.missing,
        "holdout": choices.holdout,
        "validation": None if choices.validation is None else {"folds": choices.validation},
        "seed": choices.seed,
        "effort": choices.effort,
        "prefer": choices.prefer,
        "max_score_loss": choices.max_score_loss,
        "local": None if choices.local is None else {"type": choices.local},
        "priority": choices.priority,
        "basis": _basis(choices.kernel, choices.width),
        "likelihood": _likelihood(choices),
        "split": None if choices.split is None else _split(choices.split),
    }
    document |= {name: value for name, value in given.items() if value is not None}
    if "target" not in document and document.get("task") not in WITHOUT_TARGET:
        raise typer.BadParameter("which column is to be learned?", param_hint="--target")
    return document


def train(client: Relevance, file: Path, document: Document, *, wait: bool, as_json: bool) -> None:
    """Train on `file` as `document` says; raises typer.Exit(1) when the job does not succeed."""
    dataset = client.upload(file)
    job = client.trainings.submit({"dataset_id": dataset.id, **document}, of=Job)
    if not wait:
        print_json(job) if as_json else echo(f"Job {job.id} is {job.state}. See: relevance jobs {job.id}")
        return
    try:
        watch(client.trainings.follow(job.id), label=file.name)
    except KeyboardInterrupt:
        warn(f"The job goes on. See: relevance jobs {job.id}; end it: relevance jobs --cancel {job.id}")
        raise
    job = client.trainings.get(job.id, of=Job)
    if job.version is None:
        refuse(in_plain_text(Problem.of_job(job)))
    version = client.version(job.version.model, job.version.version, of=VersionBase)
    print_json(version) if as_json else show_version(version)


def _read(request: Path) -> Document:
    try:
        document = json.loads(request.read_text())
    except (ValueError, UnicodeDecodeError) as broken:
        raise typer.BadParameter(f"{request} is not JSON: {broken}", param_hint="--request") from broken
    if not isinstance(document, dict):
        raise typer.BadParameter(f"{request} holds no JSON object", param_hint="--request")
    return document


def _likelihood(choices: TrainOptions) -> Json:
    name, noise_sd, column = choices.likelihood, choices.noise_sd, choices.noise_column
    if noise_sd is None and column is None:
        return None if name is None else {"type": name}
    hint = "--noise-sd" if column is None else "--noise-column"
    if noise_sd is not None and column is not None:
        raise typer.BadParameter("one noise of all rows goes against one of each", param_hint=hint)
    if name not in {None, "gaussian"}:
        raise typer.BadParameter(f"{name} has no noise of a known sd", param_hint=hint)
    return {"type": "gaussian", "noise_sd": _noise_sd(noise_sd) if column is None else {"column": column}}


def _noise_sd(given: str | None) -> Json:
    """A number, or the name of a way to learn it."""
    try:
        return None if given is None else float(given)
    except ValueError:
        return given


def _basis(kernel: str | None, width: str | None) -> Json:
    """One kernel with what was said of it: the service knows what goes with it."""
    if kernel is None and width is None:
        return None
    given: dict[str, Json] = {"type": "kernel"}
    if kernel is not None:
        given["kernel"] = {"type": kernel}
    if width is not None:
        given["width"] = _width(width)
    return given


def _width(text: str) -> Json:
    if text in SOUGHT:
        return {"type": text}
    return {"type": "fixed", "value": widths(text, f", nor one of {', '.join(SOUGHT)}")}


def widths(text: str, others: str = "") -> Json:
    """A number, or a list of them. Raises typer.BadParameter, which names what else could be said."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        detail = f"{text} is neither a number, nor numbers with commas between{others}"
        raise typer.BadParameter(detail, param_hint="--width") from None
    return numbers[0] if len(numbers) == 1 else list[Json](numbers)


def _split(text: str) -> Json:
    kind, _, column = text.partition(":")
    match kind, column:
        case (("random" | "order"), ""):
            return {"type": kind}
        case (("order" | "group"), str()):
            return {"type": kind, "column": column}
        case _:
            detail = f"{text} is none of random, order, order:COLUMN, group:COLUMN"
            raise typer.BadParameter(detail, param_hint="--split")
