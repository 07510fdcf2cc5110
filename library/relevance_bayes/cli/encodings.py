"""`relevance encode` and `relevance decode`: an image or a signal to few functions, and back."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from relevance_bayes.cli.connection import service
from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.options import HERE, AsJson, ModelOrAlias, ReadableFile, Url, Version
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.cli.versions import show_version
from relevance_bayes.client import encodings
from relevance_bayes.client.encodings import EncodeOptions
from relevance_bayes.client.responses import ImageVersion

ENDINGS = (".png", ".npy")


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
    output: Annotated[Path, typer.Option(help="Write to a file: .png (of an image), or .npy, which is exact.")],
    *,
    version: Version = None,
    url: Url = HERE,
) -> None:
    """Decode the image or the signal that MODEL encodes."""
    with service(url) as client:
        match output.suffix.lower():
            case ".npy":
                np.save(output, encodings.decode(client, model, version))
            case ".png":
                learned = client.version(model, version, of=ImageVersion)
                output.write_bytes(client.image(learned.model, learned.version, media_type="image/png"))
            case _:
                raise typer.BadParameter(f"{output.name} is neither .png nor .npy", param_hint="--output")
        echo(f"Written to {output}.")
