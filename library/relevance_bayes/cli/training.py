"""`relevance train`: upload, submit, watch, show what was learned."""

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli import option_values
from relevance_bayes.cli.connection import in_plain_text, service
from relevance_bayes.cli.console import echo, refuse, warn
from relevance_bayes.cli.option_values import basis_value, likelihood_value, split_value
from relevance_bayes.cli.options import HERE, AsJson, Missing, ReadableFile, Url
from relevance_bayes.cli.progress import watch
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.cli.versions import show_version
from relevance_bayes.client import Problem, Relevance
from relevance_bayes.client.responses import Job, Json, VersionBase

Document = dict[str, Json]


WITHOUT_TARGET = ("approximation", "image", "components")
"""The tasks that predict no column."""


class Task(StrEnum):
    """The task."""

    REGRESSION = "regression"
    CLASSIFICATION = "classification"


class Prior(StrEnum):
    """The prior of the functions' weights."""

    AUTOMATIC = "automatic"
    INDEPENDENT = "independent"
    GAUSSIAN_PROCESS = "gaussian_process"


class Effort(StrEnum):
    """The amount of computation of a training."""

    QUICK = "quick"
    NORMAL = "normal"
    THOROUGH = "thorough"


class Prefer(StrEnum):
    """The degree to which several processes are reduced to few functions."""

    ACCURACY = "accuracy"
    SMALL = "small"


class Local(StrEnum):
    """The use of nearest-neighbour processes."""

    AUTOMATIC = "automatic"
    NONE = "none"
    NEIGHBOURS = "neighbours"


def train(
    file: ReadableFile,
    target: Annotated[str | None, typer.Option(help="The target column.")] = None,
    *,
    model: Annotated[str | None, typer.Option(help="Name of the model; by default the file's.")] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="An input column; repeat for more. By default all that can be.")
    ] = None,
    task: Annotated[Task | None, typer.Option(help="Found out from the target where not given.")] = None,
    likelihood: Annotated[
        str | None,
        typer.Option(
            parser=option_values.likelihood,
            metavar="NAME",
            help="The likelihood: gaussian by default; student_t with outliers, log_gaussian for positive "
            "numbers, poisson or negative_binomial for counts; "
            "bernoulli for two classes, categorical for more, bernoulli_per_class for a "
            "model of each, one_against_rest for many.",
        ),
    ] = None,
    prior: Annotated[
        Prior | None,
        typer.Option(
            help="The prior of the weights. By default automatic: a Gaussian process, or independent if that is better."
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            parser=option_values.kernel,
            metavar="NAME",
            help="The shape of the functions: gaussian by default; another name is answered with all that there are.",
        ),
    ] = None,
    width: Annotated[
        str | None,
        typer.Option(
            help="A number, or one for each --input as 0.5,2,1 (raw inputs then), evidence_per_input (the default, but "
            "not with --prior independent), evidence, or cross_validation (the default there)."
        ),
    ] = None,
    noise_sd: Annotated[
        str | None,
        typer.Option(
            help="Known noise, in the target's units, or heteroscedastic: a function of the inputs. By default learned."
        ),
    ] = None,
    noise_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column of each row's known noise sd, in the target's units."),
    ] = None,
    missing: Annotated[Missing | None, typer.Option(help="How missing values are treated; error by default.")] = None,
    split: Annotated[
        str | None, typer.Option(help="random (the default), order, order:COLUMN, or group:COLUMN for groups.")
    ] = None,
    holdout: Annotated[float | None, typer.Option(help="Share of the rows that is held out, to measure on.")] = None,
    validation: Annotated[
        int | None, typer.Option(min=2, max=20, help="Train again without each of so many folds, to measure on it.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Decides folds and the rows held out.")] = None,
    effort: Annotated[
        Effort | None,
        typer.Option(
            help="normal (the default): several models, weighted and measured by folds; thorough: more of both, for "
            "some three times the time; quick: one model."
        ),
    ] = None,
    prefer: Annotated[
        Prefer | None,
        typer.Option(help="accuracy (the default), or small: fewer functions, for .05 nats a row of the score."),
    ] = None,
    max_score_loss: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="NATS", help="A row, that fewer functions may cost; .01 by default."),
    ] = None,
    local: Annotated[
        Local | None,
        typer.Option(
            help="automatic (the default): from 5,000 rows on, predict from the nearest rows if that is better; none; "
            "neighbours: always so."
        ),
    ] = None,
    priority: Annotated[
        int | None, typer.Option(min=-100, max=100, help="Jobs of higher priority start first; 0 by default.")
    ] = None,
    request: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A JSON file with any request; options win over it."),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the end of the job.")] = True,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Train on FILE, and show what was learned.

    FILE is in any format that tables come in, told apart by its name. Everything but --target has a good default.
    """
    choices = TrainOptions(
        target=target,
        model=model,
        inputs=inputs or None,
        task=task,
        likelihood=likelihood,
        prior=prior,
        kernel=kernel,
        width=width,
        noise_sd=noise_sd,
        noise_column=noise_column,
        missing=missing,
        split=split,
        holdout=holdout,
        validation=validation,
        seed=seed,
        effort=effort,
        prefer=prefer,
        max_score_loss=max_score_loss,
        local=local,
        priority=priority,
    )
    document = training_document(choices, request)
    with service(url) as client:
        run_training(client, file, document, wait=wait, as_json=as_json)


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
        "basis": basis_value(choices.kernel, choices.width),
        "likelihood": likelihood_value(choices.likelihood, choices.noise_sd, choices.noise_column),
        "split": None if choices.split is None else split_value(choices.split),
    }
    document |= {name: value for name, value in given.items() if value is not None}
    if "target" not in document and document.get("task") not in WITHOUT_TARGET:
        raise typer.BadParameter("which column is to be learned?", param_hint="--target")
    return document


def run_training(client: Relevance, file: Path, document: Document, *, wait: bool, as_json: bool) -> None:
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
