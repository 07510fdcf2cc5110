"""Signals and images as codes of few functions, and back."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from relevance_bayes.client.connection import Client
from relevance_bayes.client.errors import ClientError, Problem
from relevance_bayes.client.gaussian_expansion import Array
from relevance_bayes.client.responses import (
    ImageJob,
    ImageVersion,
    Job,
    Json,
    SupervisedJob,
    SupervisedVersion,
    VersionBase,
)
from relevance_bayes.records.json import exclude_none

PLACE, VALUE = "place", "value"
"""The columns of a signal: position, from 0, and value."""

FUNCTIONS: Sequence[Json] = ({"type": "steps"}, {"type": "b_splines"}, {"type": "gabor"}, {"type": "bias"})
"""The default dictionaries of a signal: steps, splines, waves."""

VALUES_AT_ONCE = 10_000


@dataclass(frozen=True)
class EncodeOptions:
    """Stopping criteria of a code: `max_functions` and `psnr` (dB) of an image; its `noise_sd`, if known.

    `basis` are the functions of a signal, as in the API.
    """

    max_functions: int | None = None
    psnr: float | None = None
    noise_sd: float | None = None
    basis: Json = None


BY_EVIDENCE = EncodeOptions()


def encode(
    client: Client, source: Path | Array, *, model: str, options: EncodeOptions = BY_EVIDENCE
) -> ImageVersion | SupervisedVersion:
    """Encode a PNG or npy file, or an array, by few functions: (N,) is a signal, (height, width) an image.

    Waits for the result. Raises ClientError where the service refuses or fails, OSError and ValueError where a file
    can't be read.
    """
    if isinstance(source, Path) and source.suffix.lower() == ".png":
        return _image(client, source, model, options)
    values = np.asarray(np.load(source, allow_pickle=False) if isinstance(source, Path) else source, np.float64)
    if values.ndim == 1:
        return _signal(client, values, model, options)
    with TemporaryDirectory() as directory:
        path = Path(directory) / f"{model}.npy"
        np.save(path, values)
        return _image(client, path, model, options)


def decode(client: Client, model: str, version: int | str | None = None) -> Array:
    """Return the values of a code: all (N,) of a signal, or all pixels (height, width). Raises ClientError."""
    learned = client.version(model, version, of=VersionBase)
    if isinstance(learned, ImageVersion):
        return np.asarray(
            np.load(io.BytesIO(client.image(learned.model, learned.version)), allow_pickle=False), np.float64
        )
    if not isinstance(learned, SupervisedVersion) or [column.name for column in learned.inputs] != [PLACE]:
        raise ClientError(Problem(title="No code", detail=f"Expected a model of a signal or an image, got {model}."))
    found: list[float | None] = []
    for first in range(0, learned.rows, VALUES_AT_ONCE):
        places: list[Json] = [float(place) for place in range(first, min(first + VALUES_AT_ONCE, learned.rows))]
        responses = client.predict(learned.model, {"columns": {PLACE: places}}, version=learned.version).predictions
        found += [response.mean for response in responses]
    return np.array(found, np.float64)


def _image(client: Client, file: Path, model: str, options: EncodeOptions) -> ImageVersion:
    if options.basis is not None:
        raise _refused("Expected no functions for an image, which is encoded by wavelets.")
    dataset = client.upload(file, name=model)
    request: dict[str, Json] = {
        "task": "image",
        "dataset_id": dataset.id,
        "model": model,
        "max_functions": options.max_functions,
        "psnr": options.psnr,
        "noise_sd": options.noise_sd,
    }
    job = client.trainings.wait(client.trainings.submit(exclude_none(request), of=ImageJob).id, of=ImageJob)
    return client.version(model, _number(job), of=ImageVersion)


def _signal(client: Client, values: Array, model: str, options: EncodeOptions) -> SupervisedVersion:
    if options.max_functions is not None or options.psnr is not None:
        raise _refused("Expected no stopping criteria for a signal, only its noise_sd; evidence selects the functions.")
    places: list[Json] = [float(place) for place in range(len(values))]
    dataset = client.create_dataset({PLACE: places, VALUE: list[Json](values.tolist())}, name=model)
    request: dict[str, Json] = {
        "dataset_id": dataset.id,
        "target": VALUE,
        "inputs": [PLACE],
        "task": "regression",
        "model": model,
        "standardise": False,
        "basis": list(FUNCTIONS) if options.basis is None else options.basis,
    }
    if options.noise_sd is not None:
        request["likelihood"] = {"type": "gaussian", "noise_sd": options.noise_sd}
    job = client.trainings.wait(client.trainings.submit(request).id, of=SupervisedJob)
    return client.version(model, _number(job))


def _number(job: Job) -> int:
    if job.version is None:
        raise ClientError(Problem.of_job(job))
    return job.version.version


def _refused(detail: str) -> ClientError:
    return ClientError(Problem(title="Not possible", detail=detail))
