"""The linear kernel: planes through the origin."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class Linear:
    """k(u, z) = u'z. A width only divides the inputs; of any number of these functions at most d are independent."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["linear"] = "linear"

    positive_definite: ClassVar[bool] = True
    stationary: ClassVar[bool] = False

    def __call__(self, U: Array, Z: Array) -> Array:
        """k (N, M) of every row of U (N, d) with every row of Z (M, d)."""
        return U @ Z.T

    def pull(self, U: Array, Z: Array, D: Array) -> tuple[Array, Array]:
        """D Z and D'U: the gradients with respect to U (N, d) and Z (M, d) of sum(D o k(U, Z)), D (N, M)."""
        return D @ Z, D.T @ U
