"""Principal components in a kernel's space: the axes of the rows' covariance, and the coordinates of new rows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.linalg import cholesky, inverse_from_cholesky
from relevance_bayes.core.types import Array, Indices


@dataclass(frozen=True, eq=False)
class Components:
    """C = `noise_variance` I + sum_m w_m phi_m phi_m' of the images of `centres` (R, d), the training rows `rows` (R,).

    `weights` w (R,); `evidence` is the log likelihood of the images of all training rows less that under noise alone,
    in nats.
    """

    kernel: Covariance
    input_map: InputMap
    centres: Array
    rows: Indices
    weights: Array
    noise_variance: float
    evidence: float

    @property
    def gamma(self) -> Array:
        """gamma, the extent in [0, 1] to which the rows determine each weight: 1 - alpha_m Sigma_mm, (R,).

        Sigma = (A + K/sigma^2)^-1, so alpha_m Sigma_mm = sigma^2 (sigma^2 I + W^1/2 K W^1/2)^-1_mm.
        """
        root = np.sqrt(self.weights)
        U = self.input_map(self.centres)
        square = root[:, None] * self.kernel(U, U) * root
        square.flat[:: len(root) + 1] += self.noise_variance
        return np.asarray(1.0 - self.noise_variance * inverse_from_cholesky(cholesky(square)).diagonal())

    @cached_property
    def _axes(self) -> tuple[Array, Array]:
        """A (R, R) with k(x, centres) A the coordinates along C's axes, and the variances w gives them, falling: (R,).

        Of W^1/2 K W^1/2 = V diag(v) V', A = W^1/2 V v^-1/2. Axes of negligible variance are left out.
        """
        root = np.sqrt(self.weights)
        U = self.input_map(self.centres)
        variances, vectors = np.linalg.eigh(root[:, None] * self.kernel(U, U) * root)
        there = np.flatnonzero(variances > variances[-1:] * 1e-12)[::-1]
        return root[:, None] * vectors[:, there] / np.sqrt(variances[there]), variances[there]

    @property
    def axes(self) -> Array:
        """The matrix that turns k(x, centres) into principal components: (R, Q), one axis a column."""
        return self._axes[0]

    @property
    def variances(self) -> Array:
        """The variances of the principal components beyond the noise, in the kernel's space, falling: (Q,), Q at most
        R."""
        return self._axes[1]

    def project(self, X: Array) -> Array:
        """The principal components of new rows' images, (N, Q)."""
        return self.kernel(self.input_map(X), self.input_map(self.centres)) @ self.axes

    def missed(self, X: Array, components: int | None = None) -> Array:
        """The residual share of each image outside the first `components`, by default all: (N,), from 0 to 1.

        |phi - projection|^2, where |phi|^2 = k(x, x) = 1.
        """
        return self.missed_at(self.project(X)[:, :components])

    def missed_at(self, projected: Array) -> Array:
        """The same of the first components (N, k) themselves."""
        return _rest(projected)

    def log_density(self, X: Array) -> Array:
        """log N(phi(x); 0, C) less log N(0; 0, sigma^2 I), (N,): low for novel rows.

        -1/2 sum_j [p_j^2/(v_j + sigma^2) + log(1 + v_j/sigma^2)] - (1 - sum_j p_j^2)/(2 sigma^2).
        """
        return self.log_density_at(self.project(X))

    def log_density_at(self, projected: Array) -> Array:
        """The same of all principal components (N, Q) themselves."""
        noise = self.noise_variance
        along = np.square(projected) @ (1.0 / (self.variances + noise))
        volume = float(np.log1p(self.variances / noise).sum())
        return np.asarray(-0.5 * (along + volume + _rest(projected) / noise))


def _rest(projected: Array) -> Array:
    """The square of a norm of 1 outside the axes."""
    return np.asarray(np.maximum(1.0 - np.square(projected).sum(axis=1), 0.0))
