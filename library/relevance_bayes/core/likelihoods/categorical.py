"""Likelihoods of several classes: the softmax, its integral, and a likelihood for each class.

The integral is over independent Gaussians of equal variance. The softmax of f is the distribution of the argmax of f_k
+ G_k, G_k independent and of Gumbel's distribution. So with F and p the distribution and density of N(0, v) + G, the
integral is one over x,

    E softmax(f)_k = int p(x - m_k) prod_(j != k) F(x - m_j) dx,

whose integrand falls off as Gaussians do: the trapezoidal rule converges geometrically. F and p are averages of
Gumbel's over the Gaussian where that is narrow, else of the Gaussian's over Gumbel's, by Gauss quadrature.
"""

from dataclasses import dataclass, replace
from math import pi
from typing import ClassVar, Literal, Self

import numpy as np

from relevance_bayes.core.errors import DataError, OneClassError
from relevance_bayes.core.likelihoods.base import (
    ClassLikelihoodBase,
    ClassPrediction,
    LatentGaussian,
    Sites,
    Targets,
    predicted,
)
from relevance_bayes.core.likelihoods.bernoulli import (
    BOTH_SIGNS,
    TINY,
    Bernoulli,
    Temperature,
    fitted_temperature,
    sigmoid_integral,
    softmax,
    temperature_of,
    tempered,
)
from relevance_bayes.core.likelihoods.gaussian import noise_range, noise_sd_of
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.tracing import A, ExtendedNamespace
from relevance_bayes.core.types import Array, ForRows

NARROW_SD = 1.3
"""Sd of the latent up to which Gumbel's distribution is averaged over the Gaussian."""

GAUSSIAN_NODES, GUMBEL_NODES = 7, 7

GUMBEL_VARIANCE = pi**2 / 6.0

PLACES: Array = np.arange(-4.0, 7.01, 0.6)
"""The points of the integrand, in sds of N(0, v) + G from the greatest mean."""

CELLS = 2**17
"""The most numbers of one array, which bounds the rows integrated at once."""

MAX_EXPONENT = 700.0
"""The largest exponent of exp without overflow."""

MIN_SHARE = float(np.finfo(float).tiny)


def _gumbel_rule(nodes: int) -> tuple[Array, Array]:
    """Points and weights of the Gauss quadrature of Gumbel's distribution, by Lanczos's method on a fine grid."""
    g = np.linspace(-4.0, 45.0, 4_901)
    weights = np.exp(-g - np.exp(-g))
    weights /= weights.sum()
    diagonal, beside = list[float](), list[float]()
    before, now = np.zeros(len(g)), np.ones(len(g))
    for _ in range(nodes):
        diagonal.append(float(weights @ (g * now * now)))
        after = (g - diagonal[-1]) * now - (beside[-1] if beside else 0.0) * before
        beside.append(float(np.sqrt(weights @ (after * after))))
        before, now = now, after / beside[-1]
    points, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1))
    return points, vectors[0] ** 2


GUMBEL_POINTS, GUMBEL_WEIGHTS = _gumbel_rule(GUMBEL_NODES)
GAUSSIAN_POINTS, _weights = np.polynomial.hermite_e.hermegauss(GAUSSIAN_NODES)
GAUSSIAN_WEIGHTS: Array = _weights / _weights.sum()


def integrated_softmax(mean: Array, variance: Array) -> Array:
    """E softmax(f), f_k ~ N(mean_k, variance) independent: mean (N, K), variance (N,). See `_softmax_integral`."""
    return _softmax_integral(NUMPY, mean, variance[:, None], mean.shape[1])


def _softmax_integral(xp: ExtendedNamespace[A], mean: A, variance: A, classes: int) -> A:
    """E softmax(f), f_k ~ N(mean_k, variance) independent: mean (N, K), variance (N, 1). To about 1e-4.

    Of two classes it is the integral of the sigmoid of their difference, of variance 2v.
    """
    if classes == 2:
        return sigmoid_integral(xp, xp.matmul(mean, BOTH_SIGNS[:, None]) * BOTH_SIGNS, 2.0 * variance)
    sd, cells = xp.sqrt(variance), CELLS // (len(PLACES) * max(GAUSSIAN_NODES, GUMBEL_NODES))
    return xp.apply_where(sd <= NARROW_SD, _narrow, _wide, mean, sd, cells=cells)


def _narrow(xp: ExtendedNamespace[A], mean: A, sd: A) -> A:
    """By Gumbel's distribution, averaged over the Gaussian."""
    y = xp.expand_dims(_apart(xp, mean, sd), axis=3)
    spread = xp.expand_dims(xp.expand_dims(sd, axis=2), axis=3)
    e = xp.exp(xp.minimum(spread * GAUSSIAN_POINTS - y, MAX_EXPONENT))
    gumbel = xp.exp(-e)
    return _largest(xp, xp.matmul(gumbel, GAUSSIAN_WEIGHTS), xp.matmul(e * gumbel, GAUSSIAN_WEIGHTS))


