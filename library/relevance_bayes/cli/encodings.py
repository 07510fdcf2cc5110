"""`relevance encode` and `relevance decode`: an image or a signal as few functions, and back."""

import io
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import STREAM, echo_written, refuse, write_result
from relevance_bayes.cli.options import HERE, AsJson, ModelName, ModelOrAlias, Url, Version, file_argument
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.cli.versions import show_version
from relevance_bayes.client import encodings
from relevance_bayes.client.encodings import EncodeOptions
from relevance_bayes.client.responses import ImageVersion

ENDINGS = (".png", ".npy")


def encode(
    file: Annotated[Path, file_argument("A PNG, or an npy file of one or two dimensions.")],
    *,
    model: ModelName = None,
    max_functions: Annotated[
        int | None, typer.Option(min=1, help="The largest number of functions of an image.")
    ] = None,
    psnr: Annotated[
        float | None, typer.Option(help="The peak signal-to-noise ratio to reach with an image, in dB.")
    ] = None,
    noise_sd: Annotated[
        float | None,
        typer.Option(show_default="learned", help="The standard deviation of the noise, which is not encoded."),
    ] = None,
    as_json: AsJson = False,
    url: Url = HERE,
) -> None:
    """Encode an image or a signal by few functions.

    Without --max-functions and --psnr, the functions are kept whose gain is above the price of their choice; what is
    left is taken for noise.
    """
    with service(url) as client:
        if file.suffix.lower() not in ENDINGS:
            raise typer.BadParameter(f"{file.name} is neither .png nor .npy", param_hint="FILE")
        try:
            options = EncodeOptions(max_functions, psnr, noise_sd)
            version = encodings.encode(client, file, model=model or file.stem.lower(), options=options)
        except (OSError, ValueError) as unreadable:
            refuse(f"{file}: {unreadable}")
        print_json(version) if as_json else show_version(version)


def decode(
    model: ModelOrAlias,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write: .png, or .npy, which is exact; - is standard output, in npy.",
        ),
    ],
    *,
    version: Version = None,
    url: Url = HERE,
) -> None:
    """Decode the image or the signal that MODEL encodes."""
    with service(url) as client:
        match ".npy" if output == STREAM else output.suffix.lower():
            case ".npy":
                array = io.BytesIO()
                np.save(array, encodings.decode(client, model, version))
                write_result(output, array.getvalue(), form="npy", is_text=False)
            case ".png":
                learned = client.version(model, version, of=ImageVersion)
                image = client.image(learned.model, learned.version, media_type="image/png")
                write_result(output, image, form="png", is_text=False)
            case _:
                raise typer.BadParameter(f"{output.name} is neither .png nor .npy", param_hint="--output")
        echo_written(output, f"Written to {output}.")
