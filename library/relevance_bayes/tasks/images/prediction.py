"""Intensities of an image."""

from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.images.code import decode
from relevance_bayes.tasks.images.report import ImagePredictor
from relevance_bayes.tasks.options import PredictOptions, refuse_all
from relevance_bayes.tasks.prediction import PredictiveModel, VersionExpansion, no_expansion
from relevance_bayes.tasks.values import ValuePrediction, sound_rows


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
