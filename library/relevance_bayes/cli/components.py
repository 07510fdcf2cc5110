"""`relevance components`: kernel principal components of rows."""

from typing import Annotated

import typer

from relevance_bayes.cli import option_values
from relevance_bayes.cli.connection import service
from relevance_bayes.cli.option_values import widths
from relevance_bayes.cli.options import HERE, AsJson, Missing, ReadableFile, Url
from relevance_bayes.cli.training import run_training
from relevance_bayes.client.responses import Json


def components(
    file: ReadableFile,
    *,
    model: Annotated[str | None, typer.Option(help="Name of the model; by default the file's.")] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="An input column; repeat for more. By default all.")
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            parser=option_values.covariance,
            metavar="NAME",
            help="The kernel; gaussian by default.",
        ),
    ] = None,
    width: Annotated[
        str | None,
        typer.Option(
            help="The kernel's width, in the inputs' own units: a number, or one for each --input as 0.5,2. By "
            "default the inputs are standardised, and it is the median distance between two rows."
        ),
    ] = None,
    standardise: Annotated[
        bool | None,
        typer.Option(
            "--standardise/--raw", help="Bring inputs to mean 0 and sd 1 first, or don't: by default without a --width."
        ),
    ] = None,
    min_explained_variance: Annotated[
        float | None, typer.Option(help="Smallest share of the variance that components explain; 0.9 by default.")
    ] = None,
    missing: Annotated[Missing | None, typer.Option(help="How missing values are treated; error by default.")] = None,
    seed: Annotated[int | None, typer.Option(help="Decides which rows are drawn where there are many.")] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the end of the job.")] = True,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Learn kernel principal components of rows, to score how new a row is.

    FILE has usual rows: few of them are kept, which carry the principal components of all. What `relevance predict`
    then says of other rows has their components, what these miss, and their novelty, near 1 where a row is new.
    """
    given: dict[str, Json] = {
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
    document: dict[str, Json] = {name: value for name, value in given.items() if value is not None}
    with service(url) as client:
        run_training(client, file, document, wait=wait, as_json=as_json)
