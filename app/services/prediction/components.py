"""Rows in a kernel's space: their principal components, and how new they are."""

from dataclasses import dataclass

import numpy as np

from app.services.prediction.options import PredictOptions, refuse_all
from relevance_bayes.core.types import Array
from relevance_bayes.documents.models import COMPONENTS_TOLD, ComponentsPredictor
from relevance_bayes.tables.columns import Block
from relevance_bayes.tables.encoding import encode_inputs
from relevance_bayes.types.errors import Fault

ROWS_AT_ONCE = 8192
"""Rows of one evaluation of the kernel: what bounds the memory of a large batch."""


@dataclass(frozen=True, eq=False)
class ComponentsPrediction:
    """The first components (N, Q) of N rows, the share (N,) of their images that these miss, and what goes by all.

    `log_density` (N,) in nats, up to a constant; `novelty` (N,) in [0, 1], the share of the rows told as usual
    whose log density is above it. A row with a fault is NaN throughout.
    """

    components: Array
    missed: Array
    log_density: Array
    novelty: Array
    faults: tuple[Fault, ...]


@dataclass(frozen=True, eq=False)
class ComponentsModel:
    """The components, as they are."""

    predictor: ComponentsPredictor

    @property
    def noise_column(self) -> None:
        """None: what is noise is learned."""
        return None

    @property
    def bytes(self) -> int:
        """About how much memory its arrays take: the centres, once more as the kernel sees them, and their axes."""
        found = self.predictor.components
        axes = len(found.rows) * len(found.variances) * found.weights.itemsize
        return 2 * found.centres.nbytes + found.weights.nbytes + axes + self.predictor.log_densities.nbytes

    def predict(self, block: Block, options: PredictOptions) -> ComponentsPrediction:
        """Where rows lie; raises InvalidRequestError for what only models with a target have."""
        refuse_all(options, "A model of components", but=("components",))
        inputs, faults = encode_inputs(self.predictor.encoding, block)
        found, usual = self.predictor.components, self.predictor.log_densities
        answered = min(options.components or COMPONENTS_TOLD, len(found.variances))
        told = np.full((len(inputs), answered + 3), np.nan)
        sound = np.flatnonzero(np.isfinite(inputs[:, 0]))
        for first in range(0, len(sound), ROWS_AT_ONCE):
            some = sound[first : first + ROWS_AT_ONCE]
            projected = found.project(inputs[some])
            density = found.log_density_at(projected)
            above = len(usual) - np.searchsorted(usual, density, side="right")
            told[some, :answered] = projected[:, :answered]
            told[some, answered:] = np.column_stack(
                [found.missed_at(projected[:, :answered]), density, above / len(usual)]
            )
        missed, log_density, novelty = told[:, answered:].T
        return ComponentsPrediction(told[:, :answered], missed, log_density, novelty, faults)
