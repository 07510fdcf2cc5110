"""Sums of Gaussians, their values and the integrals of their products over all of R^d, in closed form."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log, pi

import numpy as np

from relevance_bayes.core.errors import DataError
from relevance_bayes.core.types import Array, Indices

VALUES_AT_ONCE = 2**16
"""Terms times points evaluated at once, which stay in the cache."""


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """f(x) = constant + sum_j c_j k_j(x), k_j(x) = exp(-sum_k ((x_k - z_jk) / r_jk)^2).

    `centres` z (J, d), `coefficients` c (J,) and `widths` r (J, d), above 0. Raises DataError for invalid ones.
    """

    centres: Array
    coefficients: Array
    widths: Array
    constant: float = 0.0

    def __post_init__(self) -> None:
        shape = self.centres.shape
        if self.centres.ndim != 2 or 0 in shape:
            raise DataError(f"expected centres (J, d), got shape {shape}")
        if self.coefficients.shape != shape[:1] or self.widths.shape != shape:
            got = f"{self.coefficients.shape} and {self.widths.shape}"
            raise DataError(f"expected {shape[0]} coefficients and widths {shape}, got shapes {got}")
        if not all(np.isfinite(part).all() for part in (self.centres, self.coefficients, self.widths, self.constant)):
            raise DataError("expected finite centres, coefficients, widths and constant, got NaN or infinity")
        if not (self.widths > 0.0).all():
            raise DataError("expected widths above 0")

    @classmethod
    def of_width(
        cls, width: float | tuple[float, ...], centres: Array, coefficients: Array, constant: float = 0.0
    ) -> "KernelExpansion":
        """Terms of centres (J, d) and coefficients (J,) that have one width, the same for every input or one for each.

        Raises DataError for another d.
        """
        if isinstance(width, tuple) and len(width) != centres.shape[-1]:
            raise DataError(f"expected {centres.shape[-1]} widths, got {len(width)}")
        return cls(centres, coefficients, np.full(centres.shape, width), constant)

    @property
    def size(self) -> int:
        """J."""
        return len(self.centres)

    def __call__(self, X: Array) -> Array:
        """f (N,) at X (N, d)."""
        return np.concatenate([np.empty(0), *self._values(X)])

    def _values(self, X: Array) -> Iterator[Array]:
        rows = max(1, VALUES_AT_ONCE // self.size)
        for first in range(0, len(X), rows):
            part = X[first : first + rows]
            squares = np.zeros((len(part), self.size))
            for x, z, r in zip(part.T, self.centres.T, self.widths.T, strict=True):
                squares += np.square((x[:, None] - z) / r)
            yield self.constant + np.exp(-squares) @ self.coefficients

    def take(self, chosen: Indices, coefficients: Array) -> "KernelExpansion":
        """Only the chosen terms (R,), with other coefficients."""
        return KernelExpansion(self.centres[chosen], coefficients, self.widths[chosen], self.constant)

    def beside(self, other: "KernelExpansion") -> "KernelExpansion":
        """The sum of both, these terms first, with this constant."""
        parts = ((self.centres, other.centres), (self.coefficients, other.coefficients), (self.widths, other.widths))
        centres, coefficients, widths = (np.concatenate(part) for part in parts)
        return KernelExpansion(centres, coefficients, widths, self.constant)

    def widened(self, multiples: tuple[float, ...]) -> "KernelExpansion":
        """The same function with terms of multiples of all widths beside its own, with coefficients of 0."""
        centres = np.tile(self.centres, (len(multiples), 1))
        widths = np.concatenate([multiple * self.widths for multiple in multiples])
        return self.beside(KernelExpansion(centres, np.zeros(len(centres)), widths))

    @cached_property
    def log_norms(self) -> Array:
        """log |k_j| (J,), |k_j|^2 the integral of k_j^2: prod_k r_jk sqrt(pi/2)."""
        return np.asarray(0.5 * (np.log(self.widths) + 0.5 * log(0.5 * pi)).sum(axis=1))

    @cached_property
    def log_masses(self) -> Array:
        """The logarithm of each k_j's integral, (J,): prod_k r_jk sqrt(pi)."""
        return np.asarray((np.log(self.widths) + 0.5 * log(pi)).sum(axis=1))

    @cached_property
    def mass(self) -> float:
        """The integral of f without its constant, which has none."""
        return float(self.coefficients @ np.exp(self.log_masses))

    def cosines(self, numbers: Indices) -> Array:
        """The integrals of k_i k_j over |k_i| |k_j|, i of the `numbers` (n,), for all j: (n, J).

        prod_k sqrt(2 r_ik r_jk / (r_ik^2 + r_jk^2)) exp(-(z_ik - z_jk)^2 / (r_ik^2 + r_jk^2)).
        """
        ratios, exponents = np.ones((len(numbers), self.size)), np.zeros((len(numbers), self.size))
        for z, r in zip(self.centres.T, self.widths.T, strict=True):
            both = np.add.outer(np.square(r[numbers]), np.square(r))
            ratios *= np.multiply.outer(2.0 * r[numbers], r) / both
            exponents -= np.square(np.subtract.outer(z[numbers], z)) / both
        return np.asarray(np.sqrt(ratios) * np.exp(exponents))
