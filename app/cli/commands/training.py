"""What trains: from a file to a version."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from app.cli.commands.options import HERE, AsJson, ReadableFile, Url


class Task(StrEnum):
    """What to learn."""

    REGRESSION = "regression"
    CLASSIFICATION = "classification"


class Kernel(StrEnum):
    """The shape of the functions."""

    GAUSSIAN = "gaussian"
    MATERN_3_2 = "matern_3_2"
    MATERN_5_2 = "matern_5_2"
    LAPLACIAN = "laplacian"
    CAUCHY = "cauchy"
    RATIONAL_QUADRATIC = "rational_quadratic"
    LINEAR = "linear"
    POLYNOMIAL = "polynomial"
    LINEAR_SPLINE = "linear_spline"
    CUBIC = "cubic"
    THIN_PLATE = "thin_plate"
    SIGMOID = "sigmoid"


class Likelihood(StrEnum):
    """How targets scatter."""

    GAUSSIAN = "gaussian"
    STUDENT_T = "student_t"
    LOG_GAUSSIAN = "log_gaussian"
    POISSON = "poisson"
    BERNOULLI = "bernoulli"
    CATEGORICAL = "categorical"
    ONE_AGAINST_REST = "one_against_rest"


class Prior(StrEnum):
    """What is known of the functions' weights beforehand."""

    AUTOMATIC = "automatic"
    INDEPENDENT = "independent"
    GAUSSIAN_PROCESS = "gaussian_process"


class Missing(StrEnum):
    """What to do about gaps."""

    REFUSE = "refuse"
    DROP_ROWS = "drop_rows"
    INDICATOR = "indicator"


def train(
    file: ReadableFile,
    target: Annotated[str | None, typer.Option(help="The column to learn.")] = None,
    *,
    model: Annotated[str | None, typer.Option(help="Name of the model; by default the file's.")] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="A column to learn from; repeat for more.")
    ] = None,
    task: Annotated[Task | None, typer.Option(help="Found out from the target where not given.")] = None,
    likelihood: Annotated[
        Likelihood | None,
        typer.Option(
            help="How the target scatters: gaussian by default; student_t with outliers, log_gaussian for positive "
            "numbers, poisson for counts; bernoulli for two classes, categorical for more, one_against_rest for many."
        ),
    ] = None,
    prior: Annotated[
        Prior | None,
        typer.Option(
            help="Of the weights. By default automatic: a Gaussian process, or independent if that is better."
        ),
    ] = None,
    kernel: Annotated[Kernel | None, typer.Option(help="Gaussian by default.")] = None,
    width: Annotated[
        str | None,
        typer.Option(
            help="A number, or one for each --input as 0.5,2,1 (raw inputs then), evidence_per_input (the default, but "
            "not with --prior independent), evidence, or cross_validation (the default there)."
        ),
    ] = None,
    noise_sd: Annotated[float | None, typer.Option(help="Known noise, in the target's units; else learned.")] = None,
    noise_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column of each row's known noise sd, in the target's units."),
    ] = None,
    missing: Annotated[Missing | None, typer.Option(help="What to do about gaps; refuse by default.")] = None,
    split: Annotated[
        str | None, typer.Option(help="random (the default), order, order:COLUMN, or column:COLUMN for groups.")
    ] = None,
    holdout: Annotated[float | None, typer.Option(help="Share of rows only measured on.")] = None,
    validation: Annotated[
        int | None, typer.Option(min=2, max=20, help="Train again without each of so many folds, to measure on it.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Decides folds and the rows held out.")] = None,
    priority: Annotated[
        int | None, typer.Option(min=-100, max=100, help="Begin sooner than your jobs of less; 0 by default.")
    ] = None,
    request: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A JSON file with any request; options win over it."),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Stay until it has ended.")] = True,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Train on FILE, and say what was learned.

    FILE is CSV, Parquet or JSON, told apart by its name. Everything but --target has a good default.
    """
    from app.cli.connection import service
    from app.cli.training import Choices, spelled_out, train

    choices = Choices(
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
        priority=priority,
    )
    document = spelled_out(choices, request)
    with service(url) as client:
        train(client, file, document, wait=wait, as_json=as_json)


def approximate(
    file: ReadableFile,
    width: Annotated[
        str, typer.Option(help="Of the terms, r in exp(-|x - z|^2 / r^2): a number, or one for each --input as 0.5,2.")
    ],
    *,
    coefficients: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column of the coefficients; without it, a density's rows.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Name of the model; by default the file's.")] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="A column that says where terms stand; repeat for more.")
    ] = None,
    constant: Annotated[float | None, typer.Option(help="What the function has beside its terms.")] = None,
    tolerance: Annotated[float | None, typer.Option(help="Share of it that may be missed; 0.01 by default.")] = None,
    most: Annotated[int | None, typer.Option(min=1, help="Keep so many terms at most.")] = None,
    density: Annotated[bool, typer.Option("--density", help="Keep it a density: none below 0, its integral.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Stay until it has ended.")] = True,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Tell a known sum of Gaussians by few of its terms.

    FILE has a row for each term: a support vector machine, the mean of a Gaussian process, a kernel density estimate.
    """
    from app.cli.connection import service
    from app.cli.training import spelled_out_terms, train

    document = spelled_out_terms(
        width,
        coefficients=coefficients,
        model=model,
        inputs=inputs or None,
        constant=constant,
        tolerance=tolerance,
        most=most,
        density=density,
    )
    with service(url) as client:
        train(client, file, document, wait=wait, as_json=as_json)


def encode(
    file: ReadableFile,
    *,
    model: Annotated[str | None, typer.Option(help="Name of the model; by default the file's.")] = None,
    functions: Annotated[int | None, typer.Option(min=1, help="Of an image: keep so many at most.")] = None,
    psnr: Annotated[
        float | None, typer.Option(help="Of an image: the peak signal-to-noise ratio to reach, in dB.")
    ] = None,
    noise_sd: Annotated[float | None, typer.Option(help="Known noise, which is left out; else learned.")] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Tell an image or a signal by few functions.

    FILE is a PNG, or an npy file of one dimension or two. Where neither a number nor a ratio is given, functions are
    kept that earn the price of their choice, and what is left is taken for noise.
    """
    from app.cli.coding import encode
    from app.cli.connection import service
    from app.client.codes import Wanted

    with service(url) as client:
        encode(client, file, model, Wanted(functions, psnr, noise_sd), as_json=as_json)
