"""Two classes."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Bernoulli:
    """p(t = 1 | f) = 1/(1 + exp(-f)), t in {0, 1} [TIPPING2001, section 3]."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["bernoulli"] = "bernoulli"
