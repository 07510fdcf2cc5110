"""Kernels that are a function of the sum, or of the product, of one term for each input."""

from abc import abstractmethod
from dataclasses import dataclass, field
from math import pi
from typing import ClassVar, Literal, final

import numpy as np

from relevance_bayes.core.kernels.base import KernelBase, blocks
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array


class ByInput(KernelBase):
    """k(u, z) = k(sum_j term(u_j, z_j)), or k(prod_j term(u_j, z_j)); k is the identity where it is not given."""

    combination: ClassVar[Literal["sum", "product"]] = "sum"

    slope_of_k: ClassVar[bool] = False
    """True where the slope needs k alone, and no terms: it is passed k for both."""

    @abstractmethod
    def term(self, xp: Namespace[A], u: A, z: A) -> A:
        """The term of one input, u and z broadcasting: symmetric in both."""

    @abstractmethod
    def term_slope(self, xp: Namespace[A], u: A, z: A) -> A:
        """d term / du."""

    def of_terms(self, xp: Namespace[A], terms: A) -> A:
        """k of the terms' sum or product."""
        return terms

    def slope(self, xp: Namespace[A], terms: A, k: A) -> A | float:
        """dk / d(sum or product) there, where the kernel is k."""
        return 1.0

    @final
    def __call__(self, U: Array, Z: Array) -> Array:
        k = np.empty((len(U), len(Z)))
        for rows, columns in blocks(*k.shape):
            k[rows, columns] = self.of_terms(np, self._combined(U[rows], Z[columns]))
        return k

    @final
    def pull(self, U: Array, Z: Array, D: Array, k: Array | None = None) -> tuple[Array, Array]:
        """dU_nj = sum_m W_nm dterm(u_nj, z_mj)/du with W = D o slope, times all other terms where they are multiplied.

        dZ is the same with u and z exchanged, since a term is symmetric; of a stationary kernel it is the negative.
        """
        dU, dZ = np.zeros_like(U), np.zeros_like(Z)
        for rows, columns in blocks(len(U), len(Z)):
            u, z = U[rows], Z[columns]
            W = D[rows, columns] * self._slope(u, z, None if k is None else k[rows, columns])
            weights = [W] * u.shape[1] if self.combination == "sum" else self._of_others(u, z, W)
            for place, weight in enumerate(weights):
                at_u, at_z = u[:, place, None], z[None, :, place]
                own = weight * self.term_slope(np, at_u, at_z)
                dU[rows, place] += own.sum(axis=1)
                if self.is_stationary:
                    dZ[columns, place] -= own.sum(axis=0)
                else:
                    dZ[columns, place] += (weight * self.term_slope(np, at_z, at_u)).sum(axis=0)
        return dU, dZ

    def _slope(self, U: Array, Z: Array, k: Array | None) -> Array | float:
        if k is not None and self.slope_of_k:
            return self.slope(np, k, k)
        terms = self._combined(U, Z)
        return self.slope(np, terms, self.of_terms(np, terms) if k is None else k)

    def _combined(self, U: Array, Z: Array) -> Array:
        """The sum or the product of all terms, (N, M)."""
        combined: Array = self.term(np, U[:, 0, None], Z[None, :, 0])
        for place in range(1, U.shape[1]):
            term = self.term(np, U[:, place, None], Z[None, :, place])
            if self.combination == "sum":
                combined += term
            else:
                combined *= term
        return combined

    def _of_others(self, U: Array, Z: Array, W: Array) -> list[Array]:
        """W times all terms but one, for each: products from both sides, since a term may be 0."""
        terms = [self.term(np, U[:, place, None], Z[None, :, place]) for place in range(U.shape[1])]
        after = [W]
        for term in reversed(terms[1:]):
            after.append(after[-1] * term)
        found, before = [], np.ones_like(W)
        for term in terms:
            found.append(before * after.pop())
            before = before * term
        return found


