"""The interfaces of predictive models and of predictions, for all tasks; options, true targets and values."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from relevance_bayes.core.types import Array, Indices, Mask
from relevance_bayes.records.errors import ConflictError, Fault, InvalidRequestError
from relevance_bayes.records.functions import ListedFunction
from relevance_bayes.records.predictions import DecisionOptions, Nulls, UnknownCategories
from relevance_bayes.records.values import ColumnKind, Label
from relevance_bayes.tables.columns import Block, FlatColumn, Labels
from relevance_bayes.tables.encoding import InputEncoding, encode_inputs

ROWS_OF_AVERAGE = 64
"""The most rows that a row with missing values or unknown categories is predicted as: the training rows that a version
keeps, draws of each input, or combinations of categories."""


def cost_in_rows(rows: int, averaged: int) -> int:
    """Return the number of rows that predictions count as, of which some are `averaged` over other rows."""
    return rows + (ROWS_OF_AVERAGE - 1) * averaged


def refuse(faults: Sequence[Fault]) -> None:
    """Raise InvalidRequestError with all faults, if there are any."""
    if faults:
        raise InvalidRequestError(f"At {faults[0].pointer}: {faults[0].detail}", faults)


@dataclass(frozen=True)
class PredictOptions:
    """Options of predictions: the probability of the `interval`, in (0, 1); whether the `covariance` of the rows is
    returned; the number of functions in each explanation, `explain`; the decision rule between classes, `deciding`; the
    number of `components` of a row; and the treatment of `unknown_categories` and of missing values, `nulls`. The rows
    in `unread` have cells that could not be read, which are gaps in the block: they are not averaged over. At most
    `max_averaged` rows are averages, each of which costs up to ROWS_OF_AVERAGE rows; None: any number."""

    interval: float = 0.95
    covariance: bool = False
    explain: int | None = None
    deciding: DecisionOptions | None = None
    components: int | None = None
    unknown_categories: UnknownCategories = "average"
    nulls: Nulls = "average"
    unread: frozenset[int] = frozenset()
    max_averaged: int | None = None

    @cached_property
    def is_usual(self) -> bool:
        """Return whether only the interval is given."""
        return self == PredictOptions(self.interval, max_averaged=self.max_averaged)


def refuse_all(options: PredictOptions, what: str, *, but: Collection[str] = ()) -> None:
    """Raise InvalidRequestError for options that this kind of model does not have, except those in `but`."""
    requested = {
        "covariance": options.covariance,
        "explain": options.explain is not None,
        **dict.fromkeys(() if options.deciding is None else options.deciding.given, True),
        "components": options.components is not None,
    }
    names = [name for name, given in requested.items() if given and name not in but]
    faults = [Fault(f"{what} has no `{name}`.", f"/{name}") for name in names]
    if faults:
        raise InvalidRequestError(faults[0].detail, faults)


COVERAGES = (50, 80, 95)
"""The intervals, in percent, for which coverage and width are reported."""


@dataclass(frozen=True, eq=False)
class LabelledNumbers:
    """N rows with predictions and targets, in the user's units, each (N,).

    `log_density` of the target in nats, -inf where the predicted density is 0. `below` and `upto` are P(y' < y) and
    P(y' <= y) of a new y' under the prediction; they differ only for counts. `lower` and `upper` (3, N) are the ends of
    the intervals of `COVERAGES`.
    """

    target: Array
    mean: Array
    sd: Array
    log_density: Array
    below: Array
    upto: Array
    lower: Array
    upper: Array

    @property
    def error(self) -> Array:
        """target - mean, clipped to the range of float64."""
        largest = np.finfo(np.float64).max
        with np.errstate(over="ignore"):
            return np.clip(self.target - self.mean, -largest, largest)


@dataclass(frozen=True, eq=False)
class LabelledClasses:
    """N rows with predictions and true classes: `probabilities` (N, K) in the order of `classes`.

    `truth` (N,) is the index of each row's class, -1 for a class that the version does not know; `chosen` (N,) that of
    the predicted label.
    """

    classes: tuple[Label, ...]
    truth: Indices
    probabilities: Array
    chosen: Indices

    @property
    def certain(self) -> Array:
        """The one-hot truth (N, K): 1 at the true class, only 0 for an unknown one."""
        return np.equal(self.truth[:, None], np.arange(len(self.classes))).astype(np.float64)


Labelled = LabelledNumbers | LabelledClasses

LEVELS = (50, 80, 95)
"""The intervals, in percent, whose coverage is measured."""

TEMPERED = {"lower": 0.5, "higher": 2.0}
"""The powers of the predicted density that a departure of the log score is tested against: see `tempered_ratio`."""

MAX_LOG_RATIO = 2.0
"""The most evidence of one row: so no outlier raises an alarm alone."""

MARGIN, MARGIN_OF_COUNTS = 1.01, 1.03
"""The factors by which a normaliser is increased, more than the error of its quadrature; over counts it has steps."""


S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class LogScores(Generic[S]):
    """The log score of an outcome, or of several.

    `log_score` is the log density of the outcome in nats, in the user's units, or the log probability of the class; it
    is -inf where the prediction excludes it. `expected_log_score` is its mean under the prediction itself. `lower` and
    `higher` are log likelihood ratios for a log score below and above that mean: see `tempered_ratio`.
    """

    log_score: S
    expected_log_score: S
    lower: S
    higher: S


@dataclass(frozen=True, eq=False)
class ScoredRows(LogScores[Array]):
    """N outcomes under the predictions for their rows, each (N,); rows not `chosen` have no prediction, or no outcome.

    For numbers, `inside` (3, N) is 1 where the interval of `LEVELS` contains the outcome. For classes it is empty,
    (0, N), `correct` is 1 where the most probable class is the outcome, and `confidence` is its probability; NaN for
    numbers. `miss` is the probability of a number outside its 95 % interval, less than 5 % for counts; NaN for classes.
    """

    chosen: Mask
    inside: Array
    correct: Array
    confidence: Array
    miss: Array


def tempered_ratio(
    log_score: Array, log_scores: Array, weights: Array, *, power: float, margin: float = MARGIN
) -> Array:
    """Return log likelihood ratios (N,) of the predicted density p to the power of tau, `power`, against p itself.

    log L = min((tau - 1) (log p(y) - E log p), `MAX_LOG_RATIO`) - log Z, where Z makes E L at most 1 under p. tau < 1
    is a flatter density, under which the log score is lower. `log_scores` (K, N) are log p at K points of each
    prediction, and `weights` (K, N) their probabilities, from which E and Z are computed; points of probability 0 count
    as nothing.
    """
    known = np.where(weights > 0.0, log_scores, 0.0)
    centre = (weights * known).sum(axis=0)
    ratios = np.exp(np.minimum((power - 1.0) * (known - centre), MAX_LOG_RATIO))
    normaliser = np.log(margin * (weights * ratios).sum(axis=0))
    with np.errstate(invalid="ignore"):
        ratio: Array = np.minimum((power - 1.0) * (log_score - centre), MAX_LOG_RATIO) - normaliser
    return ratio


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


OUTPUTS = ("value",)


@dataclass(frozen=True, eq=False)
class ValuePrediction:
    """The values (N,) at N rows; a row with a fault is NaN."""

    value: Array
    faults: tuple[Fault, ...]

    @property
    def rows(self) -> int:
        """The number of rows, N."""
        return len(self.value)

    @property
    def support(self) -> None:
        """None: no rows were learned from."""
        return None

    @property
    def rows_averaged(self) -> int:
        """Return none: unknown categories are faults."""
        return 0

    @property
    def monitored(self) -> tuple[str, Array]:
        """Return the values."""
        return "value", self.value

    @property
    def compared(self) -> Means:
        """Return the values, which have no sd."""
        return Means(self.value, None)

    def with_faults(self, faults: tuple[Fault, ...]) -> "ValuePrediction":
        """Return the prediction with other faults."""
        return ValuePrediction(self.value, faults)

    def some(self, rows: Rows) -> "ValuePrediction":
        """Return the prediction of some of the rows."""
        return ValuePrediction(self.value[rows], self.faults)

    def columns(self, outputs: Sequence[str]) -> dict[str, FlatColumn]:
        """Return the values, whatever the outputs."""
        return {"value": self.value}

    def arrays(self) -> dict[str, Array]:
        """Return the values."""
        return {"value": self.value}

    def members(self, outputs: Sequence[str], functions: Sequence[ListedFunction], record: RecordClass) -> Members:
        """Return the values, whatever the outputs."""
        return {"value": self.value.tolist()}

    def joint_members(self) -> dict[str, object]:
        """Return no members."""
        return {}


def sound_rows(encoding: InputEncoding, block: Block) -> tuple[Array, Mask, tuple[Fault, ...]]:
    """Return the encoded rows, the mask of the valid ones, and the faults of the others."""
    inputs, faults = encode_inputs(encoding, block)
    return inputs, np.isfinite(inputs[:, 0]), faults
