"""A Gaussian process seen through few functions: the prior under which evidence can be trusted."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from relevance_bayes.core.linalg import cholesky, inverse_of_lower, times_lower, times_lower_transposed
from relevance_bayes.core.types import Array

JITTER = 1e-5
"""Added to the diagonal of the kernel matrix of the vectors; less converges badly at low noise, more costs accuracy."""


@dataclass(frozen=True)
class GaussianProcess:
    """w ~ N(0, s E_mm^-1) on the functions k(., z_m): the process they are part of, and c what they leave of it.

    `inducing_points`: the z stay on training rows, or are optimised from there. A function enters while it brings
    `min_gain` nats (None: the likelihood's), at most `max_functions` of them (None: 512). With the price of what is
    left out in L this is the variational sparse process [TITSIAS2009; THEORY 9]. The share `rho` of what is left out
    is taken for noise of each row instead, for Gaussian noise alone: power EP [BUI2017]; the functions are chosen as
    without it.
    """

    __pydantic_config__ = {"extra": "forbid"}

    inducing_points: Literal["rows", "optimised"] = "optimised"
    min_gain: float | None = field(default=None, metadata={"gt": 0, "allow_inf_nan": False})
    max_functions: int | None = field(default=None, metadata={"ge": 1, "le": 2048})
    rho: float = field(default=0.0, metadata={"ge": 0, "le": 1, "allow_inf_nan": False})
    type: Literal["gaussian_process"] = "gaussian_process"

    centred: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class Whitening:
    """From the columns E (N, m) of the functions to columns B = E L^-T whose weights are independent, L L' = E_mm.

    E_mm (m, m) is the kernel of the vectors, with JITTER. Under N(0, s E_mm^-1) the weights of B have the one
    precision 1/s, and row n leaves c_n = s (1 - |b_n|^2) of the process unexplained.

    Rows are multiplied by L^-1. With JITTER, L has a condition of at most sqrt(m / JITTER), some 7,000 for 512 vectors,
    and B differs from its exact value by as little as a triangular solution does: 1e-13, less than the rounding of L
    itself is worth.
    """

    lower: Array

    @cached_property
    def inverse(self) -> Array:
        """L^-1 (m, m), lower triangular."""
        return inverse_of_lower(self.lower)

    @classmethod
    def of(
        cls, kernel: Array, factorise: Callable[[Array], Array] = cholesky, *, jitter: float | None = None
    ) -> "Whitening":
        """From the kernel matrix (m, m) of the vectors; raises NotPositiveDefiniteError."""
        return cls(factorise(kernel + (JITTER if jitter is None else jitter) * np.eye(len(kernel))))

    def columns(self, E: Array, out: Array | None = None) -> Array:
        """B = E L^-T, (N, m), into `out` where it is given."""
        return times_lower_transposed(E, self.inverse, out)

    def weights(self, whitened: Array) -> Array:
        """Weights of E from those of B: L^-T w, for (m,) or (m, k)."""
        return self.inverse.T @ whitened

    def left(self, B: Array) -> Array:
        """1 - |b_n|^2, (N,): the share of the prior variance that the vectors don't explain."""
        return np.asarray(np.maximum(1.0 - np.vecdot(B, B), 0.0))

    def pull_columns(self, D: Array) -> Array:
        """dL/dE = D L^-1, (N, m), from D = dL/dB (N, m)."""
        return times_lower(D, self.inverse)

    def pull_factor(self, products: Array) -> Array:
        """dL/dE_mm (m, m, symmetric) from D'B (m, m), D = dL/dB.

        -1/2 L^-T (Phi + Phi') L^-1, Phi the lower triangle of D'B with half its diagonal [MURRAY2016].
        """
        lower_half = np.tril(products)
        lower_half.flat[:: len(lower_half) + 1] *= 0.5
        half = times_lower(lower_half + lower_half.T, self.inverse)
        return -0.5 * times_lower(half.T, self.inverse)
