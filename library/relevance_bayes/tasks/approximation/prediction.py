"""Values of an approximated function."""

from dataclasses import dataclass

import numpy as np

from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import column_names
from relevance_bayes.tasks.approximation.report import ApproximationPredictor
from relevance_bayes.tasks.options import PredictOptions, refuse_all
from relevance_bayes.tasks.prediction import PredictiveModel, VersionExpansion
from relevance_bayes.tasks.values import ValuePrediction, sound_rows


@dataclass(frozen=True, eq=False)
class ApproximationModel(PredictiveModel):
    """The kept terms."""

    predictor: ApproximationPredictor

    @property
    def bytes(self) -> int:
        """Return the memory of its arrays in bytes."""
        terms = self.predictor.expansion
        return terms.centres.nbytes + terms.coefficients.nbytes + terms.widths.nbytes

    def expansion(self) -> VersionExpansion:
        """Return the terms."""
        terms = self.predictor.expansion
        names = column_names(self.predictor.encoding)
        return VersionExpansion(names, terms.centres, terms.widths, terms.coefficients, terms.constant)

    def predict(self, block: Block, options: PredictOptions) -> ValuePrediction:
        """Return the function's values; raises InvalidRequestError for options that only models of data have."""
        refuse_all(options, "A function that is known")
        inputs, sound, faults = sound_rows(self.predictor.encoding, block)
        value = np.full(len(inputs), np.nan)
        value[sound] = self.predictor.expansion(inputs[sound])
        return ValuePrediction(value, faults)
