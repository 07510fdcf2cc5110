"""Requests for predictions, the parts of predictions, and the effects of inputs on them."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from relevance_bayes.records.annotations import wire
from relevance_bayes.records.values import Cell, ColumnKind, Label

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


MAX_POINTS = 101
MAX_ROWS = 500
MAX_INDIVIDUAL = 100


@dataclass(frozen=True, kw_only=True)
class ProfileOptionsIn:
    """The options of a profile."""

    __pydantic_config__ = wire(extra="forbid", example={"inputs": ["temperature"], "rows": [{"temperature": 12.5}]})

    inputs: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)]
    """One input of the version, or two."""
    points: Annotated[int, Field(ge=2, le=MAX_POINTS)] | None = None
    """The number of values of each input that is a number or a time, from its least to its greatest among the rows: by
    default 41 for one input, and 11 for two. Of categories all are shown, at most 101."""
    interval: Annotated[float, Field(gt=0, lt=1)] = 0.95
    """The probability between `lower` and `upper`."""
    individual: Annotated[int, Field(ge=0, le=MAX_INDIVIDUAL)] = 0
    """The number of rows, the first, whose own predictions are returned too; of one input, for numbers and two
    classes."""


@dataclass(frozen=True, kw_only=True)
class ProfileColumnsIn(ProfileOptionsIn):
    """A profile over the rows of a table by columns, at most 500."""

    columns: dict[str, tuple[Cell, ...]]


@dataclass(frozen=True, kw_only=True)
class ProfileRecordsIn(ProfileOptionsIn):
    """A profile over the rows of a table by rows, each with the names of its columns."""

    rows: tuple[dict[str, Cell], ...]


@dataclass(frozen=True, kw_only=True)
class ProfileArraysIn(ProfileOptionsIn):
    """A profile over the rows of a table by rows, with the names of the columns once."""

    names: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


ProfileIn: TypeAlias = Annotated[ProfileColumnsIn | ProfileRecordsIn | ProfileArraysIn, Field(title="ProfileIn")]


@dataclass(frozen=True, kw_only=True)
class ProfiledInput:
    """An input whose effect is shown."""

    __pydantic_config__ = wire()

    name: str
    kind: ColumnKind
    values: tuple[Cell, ...]
    """The values that it has at the points."""


@dataclass(frozen=True, kw_only=True)
class AverageBand:
    """The average of the learned function over the rows: its posterior mean and sd, and the ends of its interval."""

    __pydantic_config__ = wire()

    mean: float
    sd: float
    lower: float
    upper: float


@dataclass(frozen=True, kw_only=True)
class ProfilePoint:
    """The average prediction over the rows, each with the same values of the inputs."""

    __pydantic_config__ = wire()

    values: tuple[Cell, ...]
    """In the order of `inputs`."""
    mean: float | None
    """Null for classes."""
    probabilities: tuple[ClassProbability, ...]
    """Empty for numbers."""
    band: AverageBand | None
    """Its uncertainty, without the noise of single observations; see `band` of the profile."""
    individual: tuple[float, ...]
    """Of each of the first rows, as many as the request has for `individual`: the mean, or the probability of the
    second of two classes."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The effect of one input, or of two together, on the predictions of a version."""

    __pydantic_config__ = wire()

    model: str
    version: int
    inputs: tuple[ProfiledInput, ...]
    rows: int
    """The number of rows over which predictions are averaged."""
    band: Literal["mean", "pooled_mean", "latent"] | None
    """The quantity that has a band. `mean`: the mean, in closed form from the posterior of one model; `pooled_mean`:
    the mean of a pool, from the joint covariance of its members; `latent`: the latent function of two classes, the log
    rate of counts, or the logarithm of the target. Null where there is none in closed form: several classes, nearest
    neighbours, known functions, rows with missing values that are averages themselves."""
    interval: float
    """The probability between `lower` and `upper`."""
    points: tuple[ProfilePoint, ...]
    """Those of the first input; of two, with all values of the second after each other for each of the first."""
