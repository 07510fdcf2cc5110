"""Requests for predictions, and the parts of predictions."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from relevance_bayes.records.annotations import wire
from relevance_bayes.records.values import Cell, Label

UnknownCategories: TypeAlias = Literal["average", "error"]
"""The treatment of a row with a category that no training row had: predicted as the average over the known categories,
or an error."""


Nulls: TypeAlias = Literal["average", "error"]
"""The treatment of a row with a missing value of an input: predicted as the average over training rows, or an error."""


Output: TypeAlias = Literal[
    "mean",
    "sd",
    "variance",
    "interval",
    "label",
    "probabilities",
    "latent",
    "support",
    "value",
    "components",
    "reconstruction_error",
    "log_density",
    "novelty",
]

Cost: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True)
class ClassPrior:
    """The prior of a class among the rows to predict for."""

    __pydantic_config__ = wire(extra="forbid")

    label: Label
    prior: Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class DecisionOptions:
    """The options as sent; None: not given. `costs` has a row for each true class, with a cost for each decision."""

    class_priors: tuple[ClassPrior, ...] | None = None
    costs: tuple[tuple[float, ...], ...] | None = None
    reject_cost: float | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """Return the names of the members that are not None."""
        return tuple(name for name, value in vars(self).items() if value is not None)


@dataclass(frozen=True, kw_only=True)
class PredictionOptions:
    """Options of predictions in all requests."""

    __pydantic_config__ = wire(extra="forbid")

    interval: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """The probability between `lower` and `upper`."""
    outputs: Annotated[tuple[Output, ...], Field(min_length=1)] | None = None
    """The members of each prediction: of `mean`, `sd`, `variance`, `interval`, `support` for numbers, of `label`,
    `probabilities`, `latent`, `support` for classes, of `value` for a known function, of `components`,
    `reconstruction_error`, `log_density`, `novelty` for components; by default all."""
    components: Annotated[int, Field(ge=1)] | None = None
    """The maximum number of components in the response, and for `reconstruction_error`; by default 10. Only for
    components."""
    class_priors: Annotated[tuple[ClassPrior, ...], Field(min_length=1)] | None = None
    """The frequencies of classes among the rows to predict for, where they differ from those of the training rows
    (`class_rows` of the version). All classes, in any order; they sum to 1. `probabilities` and `label` are then under
    these priors; `latent` does not change."""
    costs: Annotated[tuple[tuple[Cost, ...], ...], Field(min_length=1)] | None = None
    """The cost of each decision: `costs[truth][decision]`, a row for each true class, and in it a cost for each
    decision, both in the order of the version's `classes`; 0 and above. A correct decision may have a cost too. By
    default an incorrect one costs 1 and a correct one 0."""
    reject_cost: Cost | None = None
    """The cost of no decision for a row: where the expected cost of every decision is higher, `decision.label` is
    null."""
    unknown_categories: UnknownCategories = "average"
    """A row with a category that no training row had: predicted as the average over the known categories, weighted by
    their frequencies among the training rows, with a wider interval; or an error. For components always an error."""
    nulls: Nulls = "average"
    """A row with a missing value of an input: predicted as the average over the values of training rows, the more alike
    a row is the more, with a wider interval; or an error. Inputs with at least 20 gaps, and 2 %, in training have an
    indicator of missing values instead, and their rows are predicted as others are."""
    csv_escape_formulas: bool = False
    """Only for CSV: whether texts and names of columns that a spreadsheet would take for formulas (they begin with =,
    +, -, @, a tab or the end of a line, and are not numbers) get an apostrophe."""

    @property
    def deciding(self) -> DecisionOptions | None:
        """Return the options of decisions between classes; None without any."""
        if self.class_priors is None and self.costs is None and self.reject_cost is None:
            return None
        return DecisionOptions(self.class_priors, self.costs, self.reject_cost)


@dataclass(frozen=True, kw_only=True)
class PredictOptionsIn(PredictionOptions):
    """Prediction options with a table."""

    on_error: Literal["fail", "per_row"] = "fail"
    """The treatment of an invalid row: it fails the request, or has its problem in its place."""
    covariance: bool = False
    """True to return the covariance of the predictions, for sums and averages of them: for numbers under Gaussian
    noise, at most 1,000 rows, and at most 64 with missing values or unknown categories."""
    explain: Annotated[int, Field(ge=1, le=20)] | None = None
    """The number of functions with the largest contributions to return with each prediction."""
    row_ids: tuple[str, ...] | str | None = None
    """The caller's own ids of the rows, texts of 1 to 200 characters, by which a model that records predictions
    compares them with outcomes: in JSON a list with one for each row, or the name of a column of the table that has
    them, which the model does not read."""

    @property
    def row_id_column(self) -> str | None:
        """Return the column that has the row ids, None where there is none."""
        return self.row_ids if isinstance(self.row_ids, str) else None


@dataclass(frozen=True, kw_only=True)
class PredictColumnsIn(PredictOptionsIn):
    """A table by columns.

    Where the model has a noise column, it is optional, for all rows.
    """

    columns: dict[str, tuple[Cell, ...]]


@dataclass(frozen=True, kw_only=True)
class PredictRecordsIn(PredictOptionsIn):
    """A table by rows, each with the names of its columns."""

    rows: tuple[dict[str, Cell], ...]


@dataclass(frozen=True, kw_only=True)
class PredictArraysIn(PredictOptionsIn):
    """A table by rows, with the names of the columns once."""

    names: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


PredictIn: TypeAlias = PredictColumnsIn | PredictRecordsIn | PredictArraysIn


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
