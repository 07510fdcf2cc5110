"""Models of one target that predict as one; predictions of one row; degrees of freedom.

[CAO2014] is Cao & Fleet, Generalized product of experts for automatic and principled fusion of Gaussian process
predictions, arXiv:1410.7827.

The figures are those of `Ready.predict` and `ReadyPool.predict` to about the twelfth digit: squared distances are
summed from differences, for any number of inputs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from relevance_bayes.core.basis import ConstantFunction, Functions, InputFunctions, KernelFunctions, evaluate
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.likelihoods import ClassLikelihood, GaussianNoise, TargetLikelihood, TransformedGaussian
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.models.classes import PerClass, ReadyPerClass
from relevance_bayes.core.models.hurdle import HurdleModel, ReadyHurdle
from relevance_bayes.core.models.local.model import LocalModel, ReadyLocal
from relevance_bayes.core.models.model import Model, variance_factor
from relevance_bayes.core.models.prediction import Ready
from relevance_bayes.core.types import Array


@dataclass(frozen=True, eq=False)
class Pool:
    """Models of one target under Gaussian noise, and the weights (K,) of their densities, which add to 1.

    Predictions are Student's t with `degrees_of_freedom`, Gaussian for None; those of the members are Gaussian.
    """

    members: tuple[Model, ...]
    weights: Array
    degrees_of_freedom: float | None = None

    @property
    def variance_factor(self) -> float:
        """The factor of the variances of predictions: see `variance_factor`."""
        return variance_factor(self.members[0].rows, self.degrees_of_freedom)


LearnedModel: TypeAlias = Model | Pool | PerClass | HurdleModel | LocalModel
"""The result of a fit: one model, several that predict together, or a process that predicts from neighbours."""


def members_of(model: LearnedModel) -> tuple[Model, ...]:
    """The sparse models that predict together, or the model alone; the trend of a local model, where it has one."""
    match model:
        case Model():
            return (model,)
        case LocalModel(trend=trend):
            return () if trend is None else (trend,)
        case _:
            return model.members


def representative(model: LearnedModel) -> Model | LocalModel:
    """The model whose `rows`, `candidates` and `termination` are those of the whole."""
    return model if isinstance(model, LocalModel) else members_of(model)[0]


def alone(model: LearnedModel) -> Model:
    """The model itself; raises SparseBayesError for a pool and the like."""
    if not isinstance(model, Model):
        raise SparseBayesError("expected one model, got several that predict together")
    return model


def likelihood_of(model: LearnedModel) -> TargetLikelihood:
    """The likelihood of the target; the members of a pool share it."""
    return model.members[0].likelihood if isinstance(model, Pool) else model.likelihood


def has_latent_per_class(model: LearnedModel) -> bool:
    """True where rows have a latent for each class, and not one alone."""
    return likelihood_of(model).latents > 1


def at_temperature(model: LearnedModel, temperature: float) -> LearnedModel:
    """A model of classes whose probabilities have another temperature; raises SparseBayesError for one of numbers."""
    if isinstance(model, PerClass):
        return replace(model, likelihood=replace(model.likelihood, temperature=temperature))
    single = alone(model)
    if not isinstance(single.likelihood, ClassLikelihood):
        raise SparseBayesError(f"expected classes, got {single.likelihood.type}")
    return replace(single, likelihood=replace(single.likelihood, temperature=temperature))


def degrees_of_freedom_of(model: LearnedModel) -> float | None:
    """The degrees of freedom of predictions that are Student's t by an integrated noise variance; None for others."""
    if isinstance(model, HurdleModel):
        return model.positive.degrees_of_freedom
    return model.degrees_of_freedom if isinstance(model, Model | Pool) else None


def n_functions(model: LearnedModel) -> int:
    """The number of a model's functions, summed over members, those of their log noise included."""
    return sum(member.size for member in members_of(model))


