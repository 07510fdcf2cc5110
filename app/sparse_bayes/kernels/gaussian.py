"""The Gaussian kernel of the papers."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class Gaussian:
    """k(x, z) = exp(-|x - z|^2), with inputs already divided by the width r: the papers' exp(-|x - z|^2 / r^2) [TIPPING2001, eq. 30]."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["gaussian"] = "gaussian"

    stationary: ClassVar[bool] = True
