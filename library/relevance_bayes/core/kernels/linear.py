"""The linear kernel: planes through the origin."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from relevance_bayes.core.kernels.inner_product import InnerProduct
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class Linear(InnerProduct):
    """k(u, z) = u'z. A width only divides the inputs; of any number of these functions at most d are independent."""

    type: Literal["linear"] = "linear"

    positive_definite: ClassVar[bool] = True

    def of_products(self, xp: Namespace[A], products: A) -> A:
        """u'z."""
        return products

    def slope(self, xp: Namespace[A], products: A, k: A) -> float:
        """1."""
        return 1.0
