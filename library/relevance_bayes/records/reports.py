"""The parts of reports of supervised trainings: hyperparameters, evidence, scores, outliers, baselines."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.records.annotations import OneOf, wire
from relevance_bayes.records.values import CategoryCount, Cell, Label, Period


@dataclass(frozen=True, kw_only=True)
class _HistogramBase:
    """The members of all histograms."""

    __pydantic_config__ = wire()

    name: str
    """The column, or for predictions the output: `mean`, `novelty`, `label`, or `probability_` and the second of two
    classes."""
    missing: int
    """The number of rows without a value."""


@dataclass(frozen=True, kw_only=True)
class NumberHistogram(_HistogramBase):
    """The number of rows between quantiles. Points in time are seconds since 1970 UTC."""

    kind: Literal["number", "timestamp"]
    min: float | None
    """Null where no value is present."""
    max: float | None
    edges: tuple[float, ...]
    """Ascending bounds of the bins: a value is in the first bin whose edge it does not exceed, else in the last."""
    counts: tuple[int, ...]
    """The rows of each bin, one more than edges."""


@dataclass(frozen=True, kw_only=True)
class CategoryHistogram(_HistogramBase):
    """The number of rows with each text, class, or `false` and `true`."""

    kind: Literal["category", "boolean"]
    categories: tuple[CategoryCount, ...]
    """The most frequent first, at most 20."""
    other: int
    """The number of rows with another value."""


Histogram: TypeAlias = Annotated[NumberHistogram | CategoryHistogram, OneOf("kind")]


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """Histograms of training rows, as they were before encoding, and of predictions for them.

    With more than 4,096 training rows, or many columns, they are of a random part.
    """

    __pydantic_config__ = wire()

    rows: int
    """The number of rows in each histogram."""
    inputs: tuple[Histogram, ...]
    """At most 100, in the order of the version's inputs."""
    target: Histogram | None
    """Null where the model has no target."""
    predictions: Histogram


@dataclass(frozen=True, kw_only=True)
class InputCells:
    """The values of an input in the training rows that a version keeps, null where missing.

    Missing values of a row to predict are drawn from these rows. Points in time are texts in ISO 8601.
    """

    __pydantic_config__ = wire()

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class InputWidth:
    """The width of the kernels (the papers' r) in the units of one input."""

    __pydantic_config__ = wire()

    input: str | None
    """The input, `colour=red` for one of its categories; null where all inputs share the width."""
    width: float
    """The greater, the less the input matters; in sds where standardised."""


@dataclass(frozen=True)
class InputWarp:
    """The warp of one input of the kernels: w(x) = (sinh q + sinh a) / (b cosh a), q = b asinh x - a, b = exp(l)."""

    __pydantic_config__ = wire()

    input: str
    skew: float
    """a: above 0, differences count less above the mean than below; 0: no skew."""
    tail: float
    """l: below 0, differences count less far from the mean; 0: no change."""


@dataclass(frozen=True)
class DerivedInput:
    """The inputs derived from a timestamp: a sine and a cosine of its position within each period."""

    __pydantic_config__ = wire()

    column: str
    periods: tuple[Period, ...]
    """Those of which the training rows span at least two: `year`, `week` (the day of the week), `day` (its time)."""


@dataclass(frozen=True)
class CalendarInputs:
    """The comparison of a training with inputs derived from timestamps and without."""

    __pydantic_config__ = wire()

    derived: tuple[DerivedInput, ...]
    selected: bool
    """True where predictions use them."""
    gain: float | None
    """The score over five folds with them less that without, in nats a row, by one model; null where it was not
    measured."""


@dataclass(frozen=True)
class LogarithmicInputs:
    """The comparison of a training with the logarithms of inputs with heavy tails, and with their values."""

    __pydantic_config__ = wire()

    columns: tuple[str, ...]
    selected: bool
    """True where predictions use sign(x) log(1 + |x|/unit) in place of x."""
    gain: float | None
    """The score over three folds by logarithms less that by values, in nats a row, by one model, with at most 3 nats
    of a row; null where the evidence of few rows was not clearly higher."""


