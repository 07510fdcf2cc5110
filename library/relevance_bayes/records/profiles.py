"""The effect of inputs on predictions: partial dependence."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.records.annotations import wire
from relevance_bayes.records.predictions import ClassProbability
from relevance_bayes.records.values import Cell, ColumnKind


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