@dataclass(frozen=True, eq=False)
class ReadyPool:
    """A pool whose members are factorised for predictions."""

    members: tuple[Ready, ...]
    weights: Array
    degrees_of_freedom: float | None = None
    variance_factor: float = 1.0

    def predict(self, X: Array, noise_sd: Array | None = None) -> tuple[RealPrediction, Array | None]:
        """The predictive distribution at X (N, d), and its `support` (N,); see `Ready.predict`.

        1/v = sum_k w_k / v_k and m = sum_k r_k m_k, with the shares r_k = w_k v / v_k, which add to 1 [CAO2014, eq. 4].
        A part of the variance is v sum_k r_k part_k / v_k, so that the parts add to v. With `degrees_of_freedom` the
        product is that of all values of the common noise, integrated [THEORY 23], and v is times `variance_factor`.
        """
        found, supports = self.predictions(X, noise_sd)
        # (4, K, N): means, and the three parts of the variances.
        figures = np.array([[one.mean for one in found], *([getattr(one, name) for one in found] for name in PARTS)])
        variances = figures[1:].sum(axis=0)
        shares = self.shares(variances)
        mean = np.einsum("kn,kn->n", shares, figures[0])
        variance = 1.0 / np.einsum("k,kn->n", self.weights, 1.0 / variances)
        noise, weights, residual = variance * np.einsum("kn,pkn->pn", shares / variances, figures[1:])
        known = [support for support in supports if support is not None]
        support = np.einsum("kn,kn->n", shares, np.array(known)) if len(known) == len(supports) else None
        pooled = RealPrediction(mean, noise, weights, residual)
        if self.degrees_of_freedom is None:
            return pooled, support
        return pooled.integrated(self.variance_factor, self.degrees_of_freedom), support

    def predictions(self, X: Array, noise_sd: Array | None) -> tuple[list[RealPrediction], list[Array | None]]:
        """The predictions of the members at X (N, d), and their supports (N,)."""
        found, supports = list[RealPrediction](), list[Array | None]()
        for member in self.members:
            prediction, support = member.predict(X, noise_sd)
            if not isinstance(prediction, RealPrediction):
                raise SparseBayesError(f"expected Gaussian noise, got {member.model.likelihood.type}")
            found.append(prediction)
            supports.append(support)
        return found, supports

    def shares(self, variances: Array) -> Array:
        """The members' shares (K, N) in the mean, which add to 1, from their variances (K, N)."""
        precisions = self.weights[:, None] / variances
        return np.asarray(precisions / precisions.sum(axis=0))


PARTS = ("noise", "weights", "residual")

AnyReady: TypeAlias = Ready | ReadyPool | ReadyPerClass | ReadyHurdle | ReadyLocal


def ready_members(ready: AnyReady) -> tuple[Ready, ...]:
    """The models that predict together, or the model alone, each factorised for predictions."""
    return (ready,) if isinstance(ready, Ready) else ready.members


def ready_of(model: LearnedModel) -> AnyReady:
    """A model factorised for predictions; raises NotPositiveDefiniteError."""
    match model:
        case Model():
            return Ready.of(model)
        case Pool(members=members, weights=weights, degrees_of_freedom=tails):
            return ReadyPool(tuple(map(Ready.of, members)), weights, tails, model.variance_factor)
        case PerClass(members=members, likelihood=likelihood):
            return ReadyPerClass(tuple(map(Ready.of, members)), likelihood)
        case HurdleModel():
            return ReadyHurdle.of(model)
        case LocalModel():
            return ReadyLocal.of(model)


MAX_DEGREES_OF_FREEDOM = 400.0
"""Above it predictions are Gaussian: with the variance corrected, a 95 % interval of t is wider by less than 0.5 %."""

Learned = TypeVar("Learned", bound=LearnedModel)


