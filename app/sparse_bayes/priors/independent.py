"""One hyperparameter a weight: the prior of the relevance vector machine."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Independent:
    """w_m ~ N(0, 1/alpha_m), each alpha_m learned: A = diag(alpha) and nothing left out, c = 0 [TIPPING2001, eq. 5]."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["independent"] = "independent"
