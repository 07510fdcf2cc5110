"""Kernels that are a function of the sum, or of the product, of one term for each input."""

from abc import abstractmethod
from typing import ClassVar, Literal, final

import numpy as np

from relevance_bayes.core.kernels.base import KernelBase, blocks
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array


class ByInput(KernelBase):
    """k(u, z) = k(sum_j term(u_j, z_j)), or k(prod_j term(u_j, z_j)); k is the identity where it is not given."""

    combination: ClassVar[Literal["sum", "product"]] = "sum"

    slope_of_k: ClassVar[bool] = False
    """True where the slope needs k alone, and no terms: it is handed k for both."""

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

        dZ is the same from the other side, since a term is symmetric; of a stationary one it is the negative.
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
                if self.stationary:
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
