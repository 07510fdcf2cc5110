"""Kernels that are a function of the inner product."""

from abc import abstractmethod
from typing import final

import numpy as np

from relevance_bayes.core.kernels.base import KernelBase, evaluated
from relevance_bayes.core.tracing import A, Namespace
from relevance_bayes.core.types import Array


class InnerProduct(KernelBase):
    """k(u, z) = k(u'z): a member gives k and its slope as functions of the inner products."""

    @abstractmethod
    def of_products(self, xp: Namespace[A], products: A) -> A:
        """k at inner products."""

    @abstractmethod
    def slope(self, xp: Namespace[A], products: A, k: A) -> A | float:
        """dk / d(u'z) at inner products, where the kernel is k; a number where it is the same everywhere."""

    @final
    def __call__(self, U: Array, Z: Array) -> Array:
        return evaluated(self.of_products, U @ Z.T)

    @final
    def pull(self, U: Array, Z: Array, D: Array, k: Array | None = None) -> tuple[Array, Array]:
        """W Z and W'U, W = D o slope."""
        products = U @ Z.T
        W = D * self.slope(np, products, self.of_products(np, products) if k is None else k)
        return W @ Z, W.T @ U
