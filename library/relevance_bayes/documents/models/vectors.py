"""The functions that a version keeps, as people see them."""

import sys
from dataclasses import dataclass, replace
from math import log
from typing import Literal, TypeAlias

from relevance_bayes.types.functions import ClassWeight, InputShape
from relevance_bayes.types.values import Cell

FunctionName: TypeAlias = Literal["mean", "log_noise"]


@dataclass(frozen=True)
class ListedFunction:
    """What names a function of a version in its list: see `RelevanceVector`."""

    number: int
    kind: str
    row: int | None
    input: str | None


@dataclass(frozen=True)
class RelevanceVector:
    """One function of a model; its weight and sd are in the encoded units, and `in_units` in others.

    `kind` is the kernel's type, "bias" or "input". A kernel has the `row` it stands on with its `inputs` (raw, by
    column name); where it `moved`, the row that it came from. A function of one input alone has the encoded column's
    name, `input`. Others ("step", "wave", "b_spline", "wavelet") have a `shape` in each input that they see, and waves
    and wavelets a `phase` in cycles.
    `alpha` is the precision of the weight's prior, `gamma` in [0, 1] how well the data determine it. Where each of
    several classes has a latent, a function has a weight in each of them, `weight_means`, with one sd, alpha and gamma,
    and `weight_mean` is None. `member` is the number, from 1, of the process that it is part of where several predict
    together. `function` is the one that it is part of: the mean's, or where the noise depends on the inputs that of the
    log noise variance.
    """

    number: int
    kind: str
    row: int | None
    inputs: dict[str, Cell] | None
    weight_mean: float | None
    weight_sd: float
    alpha: float
    gamma: float
    input: str | None = None
    optimised: bool = False
    weight_means: tuple[ClassWeight, ...] = ()
    shape: tuple[InputShape, ...] = ()
    phase: float | None = None
    member: int | None = None
    function: FunctionName = "mean"

    def in_units(self, unit: float) -> "RelevanceVector":
        """The same where the function that is learned is measured in units of 1/`unit` of these.

        The log noise variance has no unit: its constant alone changes.
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
        """The weight's mean, the one of greatest size where there are several."""
        if self.weight_mean is not None:
            return self.weight_mean
        return max((weight.mean for weight in self.weight_means), key=abs)


def _finite(value: float) -> float:
    return max(-sys.float_info.max, min(value, sys.float_info.max))
