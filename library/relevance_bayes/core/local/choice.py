"""The choice of nearest-neighbour processes to learn: kernels, neighbours and targets."""

from dataclasses import dataclass
from typing import Literal

from relevance_bayes.core.kernels import Gaussian, Matern32, Matern52

LocalKernel = Matern32 | Matern52 | Gaussian
"""The kernels that are compared: of rough, smooth and very smooth functions."""

KERNELS: tuple[LocalKernel, ...] = (Matern52(), Matern32(), Gaussian())

MIN_ROWS = 100
"""The least number of rows: of fewer a held-out part is too small, and the exact process is cheap."""

LocalTarget = Literal["targets", "residuals"]
"""The quantity that a nearest-neighbour process models: the targets, or the residuals of the sparse model."""


@dataclass(frozen=True)
class LocalChoice:
    """The nearest-neighbour processes to be learned.

    `neighbours` of a prediction, None to choose by held-out rows. `on` is the quantity that they model, None for both.
    One that is `required` is taken even where the sparse model scores better. `kernels` are compared, with a warp for
    each input where they are `warped`; a process must gain `min_gain` nats a row unless it is required.
    """

    neighbours: int | None = None
    on: LocalTarget | None = None
    required: bool = False
    kernels: tuple[LocalKernel, ...] = KERNELS
    warped: bool = True
    min_gain: float = 0.01
