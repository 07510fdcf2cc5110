"""The interfaces of predictive models and of predictions, for all tasks."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeAlias

from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.records.errors import ConflictError, Fault
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.records.values import ColumnKind, Label
from relevance_bayes.tables.columns import Block, FlatColumn, Labels
from relevance_bayes.tasks.labelled import Labelled, ScoredRows
from relevance_bayes.tasks.options import PredictOptions

ADVICE = 'train with "basis": [{"type": "kernel", "warp": "none"}, {"type": "bias"}] on inputs that are numbers'


@dataclass(frozen=True, eq=False)
class VersionExpansion:
    """f(x) = constant + sum_j weights_j exp(-sum_k ((x_k - centres_jk) / widths_jk)^2), over the named `inputs`.

    `centres` and `widths` (J, d), `weights` (J,).
    """

    inputs: tuple[str, ...]
    centres: Array
    widths: Array
    weights: Array
    constant: float


def no_expansion(why: str) -> ConflictError:
    """Return the error of a version that is no sum of Gaussians."""
    return ConflictError(f"The version is no sum of Gaussians of its inputs: {why}; {ADVICE}.")


@dataclass(frozen=True, eq=False)
class AveragedFunction:
    """The average of the learned function over each of G groups of rows: mean and sd (G,), in the user's units.

    It is the average of the predicted mean where `is_mean`, else of the latent function of classes or counts, or of the
    logarithm of the target. Of a pool, the sd is from the joint covariance of its members. It is Gaussian, or Student's
    t of the scale `sd` with `degrees_of_freedom`.
    """

    mean: Array
    sd: Array
    is_mean: bool
    is_pool: bool
    degrees_of_freedom: float | None = None


Rows: TypeAlias = "slice[int, int, None]"


class Record(Protocol):
    """A class of records, which are created from the values of their members in order."""

    def __call__(self, *values: object) -> object:
        """Return a record."""


RecordClass: TypeAlias = Callable[[tuple[str, ...]], Record]
"""Returns a class of records with members of these names."""

Members = dict[str, Sequence[object]]
"""The members of predictions: by name, a value for each row."""


class RowPredictions(Protocol):
    """Predictions for N rows; a row with a fault is NaN throughout."""

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults of rows that could not be predicted."""

    @property
    def rows(self) -> int:
        """The number of rows, N."""

    @property
    def support(self) -> Array | None:
        """The support of each row (N,), in [0, 1]; None where the model does not know it."""

    @property
    def rows_averaged(self) -> int:
        """The number of rows with unknown categories, which are averages over the known ones."""

    @property
    def monitored(self) -> tuple[str, Array]:
        """The output that is monitored for drift: its name, and numbers (N,) or the probabilities (N, K) of classes."""

    def with_faults(self, faults: tuple[Fault, ...]) -> Self:
        """Return the prediction with other faults."""

    def some(self, rows: Rows) -> Self:
        """Return the prediction of some of the rows; joint members and faults are kept."""

    def columns(self, outputs: Sequence[str]) -> dict[str, FlatColumn]:
        """Return the members as flat columns by name, in the order of `outputs`, for formats without nesting."""

    def arrays(self) -> Mapping[str, "Array | Labels | Probabilities"]:
        """Return the members as arrays of numbers (N,) or (N, ...), labels and probabilities, without unknown ones."""

    def members(self, outputs: Sequence[str], functions: Sequence[ListedFunction], record: RecordClass) -> Members:
        """Return the members, nested as in JSON, in the order of `outputs`, and explanations; these refer to
        `functions` (R,). Members of members that have one form are of a class that `record` returns."""

    def joint_members(self) -> Mapping[str, object]:
        """Return the members about all rows together, nested as in JSON."""

    @property
    def compared(self) -> "Means | Probabilities":
        """Return the part that two versions can be compared by; raises TypeError where there is none."""


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
    """The rows of a block with prediction and target, `chosen` (N,) of them, in parts, and counts of the others.

    `places` (n,) are the rows of the parts, in their order. `without_target` rows have no target; `rows_not_predicted`
    have one, but can't be predicted.
    """

    chosen: Mask
    places: Indices
    labelled: tuple[Labelled, ...]
    without_target: int
    not_predicted: int


class PredictiveModel(ABC):
    """A predictor, prepared once for all predictions."""

    @property
    @abstractmethod
    def bytes(self) -> int:
        """Return about the memory of its arrays in bytes."""

    @property
    def noise_column(self) -> str | None:
        """The column that may have the noise sd of each row; None where there is none."""
        return None

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes in their order; empty where numbers are predicted."""
        return ()

    @property
    def encoded_numbers(self) -> tuple[str, ...]:
        """The inputs that are numbers, in the order in which they are encoded; empty where it is of no consequence."""
        return ()

    @property
    def positive_class(self) -> Label | None:
        """The class that counts as positive in evaluations; None where none was named."""
        return None

    @property
    def target(self) -> tuple[str, ColumnKind] | None:
        """The name and the kind of the target's column; None without a target."""
        return None

    @property
    def measured_misses(self) -> tuple[float, ...]:
        """The shares of targets outside 95 % intervals that training measured on rows that it was not fitted to."""
        return ()

    @abstractmethod
    def predict(self, block: Block, options: PredictOptions) -> RowPredictions:
        """Predict a block's N rows; raises InvalidRequestError for options that the model does not have."""

    @abstractmethod
    def expansion(self) -> VersionExpansion:
        """Return the model as a sum of Gaussians of its inputs; raises ConflictError where it is none."""

    def average_function(self, block: Block, groups: int) -> AveragedFunction | None:
        """Return the average of the function over each of `groups` equal groups of a block's consecutive rows; None
        where its uncertainty has no closed form."""
        return None

    def evaluate_block(self, block: Block) -> LabelledBlock | None:
        """Return predictions for a block with the column of the target, and the targets; None without a target."""
        return None

    def score_block(self, block: Block) -> ScoredRows | None:
        """Return the scores of predictions for a block with the column of the target; None without a target."""
        return None
