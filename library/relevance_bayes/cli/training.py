"""`relevance train`, `try`, `approximate` and `components`: train on a file, and show the version."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from relevance_bayes.cli.connection import in_plain_text, service
from relevance_bayes.cli.console import STREAM, echo, has_terminal, refuse, warn
from relevance_bayes.cli.datasets import FileOptions
from relevance_bayes.cli.exports import write_report
from relevance_bayes.cli.options import (
    HERE,
    AsJson,
    Document,
    MissingValues,
    ModelName,
    Url,
    Wait,
    basis_value,
    covariance_name,
    file_argument,
    kernel_name,
    likelihood_name,
    likelihood_value,
    request_value,
    split_value,
    widths,
    with_options,
)
from relevance_bayes.cli.progress import cost_text, watch_job
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.cli.versions import show_version
from relevance_bayes.client import Client, ClientError, Problem
from relevance_bayes.client.embedded import MEMORY
from relevance_bayes.client.responses import Dataset, Job, Json, VersionBase
from relevance_bayes.client.uploads import UploadedDataset
from relevance_bayes.records.json import exclude_none
from relevance_bayes.records.values import Dates, Effort, Prefer, Task, Text

WITHOUT_TARGET = ("approximation", "image", "components")
"""The tasks that predict no column."""

MADE = frozenset(
    {"prior", "validation", "local", "budget", "kernel", "width", "likelihood", "noise_sd", "noise_column", "split"}
)
"""The options of which members of other names or forms are made."""


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The options of a training, None where not given."""

    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column to predict.")] = None
    model: ModelName = None
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input", metavar="COLUMN", show_default="all that can be", help="An input column. May be repeated."
        ),
    ] = None
    task: Annotated[
        Task | None, typer.Option(show_default="by the target's values", help="Predict a number, or a class.")
    ] = None
    likelihood: Annotated[
        str | None,
        typer.Option(
            parser=likelihood_name,
            metavar="NAME",
            show_default="gaussian of numbers",
            help="The distribution of the target. Of numbers: gaussian; student_t where there are outliers; "
            "log_gaussian if they are positive; logit_gaussian between 0 and 1; poisson or negative_binomial of "
            "counts; hurdle if many are 0. Of classes: bernoulli of two; categorical, bernoulli_per_class (a model for "
            "each class) or one_against_rest of more.",
        ),
    ] = None
    prior: Annotated[
        Literal["automatic", "independent", "gaussian_process"] | None,
        typer.Option(
            show_default="automatic",
            help="The prior of the weights. automatic takes a Gaussian process, or independent weights where they are "
            "better.",
        ),
    ] = None
    kernel: Annotated[
        str | None,
        typer.Option(
            parser=kernel_name,
            metavar="NAME",
            show_default="gaussian",
            help="The kernel, which gives the functions their shape. An unknown name is refused with a list of all.",
        ),
    ] = None
    width: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS|SEARCH",
            show_default="evidence_per_input, with --prior independent cross_validation",
            help="The kernels' width, or how it is found: evidence_per_input, evidence (one for all inputs) or "
            "cross_validation. 0.5 or 0.5,2,1 (one for each --input) fixes it, in the units of the inputs.",
        ),
    ] = None
    noise_sd: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|heteroscedastic",
            show_default="learned",
            help="The standard deviation of the noise in the target's units; heteroscedastic learns it as a function "
            "of the inputs.",
        ),
    ] = None
    noise_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that holds the noise sd of each row, in the target's units."),
    ] = None
    missing: MissingValues = None
    dates: Annotated[
        Dates | None,
        typer.Option(
            show_default="calendar",
            help="calendar adds the position of a timestamp within year, week and day to the inputs, where it predicts "
            "better; time does not compare.",
        ),
    ] = None
    text: Annotated[
        Text | None,
        typer.Option(
            show_default="target",
            help="target encodes texts of more than 50 values by their effects on the target, where these predict "
            "better; leave_out makes them no inputs.",
        ),
    ] = None
    keep_rows: Annotated[
        bool | None,
        typer.Option(
            "--keep-rows/--no-keep-rows",
            show_default="keep-rows",
            help="Keep the inputs of 64 training rows in the version: missing values of later rows are drawn of them.",
        ),
    ] = None
    split: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            show_default="random",
            help="How rows are split into folds and held out: random, order, order:COLUMN, or group:COLUMN, which "
            "keeps rows of one value together.",
        ),
    ] = None
    holdout: Annotated[
        float | None, typer.Option(show_default="0", help="Hold out this share of the rows, and measure on them.")
    ] = None
    validation: Annotated[
        int | None, typer.Option(min=2, max=20, help="Measure by cross-validation with this number of folds.")
    ] = None
    seed: Annotated[
        int | None, typer.Option(show_default="0", help="The seed of folds and of the rows that are held out.")
    ] = None
    effort: Annotated[
        Effort | None,
        typer.Option(
            show_default="normal",
            help="normal compares and weighs several models by folds; thorough compares more, in some three times the "
            "time; quick fits one model.",
        ),
    ] = None
    prefer: Annotated[
        Prefer | None,
        typer.Option(
            show_default="accuracy",
            help="small keeps fewer functions, for a score of up to 0.05 nats a row less.",
        ),
    ] = None
    max_score_loss: Annotated[
        float | None,
        typer.Option(
            min=0.0, metavar="NATS", show_default="0.01", help="The score a row that may be lost to fewer functions."
        ),
    ] = None
    local: Annotated[
        Literal["automatic", "none", "neighbours"] | None,
        typer.Option(
            show_default="automatic",
            help="Predict from the nearest training rows: automatic does where it is better, from 5,000 rows on.",
        ),
    ] = None
    budget: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="SECONDS",
            show_default="none",
            help="The most CPU seconds, of the reference core. Alternatives, folds and rows are left out for it, the "
            "same on every machine.",
        ),
    ] = None
    positive_class: Annotated[
        str | None,
        typer.Option(metavar="CLASS", show_default="none", help="The class that counts as positive in evaluations."),
    ] = None
    priority: Annotated[
        int | None,
        typer.Option(min=-100, max=100, show_default="0", help="The priority of the job: higher ones start first."),
    ] = None


