"""Principal components and novelty of rows in a kernel's feature space."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.tables.columns import Block, FlatColumn
from relevance_bayes.tables.encoding import encode_inputs
from relevance_bayes.tasks.components.report import COMPONENTS_REPORTED, ComponentsPredictor
from relevance_bayes.tasks.options import PredictOptions, refuse_all
from relevance_bayes.tasks.prediction import (
    Means,
    Members,
    PredictiveModel,
    RecordClass,
    Rows,
    VersionExpansion,
    no_expansion,
)

ROWS_AT_ONCE = 8192
"""The number of rows of one kernel evaluation, which bounds the memory of a large batch."""


@dataclass(frozen=True, eq=False)
class ComponentsPrediction:
    """The first components (N, Q) of N rows, the residual share (N,) of their variance, and figures by all components.

    `log_density` (N,) is in nats, up to a constant; `novelty` (N,) in [0, 1] is the share of reference rows whose log
    density is higher. A row with a fault is NaN throughout.
    """

    components: Array
    missed: Array
    log_density: Array
    novelty: Array
    faults: tuple[Fault, ...]

    @property
    def rows(self) -> int:
        """The number of rows, N."""
        return len(self.novelty)

    @property
    def support(self) -> None:
        """None: `novelty` takes its place."""
        return None

    @property
    def rows_averaged(self) -> int:
        """Return none: unknown categories are faults."""
        return 0

    @property
    def monitored(self) -> tuple[str, Array]:
        """Return the novelty (N,)."""
        return "novelty", self.novelty

    @property
    def compared(self) -> Means:
        """Raise TypeError: components of two models can't be compared."""
        raise TypeError("expected predictions that can be compared, got components")

    def with_faults(self, faults: tuple[Fault, ...]) -> "ComponentsPrediction":
        """Return the prediction with other faults."""
        return replace(self, faults=faults)

    def some(self, rows: Rows) -> "ComponentsPrediction":
        """Return the prediction of some of the rows."""
        return replace(
            self,
            components=self.components[rows],
            missed=self.missed[rows],
            log_density=self.log_density[rows],
            novelty=self.novelty[rows],
        )

    def columns(self, outputs: Sequence[str]) -> dict[str, FlatColumn]:
        """Return a column for each component and figure."""
        columns: dict[str, FlatColumn] = {}
        for output in outputs:
            if output == "components":
                columns |= {f"component_{place}": one for place, one in enumerate(self.components.T, start=1)}
            else:
                columns[output] = self.figures[output]
        return columns

    @property
    def figures(self) -> dict[str, Array]:
        """Return the outputs (N,) other than the components."""
        return {"reconstruction_error": self.missed, "log_density": self.log_density, "novelty": self.novelty}

    def arrays(self) -> dict[str, Array]:
        """Return the components (N, Q), and figures."""
        return {"components": self.components, **self.figures}

    def members(self, outputs: Sequence[str], functions: Sequence[ListedFunction], record: RecordClass) -> Members:
        """Return the components as lists, and figures."""
        arrays = self.arrays()
        return {output: arrays[output].tolist() for output in outputs}

    def joint_members(self) -> dict[str, object]:
        """Return no members."""
        return {}


@dataclass(frozen=True, eq=False)
class ComponentsModel(PredictiveModel):
    """The components."""

    predictor: ComponentsPredictor

    @property
    def bytes(self) -> int:
        """Return about the memory of its arrays in bytes: the centres, twice, and the axes."""
        found = self.predictor.components
        axes = len(found.rows) * len(found.variances) * found.weights.itemsize
        return 2 * found.centres.nbytes + found.weights.nbytes + axes + self.predictor.log_densities.nbytes

    def expansion(self) -> VersionExpansion:
        """Raise ConflictError."""
        raise no_expansion("it finds components of rows, and predicts no value")

    def predict(self, block: Block, options: PredictOptions) -> ComponentsPrediction:
        """Return the components of rows; raises InvalidRequestError for options that only models with a target have."""
        refuse_all(options, "A model of components", but=("components",))
        inputs, faults = encode_inputs(self.predictor.encoding, block)
        found, usual = self.predictor.components, self.predictor.log_densities
        answered = min(options.components or COMPONENTS_REPORTED, len(found.variances))
        reported = np.full((len(inputs), answered + 3), np.nan)
        sound = np.flatnonzero(np.isfinite(inputs[:, 0]))
        for first in range(0, len(sound), ROWS_AT_ONCE):
            some = sound[first : first + ROWS_AT_ONCE]
            projected = found.project(inputs[some])
            density = found.log_density_at(projected)
            above = len(usual) - np.searchsorted(usual, density, side="right")
            reported[some, :answered] = projected[:, :answered]
            reported[some, answered:] = np.column_stack(
                [found.missed_at(projected[:, :answered]), density, above / len(usual)]
            )
        missed, log_density, novelty = reported[:, answered:].T
        return ComponentsPrediction(reported[:, :answered], missed, log_density, novelty, faults)