def _wide(xp: ExtendedNamespace[A], mean: A, sd: A) -> A:
    """By the Gaussian's, averaged over Gumbel's; the density up to sd sqrt(2 pi)."""
    y = xp.expand_dims(_apart(xp, mean, sd), axis=3)
    spread = xp.expand_dims(xp.expand_dims(xp.maximum(sd, NARROW_SD), axis=2), axis=3)
    z = (y - GUMBEL_POINTS) / spread
    density = xp.matmul(xp.exp(-0.5 * z * z), GUMBEL_WEIGHTS)
    return _largest(xp, xp.matmul(xp.ndtr(z), GUMBEL_WEIGHTS), density)


def _apart(xp: ExtendedNamespace[A], mean: A, sd: A) -> A:
    """The x of the integral less each mean, (N, K, n)."""
    unit = xp.sqrt(xp.square(sd) + GUMBEL_VARIANCE)
    x = xp.max(mean, axis=1, keepdims=True) + unit * PLACES
    return xp.expand_dims(x, axis=1) - xp.expand_dims(mean, axis=2)


def _largest(xp: ExtendedNamespace[A], share: A, density: A) -> A:
    """The probability that each is the greatest, (N, K), by F and p (N, K, n)."""
    logs = xp.log(xp.maximum(share, MIN_SHARE))
    whole = xp.exp(xp.sum(logs, axis=1, keepdims=True) - logs)
    alone = xp.maximum(xp.sum(density * whole, axis=2, keepdims=False), MIN_SHARE)
    return alone / xp.sum(alone, axis=1, keepdims=True)


MAX_STEPS = 60
SETTLED = 1e-12
"""Newton steps for the bound's own parameters, and the change of a probability at which they have converged."""

SHARES = tuple(0.5**k for k in range(20))
"""The shares of such a step that are tried, in this order, until the bound falls sufficiently."""


