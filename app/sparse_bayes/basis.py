"""Dictionaries of basis functions."""

from dataclasses import dataclass, field
from typing import Literal

from app.sparse_bayes.kernels import Gaussian, Kernel
from app.sparse_bayes.scales import CrossValidationWidth, Width


@dataclass(frozen=True)
class KernelBasis:
    """One function k(., x_n) for each training row."""

    __pydantic_config__ = {"extra": "forbid"}

    kernel: Kernel = field(default_factory=Gaussian, metadata={"discriminator": "type"})
    width: Width = field(default_factory=CrossValidationWidth, metadata={"discriminator": "type"})
    type: Literal["kernel"] = "kernel"


@dataclass(frozen=True)
class Bias:
    """The constant function 1."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["bias"] = "bias"


Basis = KernelBasis | Bias
