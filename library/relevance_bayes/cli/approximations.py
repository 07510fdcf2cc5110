"""`relevance approximate`: an approximation of a known sum of Gaussians by few of its terms."""

from pathlib import Path
from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.file_options import with_options
from relevance_bayes.cli.option_values import widths
from relevance_bayes.cli.options import HERE, AsJson, ModelName, Url, Wait, file_argument
from relevance_bayes.cli.training import run_training
from relevance_bayes.cli.uploads import FileOptions
from relevance_bayes.client.json import exclude_none
from relevance_bayes.client.responses import Json


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
