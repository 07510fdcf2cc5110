"""Which nearest-neighbour processes a training learns: its kernels, and what is left to rows kept apart."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.core.kernels import Gaussian, Matern32, Matern52

LocalKernel = Matern32 | Matern52 | Gaussian
"""The kernels that are tried: of rough, of smooth and of very smooth functions."""

KERNELS: tuple[LocalKernel, ...] = (Matern52(), Matern32(), Gaussian())

MIN_ROWS = 100
"""Fewer are no sample to keep a part of apart, and the process itself is cheap."""

LocalTarget = Literal["targets", "residuals"]
"""The quantity that a nearest-neighbour process models: the targets, or the residuals of the sparse model."""


@dataclass(frozen=True)
class LocalChoice:
    """The nearest-neighbour processes to be learned.

    `neighbours` of a prediction, None where rows kept apart decide. `on` is the quantity that they model, None for
    both. One that is `required` is taken even where the sparse model scores better. `kernels` are tried, with a warp
    for each input where they are `warped`; by default a process must gain `min_gain` nats a row.
    """

    neighbours: int | None = None
    on: LocalTarget | None = None
    required: bool = False
    kernels: tuple[LocalKernel, ...] = KERNELS
    warped: bool = True
    min_gain: float = 0.01
