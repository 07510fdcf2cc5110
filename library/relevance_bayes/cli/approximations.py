"""`relevance approximate`: few terms that stand for a known sum of Gaussians."""

from typing import Annotated

import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.option_values import widths
from relevance_bayes.cli.options import HERE, AsJson, ReadableFile, Url
from relevance_bayes.cli.training import run_training
from relevance_bayes.client.responses import Json


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
    constant: Annotated[float | None, typer.Option(help="The constant that is added to the terms.")] = None,
    tolerance: Annotated[float | None, typer.Option(help="Largest relative error; 0.01 by default.")] = None,
    max_functions: Annotated[int | None, typer.Option(min=1, help="Keep so many terms at most.")] = None,
    density: Annotated[
        bool, typer.Option("--density", help="Keep it a density: nowhere negative, with the same integral.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the end of the job.")] = True,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Approximate a known sum of Gaussians by few of its terms.

    FILE has a row for each term: a support vector machine, the mean of a Gaussian process, a kernel density estimate.
    """
    given: dict[str, Json] = {
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
    document: dict[str, Json] = {name: value for name, value in given.items() if value is not None}
    with service(url) as client:
        run_training(client, file, document, wait=wait, as_json=as_json)
