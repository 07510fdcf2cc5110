"""The parts of reports of supervised trainings: hyperparameters, evidence, scores, and rows that stood out."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.types.json_schema import wire
from relevance_bayes.types.values import Label


@dataclass(frozen=True)
class InputWidth:
    """The width of the kernels (the papers' r) in the units of one input as they see it."""

    __pydantic_config__ = wire()

    input: str | None
    """The input, `colour=red` for one of its categories; null where all inputs share the width."""
    width: float
    """The greater it is, the less the input matters; in sds where standardised."""


@dataclass(frozen=True)
class InputWarp:
    """The warp of one input of the kernels: w(x) = (sinh q + sinh a) / (b cosh a), q = b asinh x - a, b = exp(l)."""

    __pydantic_config__ = wire()

    input: str
    skew: float
    """a: above 0, differences count less above the mean than below; 0: straight."""
    tail: float
    """l: below 0, differences count less far from the mean; 0: straight."""


@dataclass(frozen=True)
class InputTerm:
    """An input whose effect adds to that of all others, whatever they are: a term of its own."""

    __pydantic_config__ = wire()

    input: str
    share: float
    """Of the process's variance, from 0 to 1: what is left belongs to all others."""


@dataclass(frozen=True, kw_only=True)
class Hyperparameters:
    """Hyperparameters: standard deviations in the user's units, widths and warps of the kernels' inputs."""

    __pydantic_config__ = wire()

    noise_sd: float | None
    """Of the noise, in the target's units; under `log_gaussian` of the target's logarithm: .1 is about 10 %. Where
    each row has its own, the root mean square over the rows learned from, which stands for the noise of rows to
    predict that bring none; where it is a function of the inputs, that over the rows learned from. Null for classes
    and counts.
    """
    degrees_of_freedom: float | None
    """Of noise with heavy tails (`student_t`), learned or given: near 2, outliers are wild and many; above 30,
    noise is as good as Gaussian. Null under other likelihoods.
    """
    widths: tuple[InputWidth, ...]
    warps: tuple[InputWarp, ...]
    """Empty where none were learned."""
    terms: tuple[InputTerm, ...]
    """The inputs that were found apart from the others (`additive`); empty where none was."""
    signal_sd: float | None
    """Of the Gaussian process: how wide predictions grow far from all data. Of the latent function for classes and
    `poisson`, of the target's logarithm under `log_gaussian`. Null under independent weights.
    """
    temperature: float | None = None
    """Of the probabilities of classes, p to the power of 1/temperature and normalised: above 1 they are less
    certain than what was learned says. 1 unless it was given, or rows that were not learned from decided it. Null
    for numbers, and for versions that are older than this.
    """
    last_gain: float | None
    """The nats that the last function brought that entered."""
    next_gain: float | None
    """The nats that the best function left out would have brought: 0 to 6 say that there are enough, tens say that
    more would pay (`max_functions`, `min_gain`).
    """


@dataclass(frozen=True)
class Outlier:
    """A row learned from that noise with heavy tails accounts for."""

    __pydantic_config__ = wire()

    row: int
    """The row of the dataset, from 0."""
    weight: float
    """Its weight in the fit beside an ordinary row, for which this is about 1."""


@dataclass(frozen=True)
class TrainingWarning:
    """A warning of a training."""

    __pydantic_config__ = wire()

    kind: Literal["outlying_input", "duplicates", "numerical_failure", "jitter"]
    """`outlying_input`: rows left out because an input lies far from all others. `duplicates`: rows that repeat
    others in inputs and target and count once. `numerical_failure`: an alternative that could not be fitted.
    `jitter`: more than the usual was added to a kernel matrix, to be computed with.
    """
    detail: str
    """A sentence that names columns, rows and numbers."""


@dataclass(frozen=True)
class Evidence:
    """The log marginal likelihood in nats, and apart from it what else the fit weighed: no figure is in another."""

    __pydantic_config__ = wire()

    value: float
    """log p(target) of the rows learned from, in the target's units."""
    kind: Literal["exact", "laplace", "lower_bound"]
    """`exact`: Gaussian noise under independent weights, or a whole process. `laplace`: Laplace's approximation.
    `lower_bound`: of a process through few functions, and of likelihoods that are bounded.
    """
    log_hyperprior: float | None
    """The log density of the hyperparameters under their priors, normalised where these are proper; 0 without any,
    null in versions that are older than this.
    """
    price: float
    """The price of the selected functions (`price` of the prior), which selection takes off."""


@dataclass(frozen=True)
class Score:
    """The predictive score of rows by what was learned without them: the figure by which models are chosen."""

    __pydantic_config__ = wire()

    value: float | None
    """The mean log density of those rows, in nats, the more the better; null with a reason."""
    standard_error: float | None
    """Of the mean, over the rows; null where it is not known."""
    rows: int
    """Rows that were measured."""
    folds: int
    """Trainings without some rows, which were measured then."""
    reason: str | None
    """Why there is no score, or why not all folds were measured."""


@dataclass(frozen=True)
class LocalCandidate:
    """A nearest-neighbour process that was compared with the sparse model."""

    __pydantic_config__ = wire()

    on: Literal["targets", "residuals"]
    """The quantity that it is a process of: the targets, or the residuals of the sparse model."""
    kernel: str | None
    """The name of its kernel; null where it could not be computed."""
    score: float | None
    """The mean log density of the rows kept apart, in nats."""
    variance_factor: float | None
    """The mean ratio of their squared errors to the variances predicted, by which these are multiplied where the noise
    is learned.
    """
    reason: str | None
    """Why it was not taken, or would not have been had it not been requested; null where nothing speaks against it."""


@dataclass(frozen=True)
class LocalReport:
    """Nearest-neighbour processes compared with the sparse model on rows that neither was learned from."""

    __pydantic_config__ = wire()

    on: Literal["targets", "residuals"] | None
    """The quantity that the process is of which predicts; null where the sparse model predicts."""
    neighbours: int | None
    """Rows that a prediction conditions on; null where the sparse model predicts."""
    rows: int
    """Rows that the version keeps to predict from; 0 where the sparse model predicts."""
    bytes: int
    """The size of these rows in the version."""
    rows_apart: int
    """Rows that the score is measured on; after that they are learned from and kept too."""
    sparse_score: float | None
    """The mean log density of these rows, in nats, by the sparse model; null where it was not fitted."""
    linear_score: float | None
    """The same by a linear model; null where no process of the targets was learned."""
    noise_score: float | None
    """The same by one normal distribution; null where no process of the targets was learned."""
    candidates: tuple[LocalCandidate, ...]


@dataclass(frozen=True)
class ClassRows:
    """The number of training rows of one class."""

    __pydantic_config__ = wire()

    label: Label
    rows: int