def with_degrees_of_freedom(learned: Learned) -> Learned:
    """The model, or the pool, that predicts by Student's t, the noise variance integrated.

    It is the same model where its noise is not Gaussian, of one size and learned, and where more than
    MAX_DEGREES_OF_FREEDOM are left; of a hurdle it is that of positive targets. Raises NotPositiveDefiniteError.
    """
    match learned:
        case Model() if _has_learned_noise(learned):
            left = degrees_of_freedom(learned.rows, effective_functions(learned), is_exact=learned.is_exact)
            return learned if left is None else replace(learned, degrees_of_freedom=left)
        case Pool(members=members, weights=weights) if all(map(_has_learned_noise, members)):
            functions = float(weights @ np.array([*map(effective_functions, members)]))
            is_exact = all(member.is_exact for member in members)
            left = degrees_of_freedom(members[0].rows, functions, is_exact=is_exact)
            return learned if left is None else replace(learned, degrees_of_freedom=left)
        case HurdleModel(positive=positive):
            return replace(learned, positive=with_degrees_of_freedom(positive))
        case _:
            return learned


def degrees_of_freedom(rows: int, functions: float, *, is_exact: bool = False) -> float | None:
    """max(n - g - 1, 1) of n `rows`, at least two, with g effective `functions`, at least 1; None where it is large.

    An exact process may pass through its rows, which then determine no noise, and no prediction needs it. The share
    1 - g/n of the variance of a row given all others is noise. The rest is as certain as the signal variance, which
    has n - 1 degrees of freedom: the reciprocals of both are averaged.
    """
    left = max(rows - max(functions, 1.0) - 1.0, 1.0)
    if is_exact:
        noise = max(1.0 - functions / rows, 0.0)
        left = 1.0 / (noise / left + (1.0 - noise) / (rows - 1.0))
    return left if left <= MAX_DEGREES_OF_FREEDOM else None


def effective_functions(model: Model) -> float:
    """The effective number of functions: the sum over training rows of the variance by weights over the noise variance.

    It is R - trace(A Sigma), A the prior precision of the R weights, so that no row is needed; of an exact process
    N - trace(C^-1) / beta, of all its variance. Raises NotPositiveDefiniteError.
    """
    ready = Ready.of(model)
    if model.is_exact:
        return len(model.mean) - len(model.covariance) - float(ready.noise_shares.sum())
    prior, whitening = model.alpha * model.covariance.diagonal(), ready.whitening
    if whitening is None or model.signal_variance is None:
        return float(len(prior) - prior.sum())
    # A = E_mm / s of the kernel functions, which are first: E_mm = L L'.
    lower, m = whitening.lower, len(whitening.lower)
    kernel = float(np.vdot(lower, model.covariance[:m, :m] @ lower)) / model.signal_variance
    return float(len(prior) - kernel - prior[m:].sum())


def _has_learned_noise(model: Model) -> bool:
    """True where the noise is Gaussian, of the target or a function of it, of one size, and learned."""
    if model.log_noise is not None or model.mean.ndim > 1 or model.rows < 2 or not model.noise_sd:
        return False
    match model.likelihood:
        case GaussianNoise(noise_sd=noise):
            return noise == "learned"
        case likelihood:
            return isinstance(likelihood, TransformedGaussian)


class RowPrediction(NamedTuple):
    """N(mean, noise + weights + residual) at one row, and its support in [0, 1], None where the model has none."""

    mean: float
    noise: float
    weights: float
    residual: float
    support: float | None


OneRow: TypeAlias = Callable[[Array], RowPrediction]
"""The predictive distribution at a row x (d,) in encoded units."""


def one_row(ready: AnyReady) -> OneRow | None:
    """The predictive distribution of a model or a pool at one row; None but under Gaussian noise of one sd, for inputs
    without bounds."""
    match ready:
        case Ready(model=model) if isinstance(model.likelihood, GaussianNoise) and model.mean.ndim == 1:
            is_constant = model.log_noise is None and not model.likelihood.noise_by_row
            return (
                _corrected(_OfModel(ready), model.variance_factor)
                if is_constant and model.input_range is None
                else None
            )
        case ReadyPool(members=members):
            each = [member for ready_member in members if (member := one_row(ready_member)) is not None]
            return _corrected(_OfPool(ready, each), ready.variance_factor) if len(each) == len(members) else None
        case _:
            return None


