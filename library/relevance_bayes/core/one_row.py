"""Predictions under Gaussian noise at one row, in scalars: for so few numbers calls of numpy cost more than the
arithmetic.

The figures are those of `Ready.predict` and `ReadyPool.predict` to about the twelfth digit: squared distances are
summed from differences, for any number of inputs.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from relevance_bayes.core.basis import ConstantFunction, Functions, KernelFunctions, evaluate
from relevance_bayes.core.kernels.radial import Radial
from relevance_bayes.core.likelihoods.gaussian import GaussianNoise
from relevance_bayes.core.pool import AnyReady, ReadyPool
from relevance_bayes.core.prediction import Ready
from relevance_bayes.core.types import Array


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
    """The predictive distribution of a model or a pool at one row; None but under Gaussian noise of one sd."""
    match ready:
        case Ready(model=model) if isinstance(model.likelihood, GaussianNoise) and model.mean.ndim == 1:
            is_constant = model.log_noise is None and not model.likelihood.noise_by_row
            return _OfModel(ready) if is_constant else None
        case ReadyPool(members=members):
            each = [member for ready_member in members if (member := one_row(ready_member)) is not None]
            return _OfPool(ready, each) if len(each) == len(members) else None
        case _:
            return None


class _OfModel:
    """Of one model; see `Ready.latent`."""

    def __init__(self, ready: Ready) -> None:
        model = ready.model
        self._ready = ready
        self._products = ready.products
        self._after_spread = 1 + len(model.mean)
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
            left = max(1.0 - (whitened @ whitened).item(), 0.0)
        elif ready.augmented is not None:
            left = ready.augmented.left(x[None], columns).item()
        support = max(1.0 - left, 0.0) if self._has_support else None
        return RowPrediction(mean, self._noise, weights, self._prior_variance * left, support)


def _part(functions: Functions) -> Callable[[Array], Array]:
    """The functions (M,) of a dictionary at a row x (d,)."""
    if isinstance(functions, KernelFunctions) and functions.size and isinstance(functions.kernel, Radial):
        kernel, bend = functions.kernel, functions.input_map
        if bend.skew is None and bend.tail is None:
            widths, centres = bend.widths, bend(functions.centres)

            def radial(x: Array) -> Array:
                differences = centres - x / widths
                return kernel.evaluated(np.vecdot(differences, differences))

            return radial
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