@dataclass(frozen=True)
class CityBlock(ByInput):
    """k(u, z) = exp(-sum_k |u_k - z_k|), u = x/r: a product over inputs of Matern kernels of order 1/2.

    scikit-learn's `laplacian_kernel`, with gamma = 1/r where all inputs have one width. A sum of d distances grows as d
    and the Euclidean distance as its root: for the same range widths have to be greater by the root of d.
    """

    type: Literal["city_block"] = "city_block"

    is_positive_definite: ClassVar[bool] = True
    is_stationary: ClassVar[bool] = True
    sums_distances: ClassVar[bool] = True
    slope_of_k: ClassVar[bool] = True

    def term(self, xp: Namespace[A], u: A, z: A) -> A:
        """|u - z|."""
        return xp.abs(u - z)

    def term_slope(self, xp: Namespace[A], u: A, z: A) -> A:
        """sign(u - z); at the kink, where both are equal, 0: the mean of the slopes on both sides."""
        return xp.sign(u - z)

    def of_terms(self, xp: Namespace[A], terms: A) -> A:
        """exp(-sum)."""
        return xp.exp(-terms)

    def slope(self, xp: Namespace[A], terms: A, k: A) -> A:
        """-k."""
        return -k


@dataclass(frozen=True)
class Periodic(ByInput):
    """k(u, z) = exp(-2 sum_k sin^2(pi (u_k - z_k)) / length_scale^2), u = x/r: the width r is the period.

    A width that is learned is a period that is learned, one for all inputs or one for each; a fixed width gives it. The
    evidence has many maxima, among others near each multiple of a period: fix a period that is known. `length_scale`
    is the roughness of functions within a period, and has no unit. With one input it is scikit-learn's `ExpSineSquared`
    of `periodicity` r and the same `length_scale` [MACKAY1998]; with more it is the product over inputs, which is a
    covariance where a function of the Euclidean distance is none.
    """

    length_scale: float = field(default=1.0, metadata={"ge": 1e-2, "le": 1e2, "allow_inf_nan": False})
    type: Literal["periodic"] = "periodic"

    is_positive_definite: ClassVar[bool] = True
    is_stationary: ClassVar[bool] = True
    slope_of_k: ClassVar[bool] = True

    def term(self, xp: Namespace[A], u: A, z: A) -> A:
        """sin^2(pi (u - z)), after whole periods are subtracted."""
        periods = u - z
        return xp.square(xp.sin(pi * (periods - xp.round(periods))))

    def term_slope(self, xp: Namespace[A], u: A, z: A) -> A:
        """pi sin(2 pi (u - z))."""
        periods = u - z
        return pi * xp.sin(2.0 * pi * (periods - xp.round(periods)))

    def of_terms(self, xp: Namespace[A], terms: A) -> A:
        """exp(-2 sum / length_scale^2)."""
        return xp.exp(-2.0 / self.length_scale**2 * terms)

    def slope(self, xp: Namespace[A], terms: A, k: A) -> A:
        """-2 k / length_scale^2."""
        return -2.0 / self.length_scale**2 * k


@dataclass(frozen=True)
class LinearSpline(ByInput):
    """The product over inputs of 1 + uz + uz min(u, z) - (u + z)/2 min(u, z)^2 + min(u, z)^3/3 [TIPPING2001, 4.1].

    It has no unit: a width other than 1 only divides the inputs. The covariance of an integrated random walk that
    starts at 0, and so positive definite for inputs from there on; for negative ones k(u, u) itself can be negative.
    """

    type: Literal["linear_spline"] = "linear_spline"

    combination: ClassVar[Literal["sum", "product"]] = "product"

    def term(self, xp: Namespace[A], u: A, z: A) -> A:
        """1 + uz + l (uz - l ((u + z)/2 - l/3)), l = min(u, z)."""
        smaller, both = xp.minimum(u, z), u * z
        return 1.0 + both + smaller * (both - smaller * (0.5 * (u + z) - smaller / 3.0))

    def term_slope(self, xp: Namespace[A], u: A, z: A) -> A:
        """z + uz - u^2/2 in u up to z, z + z^2/2 above."""
        smaller = xp.minimum(u, z)
        return z + smaller * (z - 0.5 * smaller)
