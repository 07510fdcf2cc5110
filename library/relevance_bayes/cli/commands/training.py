"""Commands that train: from a file to a version."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli import completion
from relevance_bayes.cli.commands.options import HERE, AsJson, ReadableFile, Url


class Task(StrEnum):
    """The task."""

    REGRESSION = "regression"
    CLASSIFICATION = "classification"


class Prior(StrEnum):
    """The prior of the functions' weights."""

    AUTOMATIC = "automatic"
    INDEPENDENT = "independent"
    GAUSSIAN_PROCESS = "gaussian_process"


class Missing(StrEnum):
    """The treatment of missing values."""

    ERROR = "error"
    DROP_ROWS = "drop_rows"
    INDICATOR = "indicator"


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
            parser=completion.likelihood,
            autocompletion=completion.likelihoods,
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
            parser=completion.kernel,
            autocompletion=completion.kernels,
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
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.training import TrainOptions, train, training_document

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
        train(client, file, document, wait=wait, as_json=as_json)
