"""K classes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from relevance_bayes.core.errors import DataError, OneClassError
from relevance_bayes.core.likelihoods.base import ClassLikelihoodBase, Sites, Targets
from relevance_bayes.core.likelihoods.integrated_softmax import softmax_integral
from relevance_bayes.core.likelihoods.temperature import Temperature, tempered
from relevance_bayes.core.tracing import A, ExtendedNamespace
from relevance_bayes.core.types import Array, ForRows

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
        check_classes(t, self.latents)

    def first(self, t: Array, v: Array) -> tuple[Array, Array]:
        """The initial latents (N, K) and variances (N,)."""
        return np.zeros((len(t), self.latents)), v

    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log p(t_n | f_n), (N,), at latents f (N, K)."""
        _, total = softmax(f)
        return np.asarray(_chosen(f, t) - total)

    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """lam (N,) = mean_k p_k (1 - p_k), and g (N, K) = one-hot - p, at latents f (N, K)."""
        p, _ = softmax(f)
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
        a, _ = softmax(f / np.sqrt(1.0 + 0.4 * v))

        def bounded(a: Array) -> tuple[Array, Array]:
            p, total = softmax(f + (0.5 - a) * v)
            return p, 0.5 * (v * a * a).sum(axis=1) + total

        p, value = bounded(a)
        for _ in range(MAX_STEPS):
            left = p - a
            if float(np.abs(left).max(initial=0.0)) < SETTLED:
                break
            step = implicit(p, v, left)
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
        p, _ = softmax(f)
        slopes = p * (1.0 - 2.0 * p)
        return np.asarray((slopes - p * slopes.sum(axis=1, keepdims=True)) / self.latents)

    def probabilities(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> A:
        """The softmax integrated over the Gaussians of the latents, at its temperature."""
        return tempered(xp, softmax_integral(xp, mean, variance, self.latents), self.temperature)


def check_classes(t: Array, classes: int) -> None:
    """Raise DataError unless t (N,) are numbers of so many classes, OneClassError unless there are two at least."""
    if not np.isin(t, np.arange(classes, dtype=np.float64)).all():
        raise DataError(f"expected classes 0.0 to {classes - 1:.1f} as targets")
    if np.all(t == t[0]):
        raise OneClassError(f"expected rows of several classes, got only class {t[0]:g}")


def indicators(t: Array, classes: int) -> Array:
    """A one for the class of each of t (N,), else zeros: (N, K)."""
    return np.asarray(np.equal.outer(t, np.arange(classes)), np.float64)


def implicit(p: Array, v: Array, right: Array) -> Array:
    """(I + v C)^-1 right, (N, K), C = diag(p) - p p' of each row's p (N, K), v (N, 1)."""
    d = 1.0 / (1.0 + p * v)
    # 1 - v p'D^-1 p = sum p d, without cancellation.
    share = (p * v * d * right).sum(axis=1) / (p * d).sum(axis=1)
    return np.asarray(d * (right + p * share[:, None]))


def curved(p: Array, v: Array, direction: Array) -> Array:
    """(I + v C)^-1 C direction, (N, K): minus the second derivative of ell in f along a direction, a at its best."""
    return implicit(p, v, p * (direction - (p * direction).sum(axis=1, keepdims=True)))


def softmax(f: Array) -> tuple[Array, Array]:
    """Probabilities (N, K) and log sum exp (N,)."""
    top = f.max(axis=1, keepdims=True)
    e = np.exp(f - top)
    total = e.sum(axis=1, keepdims=True)
    return e / total, (np.log(total) + top)[:, 0]


def _chosen(f: Array, t: Array) -> Array:
    return np.take_along_axis(f, t.astype(np.intp)[:, None], axis=1)[:, 0]


def _precision(p: Array) -> Array:
    return np.asarray((p * (1.0 - p)).mean(axis=1))
