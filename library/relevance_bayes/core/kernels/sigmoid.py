"""The sigmoid kernel: units of a neural network."""

from dataclasses import dataclass, field
from typing import Literal

from relevance_bayes.core.kernels.inner_product import InnerProduct
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class Sigmoid(InnerProduct):
    """k(u, z) = tanh(u'z + offset), u = x/r: a unit of a network whose weights are a training row.

    Sparse Bayesian learning asks for no positive definite kernel, and this is none.
    """

    offset: float = field(default=-1.0, metadata={"allow_inf_nan": False})
    type: Literal["sigmoid"] = "sigmoid"

    def of_products(self, xp: Namespace[A], products: A) -> A:
        """tanh(u'z + offset)."""
        return xp.tanh(products + self.offset)

    def slope(self, xp: Namespace[A], products: A, k: A) -> A:
        """1 - k^2."""
        return 1.0 - xp.square(k)
