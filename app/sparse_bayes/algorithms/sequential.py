"""Sequential."""
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Sequential:
    """Start from nothing, add the function that gains most, let what is in climb to rest, look again [FAUL2002; SCIENCE 1]."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["sequential"] = "sequential"
