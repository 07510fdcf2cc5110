"""The functions that a version keeps."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from relevance_bayes.types.json_schema import wire
from relevance_bayes.types.values import Cell, Label

FunctionName: TypeAlias = Literal["mean", "log_noise"]


@dataclass(frozen=True)
class ClassWeight:
    """The mean of a function's weight in the latent of one class."""

    __pydantic_config__ = wire()

    label: Label
    mean: float


@dataclass(frozen=True)
class InputShape:
    """How a function lies in one input, in the input's units."""

    __pydantic_config__ = wire()

    input: str
    location: float | None
    """Where it stands: a jump, a centre, or where a wave's phase counts from."""
    scale: float | None
    """How far it spreads: the distance of a spline's knots, a wavelet's s."""
    frequency: float | None
    """Cycles per unit."""


@dataclass(frozen=True)
class RelevanceVector:
    """One function that a version keeps: a kernel on a row, the bias, an input itself, or one of a dictionary."""

    __pydantic_config__ = wire()

    number: int
    kind: str
    """The kernel's type, `bias`, `input`, `step`, `wave`, `b_spline` or `wavelet`."""
    row: int | None
    """The row of the dataset that a kernel stands on, from 0."""
    inputs: dict[str, Cell] | None
    """That row's inputs, in the user's units."""
    input: str | None
    """Which input it is, or is a function of; `colour=red` is 1 for that category, else 0."""
    shape: tuple[InputShape, ...]
    """For functions of a dictionary, what they look like in each input that they see. Else empty."""
    phase: float | None
    """Of a wave or wavelet, in cycles: 0 is a cosine, 0.25 a sine."""
    optimised: bool
    """Whether the kernel has left its row, to stand where it explains more."""
    weight_mean: float | None
    """In the units of the function that is learned: the target's under `gaussian` and `student_t`, of its logarithm
    under `log_gaussian`, of the log rate under `poisson`, of the latent of classes. Null where there is one for
    each class.
    """
    weight_means: tuple[ClassWeight, ...]
    """Of three and more classes, one for each; they share `weight_sd`, `alpha` and `gamma`. Else empty."""
    weight_sd: float
    """In the same units."""
    alpha: float
    """The precision of the weight's prior, in one over the square of these units."""
    gamma: float
    """How well the data determine the weight, from 0 to 1."""
    member: int | None = None
    """Which of the version's `members` it is part of, from 1; null where one model predicts."""
    function: FunctionName = "mean"
    """`mean`; or `log_noise`, the logarithm of a noise variance that depends on the inputs, in which its weight is
    measured then.
    """


@dataclass(frozen=True)
class Expansion:
    """f(x) = constant + sum_j weights_j exp(-sum_k ((x_k - centres_jk) / widths_jk)^2)."""

    __pydantic_config__ = wire()

    inputs: tuple[str, ...]
    centres: tuple[tuple[float, ...], ...]
    """Of each term, a number for each of the inputs."""
    widths: tuple[tuple[float, ...], ...]
    """Of each term, a number for each of the inputs."""
    weights: tuple[float, ...]
    """Of each term."""
    constant: float
