"""The kernels of scikit-learn's processes that are a constant and an RBF between distinct points."""

from dataclasses import dataclass
from math import sqrt
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from relevance_bayes.client.gaussian_expansion import refused


@runtime_checkable
class _Pair(Protocol):
    """A sum or a product of two kernels."""

    k1: object
    k2: object


@runtime_checkable
class _Constant(Protocol):
    constant_value: float


@runtime_checkable
class _Lengths(Protocol):
    length_scale: ArrayLike


@dataclass(frozen=True)
class KernelTerms:
    """A kernel `constant` + `scale` exp(-|x - z|^2 / width^2); white noise is 0 between distinct points and left out.

    `width` is None only with a `scale` of 0.
    """

    constant: float = 0.0
    scale: float = 0.0
    width: tuple[float, ...] = ()

    def times(self, other: "KernelTerms") -> "KernelTerms":
        """Return the product; raises ClientError where it has other terms."""
        if self.scale and other.scale:
            raise refused("got a product of two RBFs")
        scaled, factor = (self, other) if self.scale else (other, self)
        return KernelTerms(scaled.constant * factor.constant, scaled.scale * factor.constant, scaled.width)

    def plus(self, other: "KernelTerms") -> "KernelTerms":
        """Return the sum; raises ClientError for two widths."""
        if self.scale and other.scale and self.width != other.width:
            raise refused(f"got a sum of RBFs of lengths {self.width} and {other.width}: there is one width for all")
        return KernelTerms(self.constant + other.constant, self.scale + other.scale, self.width or other.width)


def terms_of(kernel: object) -> KernelTerms:
    """Return a process's kernel between two distinct points."""
    match type(kernel).__name__, kernel:
        case "ConstantKernel", _Constant():
            return KernelTerms(constant=float(kernel.constant_value))
        case "WhiteKernel", _:
            return KernelTerms()
        case "RBF", _Lengths():
            lengths = np.atleast_1d(np.asarray(kernel.length_scale, np.float64))
            return KernelTerms(scale=1.0, width=tuple(float(length) * sqrt(2.0) for length in lengths))
        case "Sum", _Pair():
            return terms_of(kernel.k1).plus(terms_of(kernel.k2))
        case "Product", _Pair():
            return terms_of(kernel.k1).times(terms_of(kernel.k2))
        case name, _:
            raise refused(f"got a process with the kernel {name}")
