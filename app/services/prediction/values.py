"""Values of what is told by few functions: of a known function, and of an image."""

from dataclasses import dataclass

import numpy as np

from app.services.prediction.options import PredictOptions, refuse_all
from relevance_bayes.core.images import decode
from relevance_bayes.core.types import Array, Mask
from relevance_bayes.documents.models import ApproximationPredictor, ImagePredictor
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import InputEncoding, encode_inputs
from relevance_bayes.types.errors import Fault


@dataclass(frozen=True, eq=False)
class ValuePrediction:
    """The values (N,) at N rows; a row with a fault is NaN."""

    value: Array
    faults: tuple[Fault, ...]


@dataclass(frozen=True, eq=False)
class ApproximationModel:
    """The terms kept, as they are."""

    predictor: ApproximationPredictor

    @property
    def noise_column(self) -> None:
        """None: a function has no noise."""
        return None

    @property
    def bytes(self) -> int:
        """How much memory its arrays take."""
        terms = self.predictor.expansion
        return terms.centres.nbytes + terms.coefficients.nbytes + terms.widths.nbytes

    def predict(self, block: Block, options: PredictOptions) -> ValuePrediction:
        """The function's values; raises InvalidRequestError for what only models of data have."""
        refuse_all(options, "A function that is known")
        inputs, sound, faults = _sound(self.predictor.encoding, block)
        value = np.full(len(inputs), np.nan)
        value[sound] = self.predictor.expansion(inputs[sound])
        return ValuePrediction(value, faults)


@dataclass(frozen=True, eq=False)
class ImageModel:
    """The code of an image, at any place or of all pixels."""

    predictor: ImagePredictor
    peak: float

    @property
    def noise_column(self) -> None:
        """None: what is told is the image without its noise."""
        return None

    @property
    def bytes(self) -> int:
        """How much memory its arrays take."""
        code = self.predictor.code
        return code.weights.nbytes * 8 + 16 * len(code.path)

    def predict(self, block: Block, options: PredictOptions) -> ValuePrediction:
        """Intensities, between pixels too; raises InvalidRequestError for what only models of data have."""
        refuse_all(options, "An image")
        inputs, sound, faults = _sound(self.predictor.encoding, block)
        value = np.full(len(inputs), np.nan)
        value[sound] = self.predictor.code.at(inputs[sound])
        return ValuePrediction(value, faults)

    def image(self) -> Array:
        """All pixels (height, width)."""
        return decode(self.predictor.code)


def _sound(encoding: InputEncoding, block: Block) -> tuple[Array, Mask, tuple[Fault, ...]]:
    """The rows as places, which of them can be answered, and why not the others."""
    inputs, faults = encode_inputs(encoding, block)
    return inputs, np.isfinite(inputs[:, 0]), faults