@dataclass(frozen=True)
class TextInputs:
    """The comparison of a training with texts of many values, by their effects on the target, and without them."""

    __pydantic_config__ = wire()

    columns: tuple[str, ...]
    selected: bool
    """True where predictions use them; else they are no inputs of the version."""
    gain: float | None
    """The score over three folds with them less that without, in nats a row, by one model, with at most 3 nats of a
    row; null where the evidence of few rows was not clearly higher, or there were no other inputs."""


@dataclass(frozen=True)
class InputTerm:
    """An input with an additive term of its own."""

    __pydantic_config__ = wire()

    input: str
    share: float
    """The term's share of the process's variance, from 0 to 1; the rest is of all other inputs."""


@dataclass(frozen=True, kw_only=True)
class Hyperparameters:
    """Hyperparameters: standard deviations in the user's units, widths and warps of the kernels' inputs."""

    __pydantic_config__ = wire()

    noise_sd: float | None
    """The noise sd, in the target's units; under `log_gaussian` of the target's logarithm: 0.1 is about 10 %; under
    `logit_gaussian` of its logit. Where each row has its own, the root mean square over the training rows, which is the
    default for rows to predict; where it is a function of the inputs, that over the training rows. Null for classes and
    counts."""
    degrees_of_freedom: float | None
    """The degrees of freedom of heavy-tailed noise (`student_t`), learned or given: near 2, outliers are large and
    many; above 30, noise is nearly Gaussian. Under learned Gaussian noise of one size, also of a logarithm or logit,
    those that few rows leave for the noise: predictions are Student's t with so many, of several members all together.
    Null above 400, where they are Gaussian, and under other likelihoods."""
    widths: tuple[InputWidth, ...]
    warps: tuple[InputWarp, ...]
    """Empty where none were learned."""
    terms: tuple[InputTerm, ...]
    """The inputs with a term of their own (`additive`); empty without any."""
    signal_sd: float | None
    """The signal sd of the Gaussian process, which the sd of predictions approaches far from all data. Of the latent
    function for classes and `poisson`, of the target's logarithm under `log_gaussian`, of its logit under
    `logit_gaussian`. Null under independent weights."""
    temperature: float | None = None
    """The temperature of class probabilities, p to the power of 1/temperature and normalised: above 1 they are less
    certain. 1 unless given, or determined by held-out rows. Null for numbers."""
    last_gain: float | None
    """The gain, in nats, of the last function added."""
    next_gain: float | None
    """The gain, in nats, of the best function not added: 0 to 6 mean that there are enough functions, tens that more
    would pay (`max_functions`, `min_gain`)."""


@dataclass(frozen=True)
class Outlier:
    """A training row that heavy-tailed noise accounts for."""

    __pydantic_config__ = wire()

    row: int
    """The row of the dataset, from 0."""
    weight: float
    """Its weight in the fit; of an ordinary row it is about 1."""


@dataclass(frozen=True)
class TrainingWarning:
    """A warning of a training."""

    __pydantic_config__ = wire()

    kind: Literal[
        "outlying_input",
        "duplicates",
        "few_rows",
        "numerical_failure",
        "jitter",
        "clipped_log_density",
        "worse_than_constant",
        "chosen_likelihood",
    ]
    """`outlying_input`: rows with an input far from all others, which are left out, or alone determine predictions
    far out. `duplicates`: rows that repeat others in inputs and target and count once. `few_rows`: a number was learned
    from so few rows for its inputs that intervals can be too narrow. `numerical_failure`: an alternative that could not
    be fitted. `jitter`: a kernel matrix needed a larger diagonal term than usual. `clipped_log_density`: held-out rows
    missed by so much that the score counts them with a bound. `worse_than_constant`: a score below that of one normal
    distribution. `chosen_likelihood`: a likelihood of counts, shares or zeros was taken in place of Gaussian noise."""
    detail: str
    """A sentence that names columns, rows and numbers."""


