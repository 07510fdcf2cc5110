"""Kernels that are a function of the inner product."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Literal, final

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


@dataclass(frozen=True)
class Linear(InnerProduct):
    """k(u, z) = u'z. A width only divides the inputs; at most d of these functions are linearly independent."""

    type: Literal["linear"] = "linear"

    is_positive_definite: ClassVar[bool] = True

    def of_products(self, xp: Namespace[A], products: A) -> A:
        """u'z."""
        return products

    def slope(self, xp: Namespace[A], products: A, k: A) -> float:
        """1."""
        return 1.0


@dataclass(frozen=True)
class Polynomial(InnerProduct):
    """k(u, z) = (1 + u'z)^degree, u = x/r: the greater the width r, the smaller the share of high powers."""

    degree: int = field(default=3, metadata={"ge": 1, "le": 10})
    type: Literal["polynomial"] = "polynomial"

    is_positive_definite: ClassVar[bool] = True

    def of_products(self, xp: Namespace[A], products: A) -> A:
        """(1 + u'z)^degree."""
        return _power(1.0 + products, self.degree)

    def slope(self, xp: Namespace[A], products: A, k: A) -> A:
        """degree (1 + u'z)^(degree - 1)."""
        return float(self.degree) * _power(1.0 + products, self.degree - 1)


def _power(base: A, exponent: int) -> A:
    """`base` to an integer power by products, many times faster than `**`."""
    power = 0.0 * base + 1.0 if exponent == 0 else base
    for _ in range(exponent - 1):
        power = power * base
    return power


@dataclass(frozen=True)
class Sigmoid(InnerProduct):
    """k(u, z) = tanh(u'z + offset), u = x/r: a unit of a network whose weights are a training row.

    It is not positive definite, which sparse Bayesian learning does not require.
    """

    offset: float = field(default=-1.0, metadata={"allow_inf_nan": False})
    type: Literal["sigmoid"] = "sigmoid"

    def of_products(self, xp: Namespace[A], products: A) -> A:
        """tanh(u'z + offset)."""
        return xp.tanh(products + self.offset)

    def slope(self, xp: Namespace[A], products: A, k: A) -> A:
        """1 - k^2."""
        return 1.0 - xp.square(k)