def _corrected(found: OneRow, factor: float) -> OneRow:
    """With all parts of the variance times `factor`."""
    if factor == 1.0:
        return found

    def corrected(x: Array) -> RowPrediction:
        mean, noise, weights, residual, support = found(x)
        return RowPrediction(mean, factor * noise, factor * weights, factor * residual, support)

    return corrected


class _OfModel:
    """Of one model; see `Ready.latent`."""

    def __init__(self, ready: Ready) -> None:
        model = ready.model
        self._ready = ready
        self._products = ready.products
        self._after_spread = 1 + ready.root.shape[1]
        self._noise = 0.0 if model.noise_sd is None else model.noise_sd * model.noise_sd
        augmented = ready.augmented
        self._prior_variance = model.signal_variance if augmented is None else augmented.prior
        self._has_support = augmented is not None or (ready.whitening is not None and len(ready.whitening.lower) > 0)
        self._columns = np.ones((1, len(model.mean)))
        self._parts: list[tuple[int, int, Callable[[Array], Array]]] = []
        first = 0
        for functions in model.functions:
            stop = first + functions.size
            if not isinstance(functions, ConstantFunction):
                self._parts.append((first, stop, _part(functions)))
            first = stop

    def __call__(self, x: Array) -> RowPrediction:
        columns = self._columns.copy()
        for first, stop, part in self._parts:
            columns[0, first:stop] = part(x)
        found = (columns @ self._products)[0]
        spread = found[1 : self._after_spread]
        mean, weights = found.item(0), (spread @ spread).item()
        if self._prior_variance is None:
            return RowPrediction(mean, self._noise, weights, 0.0, None)
        ready, left = self._ready, 1.0
        if ready.whitening is not None:
            whitened = found[self._after_spread :]
            if ready.is_exact:
                whitened = ready.refined(columns, whitened[None])[0]
            left = max(1.0 - (whitened @ whitened).item(), 0.0)
        elif ready.augmented is not None:
            left = ready.augmented.left(x[None], columns).item()
        support = max(1.0 - left, 0.0) if self._has_support else None
        return RowPrediction(mean, self._noise, weights, self._prior_variance * left, support)


def _part(functions: Functions) -> Callable[[Array], Array]:
    """The functions (M,) of a dictionary at a row x (d,)."""
    if isinstance(functions, KernelFunctions) and functions.size and isinstance(functions.kernel, Radial):
        kernel, bend = functions.kernel, functions.input_map
        centres = bend(functions.centres)

        def radial(x: Array) -> Array:
            differences = centres - bend(x)
            return kernel.evaluated(np.vecdot(differences, differences))

        return radial
    if isinstance(functions, InputFunctions):
        return itemgetter(functions.columns)
    return lambda x: evaluate((functions,), x[None])[0]


class _OfPool:
    """Of several models together; see `ReadyPool.predict`."""

    def __init__(self, ready: ReadyPool, members: list[OneRow]) -> None:
        self._members = members
        self._weights: list[float] = ready.weights.tolist()

    def __call__(self, x: Array) -> RowPrediction:
        found = [member(x) for member in self._members]
        variances = [one.noise + one.weights + one.residual for one in found]
        precisions = [weight / variance for weight, variance in zip(self._weights, variances, strict=True)]
        variance = 1.0 / sum(precisions)
        shares = [precision * variance for precision in precisions]
        by_variance = [share / own for share, own in zip(shares, variances, strict=True)]
        mean, support, *parts = 0.0, 0.0, 0.0, 0.0, 0.0
        is_known = True
        for one, share, part in zip(found, shares, by_variance, strict=True):
            mean += share * one.mean
            parts = [total + part * own for total, own in zip(parts, one[1:4], strict=True)]
            is_known = is_known and one.support is not None
            support += share * (one.support or 0.0)
        noise, weights, residual = (variance * part for part in parts)
        return RowPrediction(mean, noise, weights, residual, support if is_known else None)