EvidenceKind: TypeAlias = Literal["exact", "laplace", "lower_bound"]


@dataclass(frozen=True)
class Evidence:
    """The log marginal likelihood in nats, and separately the other terms of the objective."""

    __pydantic_config__ = wire()

    value: float
    """log p(target) of the training rows, in the target's units."""
    kind: EvidenceKind
    """`exact`: Gaussian noise under independent weights, or a whole process. `laplace`: Laplace's approximation.
    `lower_bound`: of a process through few functions, and of likelihoods that are bounded.
    """
    log_hyperprior: float
    """The log density of the hyperparameters under their priors, normalised where these are proper; 0 without any."""
    price: float
    """The price of the selected functions (`price` of the prior), which selection subtracts."""


@dataclass(frozen=True)
class Score:
    """The predictive score on held-out rows, by which models are selected."""

    __pydantic_config__ = wire()

    value: float | None
    """The mean log density of those rows, in nats, the higher the better; null with a reason."""
    standard_error: float | None
    """The standard error of the mean, over the rows; null where it is unknown."""
    rows: int
    """The number of held-out rows."""
    folds: int
    """The number of folds, each held out from one fit."""
    reason: str | None
    """The reason why there is no score, or not of all folds."""

    @classmethod
    def none(cls, reason: str) -> "Score":
        """Return no score, for this reason."""
        return cls(None, None, 0, 0, reason)


@dataclass(frozen=True)
class LocalCandidate:
    """A nearest-neighbour process that was compared with the sparse model."""

    __pydantic_config__ = wire()

    on: Literal["targets", "residuals"]
    """The values that it models: the targets, or the residuals of the sparse model."""
    kernel: str | None
    """The name of its kernel; null where it could not be fitted."""
    score: float | None
    """The mean log density of the held-out rows, in nats."""
    variance_factor: float | None
    """The mean ratio of their squared errors to the predicted variances, by which these are multiplied where the noise
    is learned."""
    reason: str | None
    """The reason why it was not selected, or would not have been by default; null without one."""


@dataclass(frozen=True)
class LocalReport:
    """Nearest-neighbour processes compared with the sparse model on held-out rows."""

    __pydantic_config__ = wire()

    on: Literal["targets", "residuals"] | None
    """The values that the selected process models; null where the sparse model predicts."""
    neighbours: int | None
    """The number of rows that a prediction conditions on; null where the sparse model predicts."""
    rows: int
    """The number of rows in the version to predict from; 0 where the sparse model predicts."""
    bytes: int
    """The size of these rows in the version."""
    rows_apart: int
    """The number of rows held out for the scores; afterwards they are trained on and kept too."""
    sparse_score: float | None
    """The mean log density of these rows, in nats, under the sparse model; null where it was not fitted."""
    linear_score: float | None
    """The same under a linear model; null where no process of the targets was fitted."""
    noise_score: float | None
    """The same under one normal distribution; null where no process of the targets was fitted."""
    candidates: tuple[LocalCandidate, ...]


@dataclass(frozen=True)
class ClassRows:
    """The number of training rows of one class."""

    __pydantic_config__ = wire()

    label: Label
    rows: int


@dataclass(frozen=True)
class BudgetPlan:
    """The plan within a budget of CPU seconds of the reference core."""

    __pydantic_config__ = wire()

    cpu_seconds: float
    """The requested budget."""
    work_units: int
    """The planned work, in thousandths of a second of the reference core."""
    folds: int | None = None
    """The number of folds that the budget leaves; null where it leaves all."""
    rows: int | None = None
    """The number of training rows that the budget leaves, drawn by content; null where it leaves all."""
    omitted: tuple[str, ...] = ()
    """The parts of the training that are left out, in this order; empty without any."""
