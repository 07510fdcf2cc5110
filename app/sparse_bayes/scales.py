"""From inputs to the unit-width space of the kernels: the ways to find a width, and the map that was found."""

from dataclasses import dataclass, field
from typing import Literal

from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class FixedWidth:
    """The papers' r, given."""

    __pydantic_config__ = {"extra": "forbid"}

    value: float = field(metadata={"gt": 0, "allow_inf_nan": False})
    type: Literal["fixed"] = "fixed"


@dataclass(frozen=True)
class CrossValidationWidth:
    """The width of greatest predictive log density over `folds` folds, everything refitted in each."""

    __pydantic_config__ = {"extra": "forbid"}

    folds: int = field(default=5, metadata={"ge": 2, "le": 20})
    type: Literal["cross_validation"] = "cross_validation"


@dataclass(frozen=True)
class EvidenceWidth:
    """The width of greatest marginal likelihood over the same bounded range; keeps too many functions on noisy data [SCIENCE 3]."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["evidence"] = "evidence"


Width = FixedWidth | CrossValidationWidth | EvidenceWidth


@dataclass(frozen=True)
class InputMap:
    """u = x / width: the frozen map from inputs X (N, d) to the kernels' U (N, d)."""

    width: float

    def __call__(self, X: Array) -> Array:
        """U (N, d)."""
        return X / self.width
