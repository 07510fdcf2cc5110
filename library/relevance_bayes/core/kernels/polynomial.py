"""The polynomial kernel: all products of inputs up to a degree."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from relevance_bayes.core.kernels.inner_product import InnerProduct
from relevance_bayes.core.tracing import A, Namespace


@dataclass(frozen=True)
class Polynomial(InnerProduct):
    """k(u, z) = (1 + u'z)^degree, u = x/r: the greater the width r, the less the high powers count."""

    degree: int = field(default=3, metadata={"ge": 1, "le": 10})
    type: Literal["polynomial"] = "polynomial"

    positive_definite: ClassVar[bool] = True

    def of_products(self, xp: Namespace[A], products: A) -> A:
        """(1 + u'z)^degree."""
        return _power(1.0 + products, self.degree)

    def slope(self, xp: Namespace[A], products: A, k: A) -> A:
        """degree (1 + u'z)^(degree - 1)."""
        return float(self.degree) * _power(1.0 + products, self.degree - 1)


def _power(base: A, exponent: int) -> A:
    """By products, which are many times faster than `**`."""
    power = 0.0 * base + 1.0 if exponent == 0 else base
    for _ in range(exponent - 1):
        power = power * base
    return power
