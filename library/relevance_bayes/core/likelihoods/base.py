"""A likelihood of targets, and the predictive distributions that likelihoods give."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from math import inf, log
from statistics import NormalDist
from typing import ClassVar, Literal, Protocol, Self

import numpy as np
import scipy

from relevance_bayes.core.errors import ConstantTargetError, DataError
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.tracing import A, ExtendedNamespace, Namespace
from relevance_bayes.core.types import Array, ForRows


@dataclass(frozen=True, eq=False)
class LatentGaussian:
    """The latent at N points, N(mean, weights + residual), each (N,).

    `weights` is the variance by the uncertainty of the weights, `residual` that of the process outside the functions in
    the model, or of the augmenting function under an independent prior. `support` (N,), in [0, 1], is the share of the
    prior variance at a point that the data explain; None where that is not known.
    """

    mean: Array
    weights: Array
    residual: Array
    support: Array | None = None

    @classmethod
    def of_each(cls, latents: "Sequence[LatentGaussian]") -> "LatentGaussian":
        """Those of one model for each class as columns, (N, K), their support the mean over the models that have one;
        that of a single model itself."""
        if len(latents) == 1:
            return latents[0]
        known = [one.support for one in latents if one.support is not None]
        return cls(
            np.column_stack([one.mean for one in latents]),
            np.column_stack([one.weights for one in latents]),
            np.column_stack([one.residual for one in latents]),
            np.asarray(np.mean(known, axis=0)) if known else None,
        )

    @property
    def variance(self) -> Array:
        """The sum of both parts, (N,)."""
        return self.weights + self.residual


@dataclass(frozen=True, eq=False)
class NumberPrediction(ABC):
    """Predictions of N numbers, each (N,): the mean, and the variance's three parts.

    `noise` is the variance of a new observation about the function; `weights` and `residual` follow from the two parts
    of the latent's variance.
    """

    mean: Array
    noise: Array
    weights: Array
    residual: Array

    @property
    def variance(self) -> Array:
        """The total variance, (N,)."""
        return self.noise + self.weights + self.residual

    @abstractmethod
    def quantile(self, probability: float) -> Array:
        """The quantile of a new observation at this probability, in (0, 1): (N,)."""

    def interval(self, probability: float) -> tuple[Array, Array]:
        """The central interval of this probability: two quantiles, each (N,)."""
        below = (1.0 - probability) / 2.0
        return self.quantile(below), self.quantile(1.0 - below)

    @abstractmethod
    def log_density(self, t: Array) -> Array:
        """Log density, or probability where t counts, of each target t (N,), in nats."""

    @abstractmethod
    def distribution(self, t: Array) -> tuple[Array, Array]:
        """The probabilities that a new observation is below t, and that it is not above t (N,): each (N,).

        They differ for counts only.
        """


@dataclass(frozen=True, eq=False)
class ClassPrediction:
    """Predictions of N points: `probabilities` (N, K) of the K classes, the latent's variance integrated.

    `latent_mean` and `latent_variance` are (N,) for two classes, of the latent of the second.
    """

    probabilities: Array
    latent_mean: Array
    latent_variance: Array

    @property
    def probability(self) -> Array:
        """The probability of the last class, which of two is class 1: (N,)."""
        return self.probabilities[:, -1]

    def log_density(self, t: Array) -> Array:
        """Log probability of each class t (N,), 0.0 to K - 1, in nats."""
        chosen = np.take_along_axis(self.probabilities, t.astype(np.intp)[:, None], axis=1)[:, 0]
        return np.log(np.maximum(chosen, np.finfo(float).tiny))


Prediction = NumberPrediction | ClassPrediction


NODES = 40
"""Points of Gauss-Hermite quadrature for expectations under the Gaussian of a latent."""

POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(NODES)
WEIGHTS = WEIGHTS / WEIGHTS.sum()

UPPER = NormalDist().inv_cdf(0.975)
"""The upper limit of the central 95 % of a normal variable, in its sds."""

Targets = Literal["real", "positive", "share", "count", "amount", "square", "class"]
"""The kinds of targets: any number, above 0, between 0 and 1, whole from 0, from 0 with many zeros, from 0, or the
number of a class."""


@dataclass(frozen=True)
class ShapeParameter:
    """A parameter above 0 of a likelihood, a field of this `name`: "learned" by evidence within bounds, or given."""

    name: str
    first: float
    min_value: float
    max_value: float

    def of(self, likelihood: object) -> float | None:
        """The value that is given or learned; None before."""
        value: object = getattr(likelihood, self.name)
        return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True, eq=False)
class Sites:
    """At latents N(f, v), each (N,): `value` ell = E log p(t | f), `gradient` d ell/df and `precision` -2 d ell/dv.

    `noise_slope` and `noise_curvature` are the sums over rows of the first and second derivative of ell in log beta.
    """

    value: Array
    gradient: Array
    precision: Array
    noise_slope: float = 0.0
    noise_curvature: float = 0.0


class LikelihoodBase(ABC):
    """p(t | f): a frozen dataclass whose field `type` has its name as the default.

    A likelihood defines `log_density`, `sites` and `predictive`; all else has a default, which closed forms and
    other flags override. Its docstring is its description in the API.
    """

    __pydantic_config__ = {"extra": "forbid"}

    targets: ClassVar[Targets]

    is_conjugate: ClassVar[bool] = False
    """True where the sites don't depend on f, so that the evidence has a closed form."""

    has_constant_precision: ClassVar[bool] = False
    """True where the precisions are known up to the factor beta, so that sums over rows are computed only once."""

    is_log_concave: ClassVar[bool] = False
    """True where there is one mode, and Laplace's approximation about it; else the evidence is a lower bound."""

    has_target_units: ClassVar[bool] = False
    """True where the latent has the targets' units, with noise, so that a row determines it well."""

    has_input_range: ClassVar[bool] = False
    """True where f is the logarithm or the logit of a mean: models are then evaluated within an `InputRange`."""

    max_latent_sd: ClassVar[float] = inf
    """The largest prior sd of one function, where the data can't bound it."""

    min_gain: ClassVar[float] = 1.0
    """The least gain of a function, in nats, where the prior has none."""

    shape: ClassVar[ShapeParameter | None] = None
    """The parameter that `tuned` learns."""

    @property
    @abstractmethod
    def type(self) -> str:
        """The name in the API and in documents."""

    @property
    def latents(self) -> int:
        """The number of latents of a row; where they are K, f is (N, K), and so may the working targets be."""
        return 1

    @property
    def noise_by_row(self) -> bool:
        """True where each row's noise is known and comes with the row."""
        return False

    def check(self, t: Array) -> None:
        """Raise DataError unless t (N,) are such `targets`, and not all the same where there is nothing to learn."""
        if self.targets == "count":
            if not (t >= 0.0).all() or not np.array_equal(t, np.round(t)):
                raise DataError("expected counts as targets: whole numbers from 0")
            if not t.any():
                raise ConstantTargetError("expected some counts above 0, all are 0")
            return
        if self.targets == "positive" and not (t > 0.0).all():
            raise DataError(f"expected targets above 0, got {t.min():g}")
        if self.targets == "share" and not ((t > 0.0) & (t < 1.0)).all():
            raise DataError(f"expected targets between 0 and 1, got {t.min():g} to {t.max():g}")
        if np.all(t == t[0]):
            raise ConstantTargetError(f"expected targets that differ, all are {t[0]:g}")

    def working(self, t: Array) -> tuple[Array, float]:
        """The targets that all other methods take, and the log Jacobian that the evidence of t adds: t itself, and
        0."""
        return t, 0.0

    def start(self, t: Array) -> tuple[float, float]:
        """The noise precision beta to begin with, and its maximum, of t (N,); 1 and 1 where no noise is learned."""
        return 1.0, 1.0

    def first(self, t: Array, v: Array) -> tuple[Array, Array]:
        """The initial latents (N,) and variances (N,) of an iteration over sites.

        Of counts their logarithms: from 0 the first step would be far too long.
        """
        if self.targets == "count":
            return np.log(t + 0.5), np.zeros(len(t))
        return np.zeros(len(t)), v

    def tuned(self, t: Array, f: Array, v: Array, beta: ForRows) -> Self:
        """The likelihood with the `shape` that maximises the sum of ell at latents N(f, v)."""
        shape = self.shape
        if shape is None or shape.of(self) is not None:
            return self

        def loss(log_shape: float) -> float:
            return -float(self.with_shape(np.exp(log_shape)).expected(t, f, v, beta).value.sum())

        bounds = log(shape.min_value), log(shape.max_value)
        found = scipy.optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-6})
        return self.with_shape(float(np.exp(found.x)))

    @property
    def shape_or_first(self) -> float:
        """The `shape` that is given or learned; before that, its initial value."""
        assert self.shape is not None, f"expected {self.type} to have a shape"
        value = self.shape.of(self)
        return self.shape.first if value is None else value

    def with_shape(self, value: float) -> Self:
        """The likelihood with this value of the `shape`."""
        made = copy(self)
        if self.shape is not None:
            object.__setattr__(made, self.shape.name, float(value))  # as `replace` does
        return made

    def noise(self, beta: ForRows) -> float | None:
        """The noise sd of a precision; None where there is no noise."""
        return None

    @abstractmethod
    def log_density(self, t: Array, f: Array, beta: ForRows) -> Array:
        """log p(t_n | f_n), (N,); t and f broadcast."""

    @abstractmethod
    def sites(self, t: Array, f: Array, beta: ForRows) -> tuple[Array, Array]:
        """Precision lam and gradient g: minus the second and the first derivative of log p in f; t and f broadcast."""

    def expected(self, t: Array, f: Array, v: Array, beta: ForRows) -> Sites:
        """ell = E log p, g = E g and lam = E lam under N(f, v), each (N,), by quadrature."""
        latent, targets = f[:, None] + np.sqrt(v)[:, None] * POINTS, t[:, None]
        precision, gradient = self.sites(targets, latent, beta)
        return Sites(self.log_density(targets, latent, beta) @ WEIGHTS, gradient @ WEIGHTS, precision @ WEIGHTS)

    def precision_slope(self, t: Array, f: Array) -> Array:
        """d lam / d f of `sites` at beta = 1, (N,), by central differences of the fourth order."""
        if self.is_conjugate:
            return np.zeros(len(t))
        step = 1e-3
        near, far = (self.sites(t, f + k * step, 1.0)[0] - self.sites(t, f - k * step, 1.0)[0] for k in (1.0, 2.0))
        return np.asarray((8.0 * near - far) / (12.0 * step))

    @abstractmethod
    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> Prediction:
        """The distribution of a new observation where the latent is N(mean, variance)."""


