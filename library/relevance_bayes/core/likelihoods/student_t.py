"""Noise with heavy tails: some rows are outliers."""

from dataclasses import dataclass, replace
from math import log, pi
from statistics import NormalDist
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
import scipy

from relevance_bayes.core.likelihoods.base import LatentGaussian, NumberLikelihood, NumberPrediction, Sites, Targets
from relevance_bayes.core.likelihoods.gaussian import noise_range, noise_sd_of
from relevance_bayes.core.log_density import log_student_t
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.tracing import A, ExtendedNamespace, Namespace
from relevance_bayes.core.types import Array, ForRows

FIRST_DOF = 4.0
"""The initial degrees of freedom, and ..."""

MIN_DOF, MAX_DOF = 2.1, 200.0
"""... their bounds where they are learned: below, the variance is nearly infinite; above, noise is nearly Gaussian."""

NEGLIGIBLE = 40.0
"""Nats below the greatest density of log tau beyond which it is neglected, ..."""

REACH = 12.0
"""... and the extension of log tau downwards, for outliers."""

ONE_OVER_ROOT_2_PI: float = (2.0 * pi) ** -0.5

MAX_NEWTON_STEPS = 60
SETTLED = 1e-10

Dof: TypeAlias = Literal["learned"] | float


@dataclass(frozen=True, eq=False)
class HeavyTailedPrediction(NumberPrediction):
    """The Gaussian of the latent and a Student t of scale `scale` and `dof` degrees of freedom, added.

    As a mixture of Gaussians N(mean, V + scale^2/tau), tau ~ Gamma(dof/2, dof/2), V = weights + residual: smooth in tau
    for any ratio of the two widths.
    """

    scale: ForRows
    dof: float

    def quantile(self, probability: float) -> Array:
        """A symmetric interval about the mean."""
        above, side = max(probability, 1.0 - probability), np.sign(probability - 0.5)
        scales = np.broadcast_to(np.square(self.scale), self.mean.shape)
        return np.asarray(self.mean + side * _reach(NUMPY, self.weights + self.residual, scales, self.dof, above))

    def log_density(self, t: Array) -> Array:
        """The log of the mixture's density."""
        sds, log_shares = self._mixture()
        z = (t - self.mean)[:, None] / sds
        exponents = log_shares - 0.5 * z**2 - np.log(sds)
        largest = exponents.max(axis=1)
        total = np.exp(exponents - largest[:, None]).sum(axis=1)
        return np.asarray(largest + np.log(total) - 0.5 * log(2.0 * pi))

    def distribution(self, t: Array) -> tuple[Array, Array]:
        """The sum over the mixture's Gaussians by their shares."""
        sds, log_shares = self._mixture()
        upto = np.asarray(scipy.special.ndtr((t - self.mean)[:, None] / sds) @ np.exp(log_shares))
        return upto, upto

    def _mixture(self) -> tuple[Array, Array]:
        """Standard deviations (N, k) and the logarithms of their shares (k,)."""
        log_tau, log_shares = _gamma_rule(self.dof)
        variances = (self.weights + self.residual)[:, None] + np.multiply.outer(np.square(self.scale), np.exp(-log_tau))
        return np.sqrt(variances), log_shares


def _gamma_rule(dof: float) -> tuple[Array, Array]:
    """log tau (k,) and the logarithms of its shares, tau ~ Gamma(dof/2, dof/2): the trapezoidal rule in log tau."""
    half = 0.5 * dof
    span = NEGLIGIBLE / half
    step = min(0.3, 0.5 * half**-0.5)
    log_tau = np.arange(-span - REACH, np.log1p(span + (2.0 * span) ** 0.5) + step, step)
    log_shares = half * (log_tau - np.expm1(log_tau))
    return log_tau, log_shares - np.log(np.exp(log_shares).sum())


def _reach(xp: ExtendedNamespace[A], variance: A, scales: A, dof: float, probability: float) -> A:
    """The quantile above the mean at this probability, at least 1/2: latents N(0, variance).

    `scales` are squares of the noise's. By Newton's method on the distribution function, which is concave above the
    mean: monotone from there.
    """
    log_tau, log_shares = _gamma_rule(dof)
    inverse: Array = np.exp(-log_tau)
    shares: Array = np.exp(log_shares)
    sds = xp.sqrt(xp.expand_dims(variance, axis=-1) + xp.expand_dims(scales, axis=-1) * inverse)

    def step(x: A) -> A:
        z = xp.expand_dims(x, axis=-1) / sds
        density = xp.matmul(xp.exp(-0.5 * xp.square(z)) / sds, shares) * ONE_OVER_ROOT_2_PI
        return x + (probability - xp.matmul(xp.ndtr(z), shares)) / density

    unit = xp.sqrt(variance + scales)
    return xp.fixed_point(step, 0.0 * unit, unit, tolerance=SETTLED, max_steps=MAX_NEWTON_STEPS)


