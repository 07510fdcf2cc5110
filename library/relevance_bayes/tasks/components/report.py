"""The result of components: the report for its owner, the predictor, and the novelty of rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from uuid import UUID

import numpy as np

from relevance_bayes.core.types import Array
from relevance_bayes.records.annotations import is_none
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.records.reports import Baseline, InputWidth
from relevance_bayes.records.versions import ImportedFrom, OtherMembers
from relevance_bayes.tables.columns import Block, FlatColumn
from relevance_bayes.tables.encoding import InputEncoding, encode_inputs
from relevance_bayes.tasks.components.request import ComponentsPlan
from relevance_bayes.tasks.components.space import Components
from relevance_bayes.tasks.prediction import (
    Means,
    Members,
    PredictiveModel,
    PredictOptions,
    RecordClass,
    Rows,
    VersionExpansion,
    no_expansion,
    refuse_all,
)

COMPONENTS_REPORTED = 10
"""The default number of components in a prediction."""


@dataclass(frozen=True)
class ComponentsReport:
    """The report of a version, without its arrays.

    `rows` are those that novelty is measured against, of which `rows_drawn` were trained on; `functions` is the number
    of rows that carry the components. `reached` is the share of all rows' images explained by the components,
    `variances` are theirs in feature space, descending, and `noise_variance` is the residual variance.
    `log_marginal_likelihood` is relative to that of noise only. `widths` are those in encoded inputs. `imported` is
    None for a version trained here; else all other members are those of the original. `baseline` has the histograms of
    the training rows and of their novelty.
    """

    plan: ComponentsPlan
    functions: int
    rows: int
    rows_drawn: int
    rows_dropped: int
    widths: tuple[InputWidth, ...]
    explained_variance: float
    noise_variance: float
    variances: tuple[float, ...]
    log_marginal_likelihood: float
    dataset_id: UUID
    dataset_digest: str
    seconds: float
    software_version: str
    task: Literal["components"] = "components"
    imported: ImportedFrom | None = None
    others: OtherMembers | None = field(default=None, metadata={"exclude_if": is_none})
    baseline: Baseline | None = None

    @property
    def diagnostics(self) -> None:
        """None: there is no target."""

    def with_diagnostics(self, found: Diagnostics | None) -> "ComponentsReport":
        """Return the report itself."""
        return self


@dataclass(frozen=True, eq=False)
class ComponentsPredictor:
    """Raw columns to x, the components, and the log densities of rows like the training rows, ascending."""

    encoding: InputEncoding
    components: Components
    log_densities: Array


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