@dataclass(frozen=True)
class Categorical(ClassLikelihoodBase):
    """p(t = k | f) = softmax(f)_k, t in {0, ..., K - 1}: one latent a class, all with the same functions.

    The bound is the tilted one, E log sum exp f <= 1/2 v sum a_k^2 + log sum exp(m + (1 - 2a) v/2), the latents N(m_k,
    v) of a row having one variance, with a at its best, where a = softmax(m + (1 - 2a) v/2) [KNOWLES2011: Knowles &
    Minka, Non-conjugate variational message passing, NIPS 24]. `classes` is K, inferred from the target by default;
    `temperature` that of the probabilities: see `tempered`.
    """

    classes: int | None = None
    temperature: Temperature = "learned"
    type: Literal["categorical"] = "categorical"

    targets: ClassVar[Targets] = "class"
    max_latent_sd: ClassVar[float] = 40.0
    min_gain: ClassVar[float] = 0.1

    @property
    def latents(self) -> int:
        """K."""
        return self.classes or 2

    def check(self, t: Array) -> None:
        """Raise DataError unless t (N,) are numbers of classes, OneClassError unless there are two at least."""
        _check_classes(t, self.latents)

    def first(self, t: Array, v: Array) -> tuple[Array, Array]:
        """The initial latents (N, K) and variances (N,)."""
        return np.zeros((len(t), self.latents)), v

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log p(t_n | f_n), (N,), at latents f (N, K)."""
        _, total = _softmax_and_total(f)
        return np.asarray(_chosen(f, t) - total)

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """lam (N,) = mean_k p_k (1 - p_k), and g (N, K) = one-hot - p, at latents f (N, K)."""
        p, _ = _softmax_and_total(f)
        return _precision(p), self.certain(t) - p

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """ell, g (N, K) and lam (N,), the mean over classes, at latents N(f, v), f (N, K), v (N,)."""
        p, price = self.tilted(f, v)
        return Sites(_chosen(f, t) - price, self.certain(t) - p, _precision(p))

    def tilted(self, f: Array, v: Array) -> tuple[Array, Array]:
        """a (N, K), the probabilities at the best bound of E log sum exp, and that bound (N,).

        Newton's method, (I + v C) da = p - a with C = diag(p) - p p' solved by Sherman and Morrison, each row's step
        halved while its bound rises. Sums over few classes are fastest in arrays that are contiguous by class.
        """
        f, v = np.asfortranarray(f), v[:, None]
        a, _ = _softmax_and_total(f / np.sqrt(1.0 + 0.4 * v))

        def bounded(a: Array) -> tuple[Array, Array]:
            p, total = _softmax_and_total(f + (0.5 - a) * v)
            return p, 0.5 * (v * a * a).sum(axis=1) + total

        p, value = bounded(a)
        for _ in range(MAX_STEPS):
            left = p - a
            if float(np.abs(left).max(initial=0.0)) < SETTLED:
                break
            step = _implicit(p, v, left)
            predicted_rise = (v * left * step).sum(axis=1)
            share = np.ones(len(f))
            tried, there = bounded(a + step)
            for shorter in SHARES:
                worse = there > value - 1e-4 * share * predicted_rise + 1e-13 * (1.0 + np.abs(value))
                if not worse.any():
                    break
                share[worse] = shorter
                tried, there = bounded(a + share[:, None] * step)
            a, p, value = a + share[:, None] * step, tried, there
        return p, value

    def certain(self, t: Array) -> Array:
        """A one for each row's class, (N, K)."""
        return np.asfortranarray(indicators(t, self.latents))

    def precision_slope(self, t: Array, f: Array) -> Array:
        """d lam / d f (N, K)."""
        p, _ = _softmax_and_total(f)
        slopes = p * (1.0 - 2.0 * p)
        return np.asarray((slopes - p * slopes.sum(axis=1, keepdims=True)) / self.latents)

    def probabilities(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> A:
        """The softmax integrated over the Gaussians of the latents, at its temperature."""
        return tempered(xp, _softmax_integral(xp, mean, variance, self.latents), self.temperature)


def _check_classes(t: Array, classes: int) -> None:
    """Raise DataError unless t (N,) are numbers of so many classes, OneClassError unless there are two at least."""
    if not np.isin(t, np.arange(classes, dtype=np.float64)).all():
        raise DataError(f"expected classes 0.0 to {classes - 1:.1f} as targets")
    if np.all(t == t[0]):
        raise OneClassError(f"expected rows of several classes, got only class {t[0]:g}")


def indicators(t: Array, classes: int) -> Array:
    """A one for the class of each of t (N,), else zeros: (N, K)."""
    return np.asarray(np.equal.outer(t, np.arange(classes)), np.float64)


def _implicit(p: Array, v: Array, right: Array) -> Array:
    """(I + v C)^-1 right, (N, K), C = diag(p) - p p' of each row's p (N, K), v (N, 1)."""
    d = 1.0 / (1.0 + p * v)
    # 1 - v p'D^-1 p = sum p d, without cancellation.
    share = (p * v * d * right).sum(axis=1) / (p * d).sum(axis=1)
    return np.asarray(d * (right + p * share[:, None]))


def curved(p: Array, v: Array, direction: Array) -> Array:
    """(I + v C)^-1 C direction, (N, K): minus the second derivative of ell in f along a direction, a at its best."""
    return _implicit(p, v, p * (direction - (p * direction).sum(axis=1, keepdims=True)))


def _softmax_and_total(f: Array) -> tuple[Array, Array]:
    """Probabilities (N, K) and log sum exp (N,)."""
    top = f.max(axis=1, keepdims=True)
    e = np.exp(f - top)
    total = e.sum(axis=1, keepdims=True)
    return e / total, (np.log(total) + top)[:, 0]


def _chosen(f: Array, t: Array) -> Array:
    return np.take_along_axis(f, t.astype(np.intp)[:, None], axis=1)[:, 0]


def _precision(p: Array) -> Array:
    return np.asarray((p * (1.0 - p)).mean(axis=1))


@dataclass(frozen=True)
class BernoulliPerClass:
    """p(t = k) = p_k / sum_j p_j at temperature 1, p_k = E sigma(f_k) of the Bernoulli model of class k against all
    others, whose functions, scales and weights are its own [RASMUSSEN2006, section 6.5].

    `classes` is K, 3 at least, inferred from the target by default; `temperature` that of the probabilities: see
    `tempered`. The likelihood of the whole: each of the models has `member`.
    """

    __pydantic_config__ = {"extra": "forbid"}

    classes: int | None = None
    temperature: Temperature = "learned"
    type: Literal["bernoulli_per_class"] = "bernoulli_per_class"

    targets: ClassVar[Targets] = "class"
    noise_by_row: ClassVar[bool] = False
    is_conjugate: ClassVar[bool] = False
    has_target_units: ClassVar[bool] = False
    min_gain: ClassVar[float] = Bernoulli.min_gain
    member: ClassVar[Bernoulli] = Bernoulli()

    @property
    def latents(self) -> int:
        """K."""
        return self.classes or 2

    def check(self, t: Array) -> None:
        """Raise DataError unless t (N,) are numbers of classes, OneClassError unless there are two at least."""
        _check_classes(t, self.latents)

    def start(self, t: Array) -> tuple[float, float]:
        """There is no noise to learn."""
        return self.member.start(t)

    def noise(self, beta: ForRows) -> None:
        """There is none."""

    def probabilities(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> A:
        """Each sigmoid integrated over the Gaussian of its latent, and normalised: mean and variance (N, K)."""
        alone = xp.maximum(sigmoid_integral(xp, mean, variance), TINY)
        return tempered(xp, alone / xp.sum(alone, axis=1, keepdims=True), self.temperature)

    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> ClassPrediction:
        """The probabilities at `latent` (N, K), variances too."""
        return predicted(self, latent, noise_sd)


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
        _check_classes(t, self.latents)

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
