"""The functions that a version keeps."""

from dataclasses import dataclass

from relevance_bayes.types.values import Cell, Label


@dataclass(frozen=True)
class ClassWeight:
    """The mean of a function's weight in the latent of one class."""

    label: Label
    mean: float


@dataclass(frozen=True)
class InputShape:
    """How a function lies in one input: where it stands, how far it spreads, and its cycles per unit."""

    input: str
    location: float | None
    scale: float | None
    frequency: float | None


@dataclass(frozen=True)
class RelevanceVector:
    """One function of a model: a kernel on a row of the dataset (which it may have left), the bias, or an input.

    Or one of a dictionary, with its `shape` in each input that it sees and, of a wave, its `phase` in cycles.
    Of three and more classes `weight_mean` is None, and `weight_means` has one for each. Weights have the units of the
    function that is learned: the target's under `gaussian` and `student_t`. `function` is "mean", or "log_noise" of
    the logarithm of a noise variance that depends on the inputs.
    """

    number: int
    kind: str
    row: int | None
    inputs: dict[str, Cell] | None
    input: str | None
    shape: tuple[InputShape, ...]
    phase: float | None
    optimised: bool
    weight_mean: float | None
    weight_means: tuple[ClassWeight, ...]
    weight_sd: float
    alpha: float
    gamma: float
    member: int | None = None
    function: str = "mean"


@dataclass(frozen=True)
class Expansion:
    """A version as a sum of Gaussians: constant + sum_j weights_j exp(-sum_k ((x_k - centres_jk) / widths_jk)^2)."""

    inputs: tuple[str, ...]
    centres: tuple[tuple[float, ...], ...]
    widths: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    constant: float