@with_options
def train(
    file: Annotated[Path, file_argument("The rows to train on; the suffix gives the format.")],
    *,
    choices: TrainOptions,
    request: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="A JSON file with the API's request; options take precedence over it.",
        ),
    ] = None,
    options: FileOptions,
    wait: Wait = True,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Train a model on FILE and show how good it is.

    Only --target is required: all else has a default.
    """
    document = training_document(choices, request)
    with service(url, creates=True) as client:
        uploaded = options.upload(client, file, prompts=not as_json)
        _run_training(client, uploaded, document, wait=wait, as_json=as_json)


def training_document(choices: TrainOptions, request: Path | None) -> Document:
    """Return the request of the API: that of the file, updated by the options. Raises typer.BadParameter.

    An option whose name is not in `MADE` is the member of that name.
    """
    document = {} if request is None else request_value(request)
    given: dict[str, Json] = {
        **{name: value for name, value in vars(choices).items() if name not in MADE},
        "prior": _named("type", choices.prior),
        "validation": _named("folds", choices.validation),
        "local": _named("type", choices.local),
        "budget": _named("cpu_seconds", choices.budget),
        "basis": basis_value(choices.kernel, choices.width),
        "likelihood": likelihood_value(choices.likelihood, choices.noise_sd, choices.noise_column),
        "split": None if choices.split is None else split_value(choices.split),
    }
    document |= exclude_none(given)
    if "target" not in document and document.get("task") not in WITHOUT_TARGET:
        raise typer.BadParameter("pass the column to predict", param_hint="--target")
    return document


def _named(member: str, value: str | float | None) -> Json:
    """Return an object of one member, None without a value."""
    return None if value is None else {member: value}


def _run_training(
    client: Client, uploaded: UploadedDataset, document: Document, *, wait: bool, as_json: bool
) -> VersionBase | None:
    """Train on a dataset by the request `document`, and return the version, None where it does not `wait`.

    Raises typer.Exit(1) when the job does not succeed. Where the request is refused, a new dataset is deleted.
    """
    dataset = uploaded.dataset
    try:
        job = client.trainings.submit({"dataset_id": dataset.id, **document}, of=Job)
    except ClientError:
        if uploaded.is_new:
            with suppress(ClientError):
                client.delete_dataset(dataset.id)
        raise
    if not wait:
        expected = "" if job.expected_cost is None else f" It takes about {cost_text(job.expected_cost)}."
        print_json(job) if as_json else echo(f"Job {job.id} is {job.state}.{expected} See: relevance jobs {job.id}")
        return None
    watch_job(client.trainings, job, label=dataset.name)
    job = client.trainings.get(job.id, of=Job)
    if job.version is None:
        refuse(in_plain_text(Problem.of_job(job)))
    version = client.version(job.version.model, job.version.version, of=VersionBase)
    print_json(version) if as_json else show_version(version)
    return version


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
        version = _run_training(client, uploaded, training_document(choices, None), wait=True, as_json=as_json)
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


@with_options
def approximate(
    file: Annotated[Path, file_argument("A table with a row for each term.")],
    width: Annotated[
        str,
        typer.Option(
            metavar="NUMBERS",
            help="The width of the terms, r in exp(-|x - z|^2 / r^2): a number, or one for each --input as 0.5,2.",
        ),
    ],
    *,
    coefficients: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            show_default="equal ones, as in a density",
            help="The column of the coefficients of the terms.",
        ),
    ] = None,
    model: ModelName = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="COLUMN",
            show_default="all others",
            help="A column of the centres of the terms. May be repeated.",
        ),
    ] = None,
    constant: Annotated[
        float | None, typer.Option(show_default="0", help="The constant that is added to the terms.")
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(show_default="0.01", help="The largest relative error of the approximation.")
    ] = None,
    max_functions: Annotated[int | None, typer.Option(min=1, help="The largest number of terms to keep.")] = None,
    density: Annotated[
        bool, typer.Option("--density", help="Keep the sum a density: nowhere negative, of the same integral.")
    ] = False,
    options: FileOptions,
    wait: Wait = True,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Approximate a known sum of Gaussians by few of its terms.

    The sum may be a support vector machine, the mean of a Gaussian process or a kernel density estimate.
    """
    request: dict[str, Json] = {
        "task": "approximation",
        "width": widths(width),
        "coefficients": coefficients,
        "model": model,
        "inputs": list[Json](inputs) if inputs else None,
        "constant": constant,
        "tolerance": tolerance,
        "max_functions": max_functions,
        "density": density or None,
    }
    with service(url) as client:
        uploaded = options.upload(client, file, prompts=not as_json)
        _run_training(client, uploaded, exclude_none(request), wait=wait, as_json=as_json)


