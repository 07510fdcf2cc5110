"""The linear spline kernel of the papers."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class LinearSpline:
    """The product over inputs of 1 + xz + xz min(x, z) - (x + z)/2 min(x, z)^2 + min(x, z)^3/3 [TIPPING2001, section 4.1; SCIENCE 3]."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["linear_spline"] = "linear_spline"