class NumberLikelihood(LikelihoodBase):
    """A likelihood of numbers; it defines the moments of its predictions as a formula, beside `predictive`."""

    @abstractmethod
    def moments(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> tuple[A, A, A]:
        """E t, E Var(t | f) and Var E(t | f) where the latent is N(mean, variance) and the noise has this variance."""

    def ends(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A, z: float) -> tuple[A, A] | None:
        """The quantiles of t at -z and z standard normal sds, where they have a formula."""
        return None

    @abstractmethod
    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> NumberPrediction: ...


class PredictsClasses(Protocol):
    """The base of the likelihoods of classes: `probabilities`."""

    def probabilities(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> A:
        """The probabilities (N, K) of the K classes where the latents are N(mean, variance).

        `mean` is (N, 1) where a row has one latent, else (N, K); `variance` (N, 1), or (N, K) where each latent has its
        own; `noise` (N, 1), the noise's variance, 0 where there is none.
        """
        ...


class ClassLikelihoodBase(LikelihoodBase):
    """A likelihood of classes; it defines the probabilities as a formula, in place of `predictive`."""

    @abstractmethod
    def probabilities(self, xp: ExtendedNamespace[A], mean: A, variance: A, noise: A) -> A:
        """See `PredictsClasses`."""

    def predictive(self, latent: LatentGaussian, noise_sd: ForRows | None) -> ClassPrediction:
        """The probabilities, the latent's variance integrated."""
        return predicted(self, latent, noise_sd)


def predicted(likelihood: PredictsClasses, latent: LatentGaussian, noise_sd: ForRows | None) -> ClassPrediction:
    """The prediction of a likelihood of classes at N latents."""
    variance = latent.variance
    noise = np.empty((len(latent.mean), 1))
    noise[:, 0] = np.square(0.0 if noise_sd is None else noise_sd)
    probabilities = likelihood.probabilities(NUMPY, _columns(latent.mean), _columns(variance), noise)
    return ClassPrediction(probabilities, latent.mean, variance)


def _columns(values: Array) -> Array:
    return values[:, None] if values.ndim == 1 else values


def log_of_mean(xp: Namespace[A], mean: A, variance: A) -> A:
    """log E e^f under N(mean, variance), mean + variance/2; at most the 97.5 % quantile of f, mean + 1.96 sd.

    The two are equal at an sd of 3.92. From there on the greatest 2.5 % of f make 97.5 % of E e^f or more, which grows
    without a bound while the median stays [THEORY 15].
    """
    return mean + xp.minimum(0.5 * variance, UPPER * xp.sqrt(variance))
