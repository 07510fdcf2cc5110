"""Power EP: from the variational bound (rho = 0) to FITC (rho = 1), for Gaussian noise [BUI2017; THEORY 9]."""

from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.posterior import Optimum
from relevance_bayes.core.types import Array


@dataclass(frozen=True, eq=False)
class Power:
    """The sites of power EP for rows of noise precision beta (N,) and residual variance c (N,); rho in (0, 1].

    The share rho of the residual variance is noise, row by row: lam = beta/(1 + rho beta c). The price of the rest is
    T = (1 - rho)/(2 rho) sum log(1 + rho beta c), which at rho = 0 would be 1/2 sum beta c.
    """

    rho: float
    beta: Array
    c: Array

    @property
    def precision(self) -> Array:
        """lam, (N,)."""
        return self.beta / (1.0 + self.rho * self.beta * self.c)

    @property
    def price(self) -> float:
        """T, of each latent of a row."""
        return (1.0 - self.rho) / (2.0 * self.rho) * float(np.log1p(self.rho * self.beta * self.c).sum())

    def slopes(self, found: Optimum) -> tuple[Array, float]:
        """dL/dc (N,) and dL/dlog beta, from the posterior under lam.

        With g = 1/2 [lam^2 (r^2 + p'Sigma p) - lam], which is -lam dL/dlog lam: rho g - (1 - rho)/2 lam, and
        -sum g/beta - (1 - rho)/2 lam'c, summed over the latents of a row.
        """
        K = found.posterior.latents
        lam, rest = self.precision, 0.5 * K * (1.0 - self.rho)
        squares = np.square(found.sites.gradient).reshape(len(lam), -1).sum(axis=1)
        g = 0.5 * (squares + K * (lam**2 * found.v - lam))
        return self.rho * g - rest * lam, -float(np.sum(g / self.beta)) - rest * float(lam @ self.c)
