"""Re-estimation."""
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ReEstimation:
    """Start from everything, re-estimate all hyperparameters at once, prune what falls silent [TIPPING1999, eqs 8-10]."""

    __pydantic_config__ = {"extra": "forbid"}

    update: Literal["mackay", "em"] = "mackay"
    type: Literal["re_estimation"] = "re_estimation"
