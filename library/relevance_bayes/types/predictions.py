"""The parts of predictions."""

from dataclasses import dataclass

from relevance_bayes.types.json_schema import wire
from relevance_bayes.types.values import Label


@dataclass(frozen=True)
class Variance:
    """A prediction's variance and its three parts, in the target's units squared."""

    __pydantic_config__ = wire()

    total: float
    """The sum of the others."""
    noise: float
    """The variance of a new observation about the function. Where the noise of each row is known, the square of the
    row's own, or, where the table has no such column, the mean square of the rows learned from.
    """
    weights: float
    """The variance of the weights of the functions in the model."""
    residual: float
    """The residual beyond these functions: of the Gaussian process that they are part of, or, under independent weights
    and Gaussian noise, of a further function at the point. It grows with the distance from the data; 0 where the model
    can't tell.
    """


@dataclass(frozen=True)
class Contribution:
    """The contribution of one function to a prediction."""

    __pydantic_config__ = wire()

    vector: int
    """Its number in the version's list of relevance vectors, from 1."""
    kind: str
    """The kernel's type, `bias`, or `input` for an input itself."""
    row: int | None
    """The row of the dataset that the kernel stands on, or next to."""
    input: str | None
    """The input that it is."""
    contribution: float
    """The contribution: in the target's units, or in those of the latent function where that is another (of classes,
    counts, and logarithms). Of three and more classes, the latent is that of the class answered as `label`.
    `explanation_sum` has what is added besides.
    """
    share: float
    """Its size's share of the sum of all functions' sizes, from 0 to 1."""


@dataclass(frozen=True)
class ExplanationSum:
    """The sum that makes a prediction: `baseline`, all contributions of its `explanation`, and `others` are `mean`."""

    __pydantic_config__ = wire()

    baseline: float
    """The mean where all functions add nothing: the average that targets are measured from. 0 for classes, counts, and
    where the noise is given; of the logarithm under `log_gaussian`.
    """
    others: float
    """The sum of the contributions of all functions that the `explanation` does not list."""
    mean: float
    """The mean of the function that is learned: the prediction's `mean` under `gaussian` and `student_t`; of the
    target's logarithm under `log_gaussian`, of the log rate under `poisson`, of the `latent` of classes, where each
    class has one that of the class answered as `label`.
    """


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
    """The Gaussian of one class's latent function; all share the variance, but with a model for each class."""

    __pydantic_config__ = wire()

    label: Label
    mean: float
    variance: float


@dataclass(frozen=True)
class Decision:
    """The decision for a row, by its probabilities and what decisions cost."""

    __pydantic_config__ = wire()

    label: Label | None
    """The class of least expected cost, of equal ones the last in `classes`; null where each is expected to cost more
    than `reject_cost`.
    """
    expected_cost: float
    """The mean of `costs[truth][decision]` over how probable each truth is; of a row that is left undecided, the
    `reject_cost`.
    """
