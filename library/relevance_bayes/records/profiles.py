"""The effect of inputs on predictions: partial dependence, and requests for it."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from relevance_bayes.records.annotations import wire
from relevance_bayes.records.predictions import ClassProbability
from relevance_bayes.records.values import Cell, ColumnKind

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
