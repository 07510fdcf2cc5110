"""The functions of a version."""

import sys
from dataclasses import dataclass, replace
from math import log
from typing import Literal, TypeAlias

from relevance_bayes.records.annotations import wire
from relevance_bayes.records.values import Cell, Label

FunctionName: TypeAlias = Literal["mean", "log_noise"]


@dataclass(frozen=True)
class ClassWeight:
    """The mean of a function's weight in the latent of one class."""

    __pydantic_config__ = wire()

    label: Label
    mean: float


@dataclass(frozen=True)
class InputShape:
    """The location and scale of a function in one input, in the input's units."""

    __pydantic_config__ = wire()

    input: str
    location: float | None
    """Its position: of a jump, a centre, or the origin of a wave's phase."""
    scale: float | None
    """Its scale: the distance of a spline's knots, a wavelet's s."""
    frequency: float | None
    """Cycles per unit."""


@dataclass(frozen=True)
class ListedFunction:
    """The name of a function in a version's list: see `RelevanceVector`."""

    number: int
    kind: str
    row: int | None
    input: str | None


@dataclass(frozen=True, kw_only=True)
class RelevanceVector:
    """A function of a version: a kernel at a row, the bias, an input itself, or a member of a dictionary."""

    __pydantic_config__ = wire()

    number: int
    kind: str
    """The kernel's type, `bias`, `input`, `step`, `wave`, `b_spline` or `wavelet`."""
    row: int | None
    """The dataset's row at which the kernel is centred, from 0."""
    inputs: dict[str, Cell] | None
    """That row's inputs, in the user's units."""
    input: str | None = None
    """The input that it is, or is a function of; `colour=red` is 1 for that category, else 0."""
    shape: tuple[InputShape, ...] = ()
    """For functions of a dictionary, their shapes in each of their inputs; otherwise empty."""
    phase: float | None = None
    """The phase of a wave or wavelet, in cycles: 0 is a cosine, 0.25 a sine."""
    optimised: bool = False
    """True if the kernel's centre was optimised and is no longer at its row."""
    weight_mean: float | None
    """In the units of the latent function: of the target under `gaussian` and `student_t`, of its logarithm under
    `log_gaussian`, of its logit under `logit_gaussian`, of the log rate under `poisson`, of the latent of classes; of
    both models under `hurdle`. Null where there is one for each class."""
    weight_means: tuple[ClassWeight, ...] = ()
    """For three and more classes, one each; they share `weight_sd`, `alpha` and `gamma`. Otherwise empty."""
    weight_sd: float
    """In the same units."""
    alpha: float
    """The precision of the weight's prior, in the inverse square of these units."""
    gamma: float
    """The degree to which the data determine the weight, from 0 to 1."""
    member: int | None = None
    """The index of its model in the version's `members`, from 1; null for a single model."""
    function: FunctionName = "mean"
    """`mean`; or `log_noise`, the log noise variance as a function of the inputs, in whose units the weight then is."""

    def in_units(self, unit: float) -> "RelevanceVector":
        """Return the function with the latent function in units of 1/`unit` of the present ones.

        The log noise variance has no unit: only its constant changes.
        """
        if self.function == "log_noise":
            if self.kind != "bias" or self.weight_mean is None:
                return self
            return replace(self, weight_mean=self.weight_mean + 2.0 * log(unit))
        return replace(
            self,
            weight_mean=None if self.weight_mean is None else _finite(self.weight_mean * unit),
            weight_means=tuple(ClassWeight(weight.label, _finite(weight.mean * unit)) for weight in self.weight_means),
            weight_sd=_finite(self.weight_sd * unit),
            alpha=_finite(self.alpha / unit / unit),
        )

    @property
    def max_weight(self) -> float:
        """Return the weight's mean, of several the one of greatest magnitude."""
        if self.weight_mean is not None:
            return self.weight_mean
        return max((weight.mean for weight in self.weight_means), key=abs)


@dataclass(frozen=True)
class Expansion:
    """f(x) = constant + sum_j weights_j exp(-sum_k ((x_k - centres_jk) / widths_jk)^2)."""

    __pydantic_config__ = wire()

    inputs: tuple[str, ...]
    centres: tuple[tuple[float, ...], ...]
    """For each term, a number for each of the inputs."""
    widths: tuple[tuple[float, ...], ...]
    """For each term, a number for each of the inputs."""
    weights: tuple[float, ...]
    """For each term."""
    constant: float


def _finite(value: float) -> float:
    return max(-sys.float_info.max, min(value, sys.float_info.max))


@dataclass(frozen=True, kw_only=True)
class VersionDocument:
    """A version of a model of a task: its document in npz, and its functions with their rows."""

    model: str
    version: int
    task: str
    content: bytes
    vectors: tuple[RelevanceVector, ...]
