"""The result of an image's code: the report for its owner, the predictor, and intensities."""

from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.models import TermsError
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import InputEncoding
from relevance_bayes.tasks.images.code import ImageCode, decode
from relevance_bayes.tasks.images.request import ImagePlan
from relevance_bayes.tasks.prediction import (
    PredictiveModel,
    PredictOptions,
    ValuePrediction,
    VersionExpansion,
    no_expansion,
    refuse_all,
    sound_rows,
)


@dataclass(frozen=True)
class ImageReport:
    """The report of a version, without its arrays.

    `rows` is the number of pixels, `functions` that of the code, its constant included; `error` is the root mean square
    error, `psnr` 20 log10(peak / error) in dB, None without error, and `path` has the lowest error for each number of
    functions. `noise_sd` is the estimated noise.
    """

    plan: ImagePlan
    functions: int
    candidates: int
    rows: int
    error: float
    psnr: float | None
    noise_sd: float
    path: tuple[TermsError, ...]
    termination: str
    dataset_id: UUID
    dataset_digest: str
    seconds: float
    software_version: str
    task: Literal["image"] = "image"

    @property
    def imported(self) -> None:
        """None: images are not imported."""
        return

    @property
    def baseline(self) -> None:
        """None: the rows are pixels, and no sample of what is predicted for."""

    @property
    def diagnostics(self) -> None:
        """None: what is given is approximated, and nothing is predicted for rows that were left out."""

    def with_diagnostics(self, found: Diagnostics | None) -> "ImageReport":
        """Return the report itself."""
        return self


@dataclass(frozen=True, eq=False)
class ImagePredictor:
    """Rows and columns to positions, and the code of the image."""

    encoding: InputEncoding
    code: ImageCode


@dataclass(frozen=True, eq=False)
class ImageModel(PredictiveModel):
    """The code of an image, evaluated at any position or for all pixels."""

    predictor: ImagePredictor
    peak: float

    @property
    def bytes(self) -> int:
        """Return the memory of its arrays in bytes."""
        code = self.predictor.code
        return code.weights.nbytes * 8 + 16 * len(code.path)

    def expansion(self) -> VersionExpansion:
        """Raise ConflictError."""
        raise no_expansion("its functions are wavelets")

    def predict(self, block: Block, options: PredictOptions) -> ValuePrediction:
        """Return intensities, also between pixels; raises InvalidRequestError for options of other tasks."""
        refuse_all(options, "An image")
        inputs, sound, faults = sound_rows(self.predictor.encoding, block)
        value = np.full(len(inputs), np.nan)
        value[sound] = self.predictor.code.at(inputs[sound])
        return ValuePrediction(value, faults)

    def image(self, functions: int | None = None) -> Array:
        """Return all pixels (height, width), of the constant and the functions with the largest weights: as many in all
        as `functions`, by default all."""
        code = self.predictor.code
        if functions is None or functions >= code.functions:
            return decode(code)
        largest = np.argsort(-np.abs(code.weights), kind="stable")[: functions - 1]
        return decode(replace(code, wavelets=code.wavelets.take(largest), weights=code.weights[largest]))