@with_options
def components(
    file: Annotated[Path, file_argument("A table of usual rows.")],
    *,
    model: ModelName = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="COLUMN", show_default="all", help="An input column. May be repeated."),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            parser=covariance_name,
            metavar="NAME",
            show_default="gaussian",
            help="The kernel, which is a covariance. An unknown name is refused with a list of all.",
        ),
    ] = None,
    width: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            show_default="the median distance of two rows, of standardised inputs",
            help="The kernel's width in the units of the inputs: a number, or one for each --input as 0.5,2.",
        ),
    ] = None,
    standardise: Annotated[
        bool | None,
        typer.Option(
            "--standardise/--raw",
            show_default="standardise without --width, raw with it",
            help="Bring the inputs to mean 0 and standard deviation 1 first, or leave them as they are.",
        ),
    ] = None,
    min_explained_variance: Annotated[
        float | None,
        typer.Option(show_default="0.9", help="The smallest share of the variance that the components explain."),
    ] = None,
    missing: MissingValues = None,
    seed: Annotated[
        int | None, typer.Option(show_default="0", help="The seed of the rows that are drawn where there are many.")
    ] = None,
    options: FileOptions,
    wait: Wait = True,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Learn principal components, to score how new a row is.

    They are kernel principal components of the rows of FILE, carried by few of them. `relevance predict` gives other
    rows their components, the error of their reconstruction, and their novelty, which is near 1 where a row is new.
    """
    request: dict[str, Json] = {
        "task": "components",
        "model": model,
        "inputs": list[Json](inputs) if inputs else None,
        "kernel": None if kernel is None else {"type": kernel},
        "width": None if width is None else widths(width),
        "standardise": standardise,
        "min_explained_variance": min_explained_variance,
        "missing": missing,
        "seed": seed,
    }
    with service(url) as client:
        uploaded = options.upload(client, file, prompts=not as_json)
        _run_training(client, uploaded, exclude_none(request), wait=wait, as_json=as_json)
