"""Gaussian noise."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class GaussianNoise:
    """t_n = f_n + N(0, noise_sd^2): the noise learned by evidence, or known (in the units of the targets)."""

    __pydantic_config__ = {"extra": "forbid"}

    noise_sd: Literal["learned"] | float = field(default="learned", metadata={"gt": 0})
    type: Literal["gaussian"] = "gaussian"
