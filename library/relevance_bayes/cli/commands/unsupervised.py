"""Commands that learn without a target: approximations, components, codes of images and signals."""

from typing import Annotated

import typer

from relevance_bayes.cli import completion
from relevance_bayes.cli.commands.options import HERE, AsJson, ReadableFile, Url
from relevance_bayes.cli.commands.training import Missing


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
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.training import train
    from relevance_bayes.cli.unsupervised import approximation_document

    document = approximation_document(
        width,
        coefficients=coefficients,
        model=model,
        inputs=inputs or None,
        constant=constant,
        tolerance=tolerance,
        max_functions=max_functions,
        density=density,
    )
    with service(url) as client:
        train(client, file, document, wait=wait, as_json=as_json)


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
            parser=completion.covariance,
            autocompletion=completion.covariances,
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
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.training import train
    from relevance_bayes.cli.unsupervised import components_document

    document = components_document(
        model=model,
        inputs=inputs or None,
        kernel=kernel,
        width=width,
        standardise=standardise,
        min_explained_variance=min_explained_variance,
        missing=missing,
        seed=seed,
    )
    with service(url) as client:
        train(client, file, document, wait=wait, as_json=as_json)


def encode(
    file: ReadableFile,
    *,
    model: Annotated[str | None, typer.Option(help="Name of the model; by default the file's.")] = None,
    max_functions: Annotated[int | None, typer.Option(min=1, help="Of an image: keep so many at most.")] = None,
    psnr: Annotated[
        float | None, typer.Option(help="Of an image: the peak signal-to-noise ratio to reach, in dB.")
    ] = None,
    noise_sd: Annotated[float | None, typer.Option(help="Known noise, which is left out; else learned.")] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Encode an image or a signal by few functions.

    FILE is a PNG, or an npy file of one dimension or two. Where neither a number nor a ratio is given, functions are
    kept that earn the price of their choice, and what is left is taken for noise.
    """
    from relevance_bayes.cli.connection import service
    from relevance_bayes.cli.encoding import encode
    from relevance_bayes.client.encodings import EncodeOptions

    with service(url) as client:
        encode(client, file, model, EncodeOptions(max_functions, psnr, noise_sd), as_json=as_json)
