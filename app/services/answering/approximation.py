"""Values of a function that few terms tell."""

from dataclasses import dataclass

import numpy as np

from app.domain.encoding import encode_inputs
from app.domain.errors import Fault
from app.domain.models import ApproximationPredictor
from app.domain.tables import Block
from app.services.answering.wanted import Wanted, refuse_all
from app.sparse_bayes.types import Array


@dataclass(frozen=True, eq=False)
class ApproximationAnswer:
    """The values (N,) of the function at N rows; a row with a fault is NaN."""

    value: Array
    faults: tuple[Fault, ...]


@dataclass(frozen=True, eq=False)
class ApproximationAnswering:
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

    def answer(self, block: Block, wanted: Wanted) -> ApproximationAnswer:
        """The function's values; raises InvalidRequestError for what only models of data have."""
        refuse_all(wanted, "A function that is known")
        inputs, faults = encode_inputs(self.predictor.encoding, block)
        sound = np.isfinite(inputs[:, 0])
        value = np.full(len(inputs), np.nan)
        value[sound] = self.predictor.expansion(inputs[sound])
        return ApproximationAnswer(value, faults)
