"""The parts of predictions."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from relevance_bayes.records.annotations import wire
from relevance_bayes.records.values import Label

UnknownCategories: TypeAlias = Literal["average", "error"]
"""The treatment of a row with a category that no training row had: predicted as the average over the known categories,
or an error."""


Nulls: TypeAlias = Literal["average", "error"]
"""The treatment of a row with a missing value of an input: predicted as the average over training rows, or an error."""


@dataclass(frozen=True)
class Variance:
    """A prediction's variance and its three parts, in the target's units squared."""

    __pydantic_config__ = wire()

    total: float
    """The sum of the others."""
    noise: float
    """The variance of a new observation about the function. Where the noise of each row is known, the square of the
    row's own sd, or, where the table has no such column, the mean square over the training rows."""
    weights: float
    """The posterior variance of the weights of the functions."""
    residual: float
    """The residual variance: of the Gaussian process that is not explained by the functions, or, under independent
    weights and Gaussian noise, of a further function at the point. It grows with the distance from the data; 0 where
    the model can't determine it."""


@dataclass(frozen=True)
class UnknownCategory:
    """A cell with a category that no training row had: its row is predicted as the average over the known ones."""

    __pydantic_config__ = wire()

    row: int
    """The row of the request, from 0."""
    column: str
    value: str


@dataclass(frozen=True)
class MissingValue:
    """A cell without a value: its row is predicted as the average over values that training rows had."""

    __pydantic_config__ = wire()

    row: int
    """The row of the request, from 0."""
    column: str


@dataclass(frozen=True)
class Contribution:
    """The contribution of one function to a prediction."""

    __pydantic_config__ = wire()

    vector: int
    """Its number in the version's list of relevance vectors, from 1."""
    kind: str
    """The kernel's type, `bias`, or `input` for an input itself."""
    row: int | None
    """The dataset's row at which, or near which, the kernel is centred."""
    input: str | None
    """The input, if the function is one."""
    contribution: float
    """The contribution, in the target's units, or in those of the latent function where these differ (for classes,
    counts, and logarithms). For three and more classes, it is to the latent of the class in `label`. `explanation_sum`
    has the remaining terms."""
    share: float
    """Its magnitude's share of the sum over all functions, from 0 to 1."""


@dataclass(frozen=True)
class ExplanationSum:
    """The terms of a prediction: `baseline`, the contributions in `explanation`, and `others` sum to `mean`."""

    __pydantic_config__ = wire()

    baseline: float
    """The mean without any contribution: the average of the targets. 0 for classes, counts, and where the noise is
    given; of the logarithm under `log_gaussian` and `hurdle`, of the logit under `logit_gaussian`."""
    others: float
    """The sum of the contributions that are not in the `explanation`."""
    mean: float
    """The mean of the latent function: the prediction's `mean` under `gaussian` and `student_t`; of the target's
    logarithm under `log_gaussian` and `hurdle`, of its logit under `logit_gaussian`, of the log rate under `poisson`,
    of the `latent` of classes: where each class has one, that of the class in `label`."""


@dataclass(frozen=True)
class ClassProbability:
    """The probability of a class."""

    __pydantic_config__ = wire()

    label: Label
    probability: float


@dataclass(frozen=True)
class Latent:
    """The latent function's Gaussian, before the sigmoid."""

    __pydantic_config__ = wire()

    mean: float
    variance: float


@dataclass(frozen=True)
class ClassLatent:
    """The Gaussian of one class's latent function; the variance is the same for all, unless each class has a model."""

    __pydantic_config__ = wire()

    label: Label
    mean: float
    variance: float


@dataclass(frozen=True)
class Decision:
    """The decision for a row, from its probabilities and the costs."""

    __pydantic_config__ = wire()

    label: Label | None
    """The class of least expected cost, of equal ones the last in `classes`; null where the expected cost of each
    exceeds `reject_cost`."""
    expected_cost: float
    """The mean of `costs[truth][decision]` under the probabilities of the true class; without a decision, the
    `reject_cost`."""
