"""The interfaces of predictive models and of predictions, for all tasks."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeAlias

from app.tasks.expansion import VersionExpansion
from app.tasks.labelled import Labelled
from app.tasks.options import PredictOptions
from relevance_bayes.core.types import Array, Mask
from relevance_bayes.tables.columns import Block, FlatColumn, Labels
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.functions import ListedFunction
from relevance_bayes.types.values import Label

Rows: TypeAlias = "slice[int, int, None]"

Members = dict[str, Sequence[object]]
"""By name, a value for each row."""


class Prediction(Protocol):
    """Predictions for N rows; a row with a fault is NaN throughout."""

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Return what is wrong with rows that could not be predicted for."""

    @property
    def rows(self) -> int:
        """N."""

    @property
    def support(self) -> Array | None:
        """Of each row (N,), in [0, 1]; None where the model does not know it."""

    def with_faults(self, faults: tuple[Fault, ...]) -> Self:
        """The same with other faults."""

    def some(self, rows: Rows) -> Self:
        """Of some of the rows; what is said of all of them together, covariance and faults, stays."""

    def columns(self, outputs: Sequence[str]) -> dict[str, FlatColumn]:
        """The members as flat columns by name, in the order of `outputs`, for formats without nested members."""

    def arrays(self) -> Mapping[str, "Array | Labels | Probabilities"]:
        """The members as arrays of numbers (N,) or (N, ...), labels and probabilities, without what is not known."""

    def members(self, outputs: Sequence[str], functions: Sequence[ListedFunction]) -> Members:
        """The members, nested as in JSON, in the order of `outputs`, and what explains them; `functions` (R,) are those
        that explanations name."""

    def joint_members(self) -> Mapping[str, object]:
        """Return what is said of all rows together, nested as in JSON."""

    @property
    def compared(self) -> "Means | Probabilities":
        """Return the comparable parts of two versions; raises TypeError where nothing is."""


@dataclass(frozen=True, eq=False)
class Means:
    """A number for each of N rows: `mean` (N,), and `sd` (N,) where it is a distribution."""

    mean: Array
    sd: Array | None


@dataclass(frozen=True, eq=False)
class Probabilities:
    """The probabilities (N, K) of the `classes` for each of N rows."""

    classes: tuple[Label, ...]
    probabilities: Array


@dataclass(frozen=True, eq=False)
class LabelledBlock:
    """Those of a block's rows that can be judged, `chosen` (N,) of them, a piece after the other, and why not others.

    `without_target` lack the truth; `rows_not_predicted` have it, but hold what the version can't predict for.
    """

    chosen: Mask
    labelled: tuple[Labelled, ...]
    without_target: int
    not_predicted: int


class PredictiveModel(ABC):
    """A predictor prepared once for all predictions."""

    @property
    @abstractmethod
    def bytes(self) -> int:
        """About how much memory its arrays take."""

    @property
    def noise_column(self) -> str | None:
        """The column in which rows may bring the sd of their noise; None where there is none."""
        return None

    @property
    def classes(self) -> tuple[Label, ...]:
        """Those that are predicted, in their order; none where numbers are."""
        return ()

    @abstractmethod
    def predict(self, block: Block, options: PredictOptions) -> Prediction:
        """Predict a block's N rows; raises InvalidRequestError for options that there can't be."""

    @abstractmethod
    def expansion(self) -> VersionExpansion:
        """It as a sum of Gaussians of its inputs; raises ConflictError, saying why there is none."""

    def evaluate_block(self, block: Block) -> LabelledBlock | None:
        """Predictions for a block that has the column of the target, beside that; None without a target."""
        return None
