"""`relevance encode` and `relevance decode`: an image or a signal to few functions, and back."""

from pathlib import Path

import numpy as np
import typer

from relevance_bayes.cli.console import echo, refuse
from relevance_bayes.cli.rendering import print_json
from relevance_bayes.cli.versions import show_version
from relevance_bayes.client import Relevance
from relevance_bayes.client.encodings import EncodeOptions
from relevance_bayes.client.encodings import decode as decoded
from relevance_bayes.client.encodings import encode as encoded
from relevance_bayes.client.responses import ImageVersion

ENDINGS = (".png", ".npy")


def encode(client: Relevance, file: Path, model: str | None, options: EncodeOptions, *, as_json: bool) -> None:
    """Tell a file by few functions, and say what came of it; raises typer.Exit(1) where it can't be read."""
    if file.suffix.lower() not in ENDINGS:
        raise typer.BadParameter(f"{file.name} is neither .png nor .npy", param_hint="FILE")
    try:
        version = encoded(client, file, model=model or file.stem.lower(), options=options)
    except (OSError, ValueError) as unreadable:
        refuse(f"{file}: {unreadable}")
    print_json(version) if as_json else show_version(version)


def decode(client: Relevance, model: str, version: str | None, output: Path) -> None:
    """Write what a code tells to a file."""
    match output.suffix.lower():
        case ".npy":
            np.save(output, decoded(client, model, version))
        case ".png":
            learned = client.version(model, version, of=ImageVersion)
            output.write_bytes(client.image(learned.model, learned.version, media_type="image/png"))
        case _:
            raise typer.BadParameter(f"{output.name} is neither .png nor .npy", param_hint="--output")
    echo(f"Written to {output}.")
