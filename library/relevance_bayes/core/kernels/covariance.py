"""Covariances of stationary processes, 1 at distance 0: kernels, and sums of them over groups of inputs."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relevance_bayes.core.kernels.by_input import CityBlock, Periodic
from relevance_bayes.core.kernels.radial import (
    Cauchy,
    Gaussian,
    InverseMultiquadric,
    Laplacian,
    Matern32,
    Matern52,
    RationalQuadratic,
)
from relevance_bayes.core.types import Array, Indices

Covariance = (
    Gaussian | Matern32 | Matern52 | Laplacian | Cauchy | RationalQuadratic | CityBlock | InverseMultiquadric | Periodic
)


@dataclass(frozen=True)
class Additive:
    """k(u, z) = sum_j w_j k(u_j, z_j) + (1 - sum_j w_j) k(u_rest, z_rest): j in `alone`, w_j its share.

    The covariance of a sum of independent functions, of one input each and of all others together; 1 at distance 0. It
    is learned [DUVENAUD2011] and cannot be requested, so it is no member of `Kernel`. `alone` (a,) are indices of
    inputs, fewer than all; `shares` (a,) are above 0 and sum to less than 1.
    """

    kernel: Covariance
    alone: tuple[int, ...]
    shares: tuple[float, ...]

    is_positive_definite: ClassVar[bool] = True
    is_stationary: ClassVar[bool] = True

    @property
    def type(self) -> str:
        """The type of each term's kernel."""
        return self.kernel.type

    def __call__(self, U: Array, Z: Array) -> Array:
        """k (N, M) of every row of U (N, d) with every row of Z (M, d)."""
        whole = np.zeros((len(U), len(Z)))
        for inputs, share in self._terms(U.shape[1]):
            term = self.kernel(U[:, inputs], Z[:, inputs])
            term *= share
            whole += term
        return whole

    def pull(self, U: Array, Z: Array, D: Array, k: Array | None = None) -> tuple[Array, Array]:
        """Gradients with respect to U (N, d) and Z (M, d) of sum(D o k(U, Z)), D (N, M); k is not used."""
        dU, dZ, _ = self.pull_all(U, Z, D)
        return dU, dZ

    def pull_symmetric(self, U: Array, D: Array, k: Array | None = None) -> Array:
        """The gradient with respect to U (N, d) of sum(D o k(U, U)), D (N, N) symmetric."""
        dU, _ = self.pull_all_symmetric(U, D)
        return dU

    def pull_all(self, U: Array, Z: Array, D: Array) -> tuple[Array, Array, Array]:
        """The gradients of `pull`, and sum(D o k_j) of each term j, the rest's last, (a + 1,)."""
        dU, dZ, sums = np.empty_like(U), np.empty_like(Z), []
        for inputs, share in self._terms(U.shape[1]):
            u, z = U[:, inputs], Z[:, inputs]
            term = self.kernel(u, z)
            sums.append(float(np.vdot(D, term)))
            du, dz = self.kernel.pull(u, z, D, term)
            dU[:, inputs], dZ[:, inputs] = share * du, share * dz
        return dU, dZ, np.array(sums)

    def pull_all_symmetric(self, U: Array, D: Array) -> tuple[Array, Array]:
        """The gradient of `pull_symmetric`, and sum(D o k_j) of each term j, the rest's last, (a + 1,)."""
        dU, sums = np.empty_like(U), []
        for inputs, share in self._terms(U.shape[1]):
            u = U[:, inputs]
            term = self.kernel(u, u)
            sums.append(float(np.vdot(D, term)))
            dU[:, inputs] = share * self.kernel.pull_symmetric(u, D, term)
        return dU, np.array(sums)

    def _terms(self, inputs: int) -> list[tuple[Indices, float]]:
        """The inputs of each term, and its share."""
        rest = np.setdiff1d(np.arange(inputs), self.alone)
        own = [(np.array([place]), share) for place, share in zip(self.alone, self.shares, strict=True)]
        return [*own, (rest, 1.0 - sum(self.shares))]
