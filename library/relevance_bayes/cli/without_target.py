"""`relevance approximate` and `components`: models that predict no column."""

from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.datasets import FileOptions
from relevance_bayes.cli.options import (
    HERE,
    AsJson,
    MissingValues,
    ModelName,
    Url,
    Wait,
    covariance_name,
    file_argument,
    widths,
    with_options,
)
from relevance_bayes.cli.training import run_training
from relevance_bayes.client.responses import Json
from relevance_bayes.records.json import exclude_none


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
        run_training(client, uploaded, exclude_none(request), wait=wait, as_json=as_json)


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
        run_training(client, uploaded, exclude_none(request), wait=wait, as_json=as_json)
