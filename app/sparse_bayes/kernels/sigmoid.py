"""The sigmoid kernel: units of a neural network."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from app.sparse_bayes.types import Array


@dataclass(frozen=True)
class Sigmoid:
    """k(u, z) = tanh(u'z + offset), u = x/r: a unit of a network whose weights are a training row.

    Sparse Bayesian learning asks for no positive definite kernel, and this is none.
    """

    __pydantic_config__ = {"extra": "forbid"}

    offset: float = field(default=-1.0, metadata={"allow_inf_nan": False})
    type: Literal["sigmoid"] = "sigmoid"

    positive_definite: ClassVar[bool] = False
    stationary: ClassVar[bool] = False

    def __call__(self, U: Array, Z: Array) -> Array:
        """k (N, M) of every row of U (N, d) with every row of Z (M, d)."""
        return np.asarray(np.tanh(U @ Z.T + self.offset))

    def pull(self, U: Array, Z: Array, D: Array) -> tuple[Array, Array]:
        """W Z and W'U, W = D o (1 - k^2): the gradients with respect to U (N, d) and Z (M, d) of sum(D o k(U, Z))."""
        W = D * (1.0 - np.square(self(U, Z)))
        return W @ Z, W.T @ U
