"""The inputs of a process that have a term of their own, and their shares of its variance: learned structure."""

from dataclasses import dataclass, field
from math import log

import numpy as np

from relevance_bayes.core.kernels import Additive, Covariance
from relevance_bayes.core.types import Array

WIDE = 3.0
"""Standard deviation of the normal prior on each logit: 95 % of shares lie between 1/400 and 400 times the rest's."""


@dataclass(frozen=True, eq=False)
class Terms:
    """The inputs `alone` (a,) have a term each, of the shares softmax([logits, 0]), the last being the others' term.

    `logits` (a,) are the logarithms of the shares over the others'.
    """

    alone: tuple[int, ...] = ()
    logits: Array = field(default_factory=lambda: np.empty(0))

    @property
    def shares(self) -> Array:
        """Of the process's variance, (a,)."""
        odds = np.exp(self.logits)
        return np.asarray(odds / (1.0 + odds.sum()))

    def of(self, kernel: Covariance) -> Covariance | Additive:
        """The covariance with these terms: the kernel itself where no input has its own."""
        return Additive(kernel, self.alone, tuple(self.shares.tolist())) if self.alone else kernel

    def with_term(self, place: int, share: float) -> "Terms":
        """The terms with one more input, whose share is taken from all others in proportion."""
        logits = self.logits
        rest = (1.0 - share) / (1.0 + float(np.exp(logits).sum()))
        return Terms((*self.alone, place), np.append(logits, log(share / rest)))

    def pull(
        self, kernel: Covariance, U: Array, Z: Array, D: Array, k: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Gradients of sum(D o k(U, Z)) with respect to U (N, d), Z (M, d) and the logits (a,)."""
        covariance = self.of(kernel)
        if not isinstance(covariance, Additive):
            return *covariance.pull(U, Z, D, k), self.logits
        dU, dZ, sums = covariance.pull_all(U, Z, D)
        return dU, dZ, self._chained(sums)

    def pull_symmetric(self, kernel: Covariance, U: Array, D: Array, k: Array | None = None) -> tuple[Array, Array]:
        """Gradients of sum(D o k(U, U)), D symmetric, with respect to U (N, d) and the logits (a,)."""
        covariance = self.of(kernel)
        if not isinstance(covariance, Additive):
            return covariance.pull_symmetric(U, D, k), self.logits
        dU, sums = covariance.pull_all_symmetric(U, D)
        return dU, self._chained(sums)

    def log_prior(self) -> tuple[float, Array]:
        """-1/2 sum (logit/3)^2, and its gradient (a,)."""
        return -0.5 * float(np.square(self.logits).sum()) / WIDE**2, -self.logits / WIDE**2

    def _chained(self, sums: Array) -> Array:
        """dw_i/dlogit_j = w_j ([i = j] - w_i)."""
        own = self.shares
        mean = float(own @ sums[:-1]) + (1.0 - float(own.sum())) * float(sums[-1])
        return np.asarray(own * (sums[:-1] - mean))