@dataclass(frozen=True)
class StudentT(NumberLikelihood):
    """t_n = f_n + noise of Student's t: N(0, 1/(beta tau_n)), tau_n ~ Gamma(dof/2, dof/2), dof learned or given.

    The bound is that of the scale mixture, with the best q(tau_n): ell = log T(sqrt(E r^2)), E r^2 = (t - f)^2 + v,
    and sites that stay positive: lam = (dof + 1) beta / (dof + beta E r^2), so that outliers have little weight.
    """

    degrees_of_freedom: Dof = "learned"
    type: Literal["student_t"] = "student_t"

    targets: ClassVar[Targets] = "real"
    has_target_units: ClassVar[bool] = True
    min_gain: ClassVar[float] = 2.0

    def start(self, t: Array) -> tuple[float, float]:
        """The precision beta = 1/scale^2 to begin with, and its greatest value."""
        return noise_range(t)

    def tuned(self, t: Array, f: Array, v: Array, beta: ForRows) -> Self:
        """With the degrees of freedom of greatest sum of ell at latents N(f, v)."""
        if self.degrees_of_freedom != "learned":
            return self
        squares = beta * ((t - f) ** 2 + v)
        if _dof_slope(MIN_DOF, squares) <= 0.0:
            return replace(self, degrees_of_freedom=MIN_DOF)
        if _dof_slope(MAX_DOF, squares) >= 0.0:
            return replace(self, degrees_of_freedom=MAX_DOF)
        dof = float(scipy.optimize.brentq(_dof_slope, MIN_DOF, MAX_DOF, args=(squares,), rtol=1e-12))
        return replace(self, degrees_of_freedom=dof)

    def noise(self, beta: ForRows) -> float | None:
        """The noise's sd; None while the degrees of freedom are not known."""
        dof = self.degrees_of_freedom
        return None if dof == "learned" else (dof / (dof - 2.0)) ** 0.5 * noise_sd_of(beta)

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log T(t_n; f_n, beta^-1/2, dof), (N,)."""
        return log_student_t(beta * (t - f) ** 2, self.dof_or_first) + 0.5 * np.log(beta)

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """Minus the second derivative of log T, below 0 beyond an sd or so, and the first: (N,) each."""
        r, dof = t - f, self.dof_or_first
        lam = (dof + 1.0) * beta / (dof + beta * r**2)
        return lam * (dof - beta * r**2) / (dof + beta * r**2), lam * r

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """ell = log T(sqrt((t - f)^2 + v)), g = lam (t - f)."""
        r, dof = t - f, self.dof_or_first
        squares = beta * (r**2 + v)
        lam = (dof + 1.0) * beta / (dof + squares)
        share = squares / (dof + squares)
        slope = 0.5 * (len(t) - (dof + 1.0) * float(share.sum()))
        curvature = -0.5 * (dof + 1.0) * float((share * (1.0 - share)).sum())
        return Sites(log_student_t(squares, dof) + 0.5 * np.log(beta), lam * r, lam, slope, curvature)

    def precision_slope(self, t: Array, f: Array) -> Array:
        """d lam / d f of `sites` at beta = 1, (N,)."""
        r, dof = t - f, self.dof_or_first
        return -2.0 * (dof + 1.0) * r * (r**2 - 3.0 * dof) / (dof + r**2) ** 3

    def moments(self, xp: Namespace[A], mean: A, variance: A, noise: A) -> tuple[A, A, A]:
        """The latent's mean, the noise's variance and the latent's."""
        return mean, noise, variance

    def ends(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A, z: float) -> tuple[A, A]:
        """The mean -+ the quantile of the Gaussian's and the Student t's sum."""
        dof = self.dof_or_first
        reach = _reach(xp, variance, noise * ((dof - 2.0) / dof), dof, NormalDist().cdf(z))
        return mean - reach, mean + reach

    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> HeavyTailedPrediction:
        """The latent's Gaussian and the noise's Student t."""
        dof, sd = self.dof_or_first, 0.0 if noise_sd is None else noise_sd
        scale = sd * ((dof - 2.0) / dof) ** 0.5
        noise = np.full(len(latent.mean), np.square(sd))
        return HeavyTailedPrediction(latent.mean, noise, latent.weights, latent.residual, scale, dof)

    def typicality(self, prediction: HeavyTailedPrediction, t: Array) -> Array:
        """E tau_n = (dof + 1)/(dof + beta E r^2), (N,), about 1 for an ordinary row and near 0 for an outlier."""
        squares = ((t - prediction.mean) ** 2 + prediction.weights + prediction.residual) / prediction.scale**2
        return (prediction.dof + 1.0) / (prediction.dof + squares)

    @property
    def dof_or_first(self) -> float:
        """The degrees of freedom that are given or learned; before that, their initial value."""
        return FIRST_DOF if self.degrees_of_freedom == "learned" else float(self.degrees_of_freedom)


def _dof_slope(dof: float, squares: Array) -> float:
    """The derivative in the degrees of freedom of the sum of log T."""
    constant = float(scipy.special.digamma(0.5 * (dof + 1.0)) - scipy.special.digamma(0.5 * dof)) - 1.0 / dof
    slopes = (dof + 1.0) / dof * squares / (dof + squares) - np.log1p(squares / dof)
    return 0.5 * (len(squares) * constant + float(slopes.sum()))
