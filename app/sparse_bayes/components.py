"""Sparse kernel principal components: the covariance of the rows' images told by few of them [TIPPING2001b; SCIENCE 5].

The images phi_n of N rows in the kernel's space are taken for draws of N(0, C), C = sigma^2 I + sum_m w_m phi_m phi_m',
with one weight w_m = 1/alpha_m a row, and C's likelihood is maximised: with s_m = phi_m'C_-m^-1 phi_m and q_mn =
phi_m'C_-m^-1 phi_n by alpha_m = s_m^2/(mean_n q_mn^2 - s_m), where that is positive, else infinite. These are the
closed forms of a regression in which each row's image is a target and a candidate too, all with the same precisions:
in coordinates that have the kernel as inner products it is one. sigma is fixed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.sparse_bayes.algorithms.state import Standing
from app.sparse_bayes.basis import Candidates, InputFunctions
from app.sparse_bayes.coordinates import coordinates
from app.sparse_bayes.errors import DataError
from app.sparse_bayes.fitting import standings
from app.sparse_bayes.folds import subset
from app.sparse_bayes.kernels import Covariance
from app.sparse_bayes.likelihoods import GaussianNoise
from app.sparse_bayes.priors import Independent
from app.sparse_bayes.problem import Problem
from app.sparse_bayes.scales import InputMap
from app.sparse_bayes.spec import Spec
from app.sparse_bayes.types import Array, Indices

MOST_ROWS = 2_000
"""Rows that are learned from, drawn by content: each is the target of all others."""


@dataclass(frozen=True, eq=False)
class Components:
    """C = `noise_variance` I + sum_m w_m phi_m phi_m' of the images of `centres` (R, d), the training rows `rows` (R,).

    `weights` w (R,); `evidence` in nats, of the images of all rows learned from in their own coordinates.
    """

    kernel: Covariance
    input_map: InputMap
    centres: Array
    rows: Indices
    weights: Array
    noise_variance: float
    evidence: float

    @cached_property
    def _axes(self) -> tuple[Array, Array]:
        """A (R, R) with k(x, centres) A the coordinates along C's axes, and the variances w gives them, falling: (R,).

        Of W^1/2 K W^1/2 = V diag(v) V', A = W^1/2 V v^-1/2. Axes that have no variance to speak of are left out.
        """
        root = np.sqrt(self.weights)
        U = self.input_map(self.centres)
        variances, vectors = np.linalg.eigh(root[:, None] * self.kernel(U, U) * root)
        there = np.flatnonzero(variances > variances[-1:] * 1e-12)[::-1]
        return root[:, None] * vectors[:, there] / np.sqrt(variances[there]), variances[there]

    @property
    def variances(self) -> Array:
        """Of the principal components beyond the noise, in the kernel's space, falling: (Q,), Q at most R."""
        return self._axes[1]

    def project(self, X: Array) -> Array:
        """The principal components of new rows' images, (N, Q)."""
        return self.kernel(self.input_map(X), self.input_map(self.centres)) @ self._axes[0]

    def missed(self, X: Array, components: int | None = None) -> Array:
        """The share of each image that the first `components` don't reach, by default all: (N,), from 0 to 1.

        |phi - projection|^2, where |phi|^2 = k(x, x) = 1.
        """
        return _rest(self.project(X)[:, :components])

    def log_density(self, X: Array) -> Array:
        """log N(phi(x); 0, C) less log N(0; 0, sigma^2 I), (N,): the lower, the newer a row is.

        -1/2 sum_j [p_j^2/(v_j + sigma^2) + log(1 + v_j/sigma^2)] - (1 - sum_j p_j^2)/(2 sigma^2).
        """
        projected, noise = self.project(X), self.noise_variance
        along = np.square(projected) @ (1.0 / (self.variances + noise))
        volume = float(np.log1p(self.variances / noise).sum())
        return np.asarray(-0.5 * (along + volume + _rest(projected) / noise))


def components(
    X: Array, kernel: Covariance, input_map: InputMap, *, explained: float = 0.9, seed: int = 0
) -> Iterator[int | Components]:
    """How many rows are kept so far, from step to step, then the end; X (N, d).

    sigma^2 is the greatest variance along a principal axis that is left when those before it explain so large a share
    of all. Raises DataError for another X, and for a share not in (0, 1).
    """
    if X.ndim != 2 or len(X) < 2 or not np.isfinite(X).all():
        raise DataError(f"expected at least two rows (N, d) of finite numbers, got shape {X.shape}")
    if not 0.0 < explained < 1.0:
        raise DataError(f"expected a share above 0 and below 1 to be explained, got {explained:g}")
    rows = subset(X, np.zeros(len(X)), MOST_ROWS, seed)
    U = input_map(X[rows])
    G = coordinates(len(rows), lambda numbers: kernel(U[numbers], U), most=len(rows))
    noise_variance = _left(G, explained)
    images = InputFunctions(np.arange(len(rows)))
    problem = Problem(G, G, Candidates((images,)), GaussianNoise(noise_variance**0.5), Independent())
    last: Standing | None = None
    for last in standings(problem, Spec(problem.likelihood)):
        yield len(last.state.active)
    if last is not None:
        state = last.state
        kept = rows[np.array(state.active, np.intp)]
        yield Components(kernel, input_map, X[kept], kept, 1.0 / state.alpha, noise_variance, state.objective)


def _left(G: Array, explained: float) -> float:
    """The variance along the first principal axis of the images G (k, N) that is not needed to explain enough."""
    variances = np.square(np.linalg.svd(G, compute_uv=False)) / G.shape[1]
    needed = int(np.searchsorted(np.cumsum(variances), explained * variances.sum())) + 1
    if needed >= len(variances):
        raise DataError("expected rows that few components don't explain whole: they are too few, or all alike")
    return float(variances[needed])


def _rest(projected: Array) -> Array:
    """What is left of a norm of 1."""
    return np.asarray(np.maximum(1.0 - np.square(projected).sum(axis=1), 0.0))
