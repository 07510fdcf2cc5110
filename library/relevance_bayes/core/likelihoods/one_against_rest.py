"""Each class against all others by least squares on zeros and ones, at the cost of one regression."""

from dataclasses import dataclass, replace
from math import pi
from typing import ClassVar, Literal, Self

import numpy as np

from relevance_bayes.core.likelihoods.base import ClassLikelihoodBase, LatentGaussian, Sites, Targets
from relevance_bayes.core.likelihoods.categorical import check_classes, indicators
from relevance_bayes.core.likelihoods.gaussian import noise_range, noise_sd_of
from relevance_bayes.core.likelihoods.temperature import Temperature, fitted_temperature, softmax, temperature_of
from relevance_bayes.core.tracing import A, ExtendedNamespace
from relevance_bayes.core.types import Array, ForRows

MIN_NOISE = 0.08
"""The least noise sd about zeros and ones. Without a bound separable classes are fitted without noise, by kernels far
too narrow: half-way between two of fifty such classes the most probable had .99 in the median; with it .5 to .7, by
half as many functions."""

SLOPE: float = pi / 6.0**0.5
"""Of the softmax that is nearest to the probability that one of two Gaussians of equal variance is greater: the
logistic function of pi/sqrt 3 sds, for a difference whose variance is that of both."""


@dataclass(frozen=True)
class OneAgainstRest(ClassLikelihoodBase):
    """t_nk = f_nk + N(0, 1/beta), t_nk = 1 where row n is of class k, else 0: least squares, one noise for all classes.

    Sites don't depend on f and all K latents share their covariance, so that everything is in closed form and learning
    costs what it does for one number. The class of a new row is that of the greatest of its K noisy observations.
    `classes` is K, inferred from the target by default [RASMUSSEN2006, section 6.5]. `temperature` corrects
    for residuals that are not Gaussian, least where a class is certain.
    """

    classes: int | None = None
    temperature: Temperature = "learned"
    type: Literal["one_against_rest"] = "one_against_rest"

    targets: ClassVar[Targets] = "class"
    is_conjugate: ClassVar[bool] = True
    has_constant_precision: ClassVar[bool] = True
    is_log_concave: ClassVar[bool] = True
    has_target_units: ClassVar[bool] = True
    min_gain: ClassVar[float] = 2.0

    @property
    def latents(self) -> int:
        """K."""
        return self.classes or 2

    def check(self, t: Array) -> None:
        """Raise DataError unless t (N,) are numbers of classes, OneClassError unless there are two at least."""
        check_classes(t, self.latents)

    def working(self, t: Array) -> tuple[Array, float]:
        """A one for each row's class, (N, K)."""
        return indicators(t, self.latents), 0.0

    def start(self, t: Array) -> tuple[float, float]:
        """The noise precision beta to begin with, and its greatest value."""
        low, _ = noise_range(t)
        return low, max(low, 1.0 / MIN_NOISE**2)

    def first(self, t: Array, v: Array) -> tuple[Array, Array]:
        """The initial latents and variances, which have no effect: sites don't depend on the latent."""
        return np.zeros_like(t), v

    def tuned(self, t: Array, f: Array, v: Array, beta: ForRows) -> Self:
        """The likelihood itself, which has no parameter but the noise."""
        return self

    def noise(self, beta: ForRows) -> float:
        """The sd of the noise about zeros and ones."""
        return noise_sd_of(beta)

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log p(t_n | f_n), (N,), at latents f (N, K)."""
        return np.asarray(0.5 * (self.latents * np.log(beta / (2.0 * pi)) - beta * np.square(t - f).sum(axis=1)))

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """Precision lam = beta (N,) and gradient g = beta (t - f) (N, K): exact for any f."""
        return np.full(len(t), beta), (beta * (t - f).T).T

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """ell = sum_k log N(t_k; f_k, 1/beta) - K beta v/2: exact."""
        residual_squares = beta * (np.square(t - f).sum(axis=1) + self.latents * v)
        value = 0.5 * (self.latents * np.log(beta / (2.0 * pi)) - residual_squares)
        total = float(residual_squares.sum())
        slope = 0.5 * (self.latents * len(t) - total)
        return Sites(value, (beta * (t - f).T).T, np.full(len(t), beta), slope, -0.5 * total)

    def precision_slope(self, t: Array, f: Array) -> Array:
        """d lam / d f (N, K): 0."""
        return np.zeros_like(f)

    def probabilities(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> A:
        """softmax(pi f / (T sqrt(6 (1/beta + v)))): approximately the probability that its observation is the
        greatest."""
        return softmax(xp, mean * (SLOPE / (temperature_of(self.temperature) * xp.sqrt(noise + variance))))

    def with_temperature(self, t: Array, without: LatentGaussian, noise_sd: ForRows | None) -> Self:
        """The likelihood with the temperature fitted to classes t (N,) at held-out latents, where it is learned."""
        if self.temperature != "learned":
            return self
        return replace(self, temperature=fitted_temperature(self.predictive(without, noise_sd).probabilities, t))
