"""The hyperparameters of a process: the widths of its input map, the terms of an additive kernel, precisions.

[SNOEK2014] is Snoek, Swersky, Zemel & Adams, Input warping for Bayesian optimization, ICML 31.
"""

from dataclasses import dataclass, field
from functools import cached_property
from math import log
from typing import Literal

import numpy as np

from relevance_bayes.core.kernels import Additive, Covariance
from relevance_bayes.core.linalg import squared_distances
from relevance_bayes.core.types import Array, Mask


@dataclass(frozen=True)
class FixedWidth:
    """The papers' r, given: one above 0 for all inputs, or one for each, in their order."""

    __pydantic_config__ = {"extra": "forbid"}

    value: float | tuple[float, ...]
    type: Literal["fixed"] = "fixed"

    @property
    def each(self) -> tuple[float, ...]:
        """The widths as a tuple."""
        return self.value if isinstance(self.value, tuple) else (self.value,)


@dataclass(frozen=True)
class CrossValidationWidth:
    """The width of greatest predictive log density over `folds` folds, everything refitted in each."""

    __pydantic_config__ = {"extra": "forbid"}

    folds: int = field(default=5, metadata={"ge": 2, "le": 20})
    type: Literal["cross_validation"] = "cross_validation"


@dataclass(frozen=True)
class EvidenceWidth:
    """The width of greatest marginal likelihood over the same bounded range.

    Keeps too many functions on noisy data [THEORY 5].
    """

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["evidence"] = "evidence"


@dataclass(frozen=True)
class EvidencePerInputWidth:
    """A width for each input, by evidence: automatic relevance determination.

    With `shrinkage` above 0 the log widths have a normal hyperprior of that precision about a common width, which is
    free: -shrinkage/2 sum (log r_k - mean log r)^2 nats, r in units of the inputs' standard deviations. It prevents
    overfitting many widths to few rows.
    """

    __pydantic_config__ = {"extra": "forbid"}

    shrinkage: float = field(default=0.0, metadata={"ge": 0, "allow_inf_nan": False})
    type: Literal["evidence_per_input"] = "evidence_per_input"


SHRINKAGE = 1.0
"""The precision of the hyperprior that shrinks the log widths of several inputs to a common one.

Free widths overfit few rows of many inputs: log loss of one table .61, with one width .38, with such ones .35; .39
where the precision is 4, .48 where it is 1/4.
"""


@dataclass(frozen=True)
class InheritedWidth:
    """The widths, warps and terms that another fit of the same kernel found: those of the best before it."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["inherited"] = "inherited"


Width = FixedWidth | CrossValidationWidth | EvidenceWidth | EvidencePerInputWidth
"""The methods that a request may name."""


@dataclass(frozen=True)
class Learning:
    """The part of the input map that the algorithm itself learns: no width, one for all inputs or each; the warps or
    not.

    `additive`: and which inputs have a term of their own. `shrinkage` is the precision of the hyperprior that shrinks
    the widths of several inputs to a common one.
    """

    widths: Literal["none", "one", "each"] = "none"
    warp: bool = False
    additive: bool = False
    shrinkage: float = 0.0


@dataclass(frozen=True, eq=False)
class MapGradient:
    """The gradient of a number with respect to an InputMap: None for what the map does not have.

    `log_widths` is shaped as the map's widths, `skew` and `tail` are (d,).
    """

    log_widths: Array
    skew: Array | None
    tail: Array | None


@dataclass(frozen=True, eq=False)
class InputMap:
    """u_k = w_k(x_k) / width_k: the frozen map from inputs X (N, d) to the kernels' U (N, d).

    w(x) = (sinh q + sinh a) / (b cosh a), q = b asinh x - a, b = e^l, bends inputs that are standardised: monotone, of
    slope 1 at w(0) = 0, |x|^b in the tails, the identity at a = l = 0. Warps as part of a kernel: [SNOEK2014].

    Finite while b asinh |x| + |a| is at most 700: for l = 2 and |a| <= 10 up to |x| = 1e40.

    `widths` (d,) are the papers' r, or (1,): one for all inputs; `skew` a (d,) and `tail` l (d,), None for zeros.
    """

    widths: Array
    skew: Array | None = None
    tail: Array | None = None

    @classmethod
    def isotropic(cls, width: float) -> "InputMap":
        """u = x / width."""
        return cls(np.array([width]))

    def __call__(self, X: Array) -> Array:
        """U (N, d)."""
        if self.skew is None and self.tail is None:
            return X / self.widths
        a, _, half_b, bend = self._warp
        return _warped(half_b * np.arcsinh(X), a, bend) / self.widths

    def inverse(self, U: Array) -> Array:
        """X (N, d) with this map at U (N, d): x = sinh((q + a)/b), q = asinh(u b cosh a width - sinh a)."""
        W = U * self.widths
        if self.skew is None and self.tail is None:
            return W
        a, b, _, bend = self._warp
        return np.sinh((np.arcsinh(W * bend - np.sinh(a)) + a) / b)

    def pull(self, X: Array, dU: Array) -> MapGradient:
        """The gradient of L from dL/dU (N, d) at X (N, d).

        du/dlog width = -u and du/dl = cosh q asinh x / (width cosh a) - u. The difference in du/da =
        (cosh a - cosh q) / (width b cosh a) - u tanh a is taken in closed form: -2 (sinh(p/2) / cosh a)^2 / (width b),
        p = b asinh x.
        """
        U, skew, tail = self._with_slopes(X)
        return MapGradient(
            self._widths_gradient(U, dU),
            None if skew is None else np.einsum("nd,nd->d", dU, skew),
            None if tail is None else np.einsum("nd,nd->d", dU, tail),
        )

    def warp_slopes(self, X: Array) -> tuple[Array | None, Array | None]:
        """du/da and du/dl, each (N, d), at X (N, d); None for a warp that the map does not have."""
        return self._with_slopes(X)[1:]

    def _with_slopes(self, X: Array) -> tuple[Array, Array | None, Array | None]:
        """U, du/da and du/dl, each (N, d), whose hyperbolic functions are the same."""
        if self.skew is None and self.tail is None:
            return X / self.widths, None, None
        a, b, half_b, bend = self._warp
        half = half_b * np.arcsinh(X)
        rising = np.sinh(half)
        U = 2.0 * rising * np.cosh(half - a) / bend / self.widths
        skew = tail = None
        if self.skew is not None:
            skew = np.square(rising / np.cosh(a)) * (-2.0 / (b * self.widths))
        if self.tail is not None:
            tail = np.cosh(2.0 * half - a) * (2.0 * half / b) / (np.cosh(a) * self.widths) - U
        return U, skew, tail

    def _widths_gradient(self, U: Array, dU: Array) -> Array:
        each: Array = -np.einsum("nd,nd->d", dU, U)
        return each if len(self.widths) == len(each) else each.sum(keepdims=True)

    @cached_property
    def _warp(self) -> tuple[Array, Array, Array, Array]:
        """a, b, b/2 and b cosh a, each (d,) or, where there is no such warp, (1,)."""
        none = np.zeros(1)
        a = none if self.skew is None else self.skew
        b = np.exp(none if self.tail is None else self.tail)
        return a, b, 0.5 * b, b * np.cosh(a)


def _warped(half: Array, a: Array, bend: Array) -> Array:
    """w = 2 sinh(p/2) cosh(p/2 - a) / (b cosh a), p/2 = b asinh(x)/2 (N, d), bend = b cosh a (d,).

    The sum as a product, without cancellation.
    """
    return 2.0 * np.sinh(half) * np.cosh(half - a) / bend


MAX_ROWS_MEASURED = 1_000
"""Rows whose distances are measured for the range of widths."""


WIDEST = 2.0
"""The widest width of a search in diameters of the data. A nearly linear function is a sum of few kernels much wider
than the data, which cancel: Friedman 2's error is .91 of an SVM's, 1.18 up to one diameter."""


def width_range(X: Array) -> tuple[float, float]:
    """The range of widths to search for X (N, d).

    From the median distance to the third nearest neighbour up to WIDEST diameters [THEORY 5]. Equal rows count once;
    (1, 1) where all rows are equal.
    """
    distinct = np.unique(X, axis=0)
    distinct = distinct[:: -(-len(distinct) // MAX_ROWS_MEASURED)]
    if len(distinct) < 2:
        return 1.0, 1.0
    distances = np.sort(np.sqrt(squared_distances(distinct, distinct)), axis=1)
    nearest = float(np.median(distances[:, min(3, len(distinct) - 1)]))
    return nearest, max(WIDEST * float(distances[:, -1].max()), nearest)


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


WARP_SCALE = 0.2
"""Scale of the Cauchy prior on the warps: it shrinks irrelevant warps to 0 [THEORY 10]."""

INPUT_PRICE = 2.0
"""Nats per unit of sqrt(eta) = 1/width."""


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """beta, the process's variance s, the precisions alpha (F,) of the columns without kernel, and the input map.

    `terms` are the inputs that have a term of their own. `jitter` is added to the diagonal of the kernel
    matrix of few functions, None for JITTER; it is not learned.
    """

    beta: float
    signal_variance: float
    alpha: Array
    input_map: InputMap
    terms: Terms = field(default_factory=Terms)
    jitter: float | None = None

    def packed(self) -> Array:
        """theta = [log beta, log s, log alpha (F,), log widths (k,), skew (d,), tail (d,), logits (a,)].

        No warp, or no terms, no entries.
        """
        scales = self.input_map
        warp = [part for part in (scales.skew, scales.tail) if part is not None]
        head = np.log(np.concatenate([[self.beta, self.signal_variance], self.alpha, scales.widths]))
        return np.concatenate([head, *warp, self.terms.logits])

    def unpacked(self, theta: Array) -> "Hyperparameters":
        """The hyperparameters of another theta (p,), of the same parts."""
        F, k = len(self.alpha), len(self.input_map.widths)
        last = len(theta) - len(self.terms.alone)
        head, warp, terms = np.exp(theta[: 2 + F + k]), theta[2 + F + k : last], Terms(self.terms.alone, theta[last:])
        d = len(warp) // 2
        scales = InputMap(head[2 + F :]) if d == 0 else InputMap(head[2 + F :], warp[:d], warp[d:])
        return Hyperparameters(float(head[0]), float(head[1]), head[2 : 2 + F], scales, terms, self.jitter)

    def covariance(self, kernel: Covariance) -> Covariance | Additive:
        """Of the process over its variance, made of a kernel."""
        return self.terms.of(kernel)

    def free(self, *, noise: bool, widths: bool) -> Mask:
        """True at the entries (p,) of theta that may move."""
        F, k = len(self.alpha), len(self.input_map.widths)
        moves = np.ones(len(self.packed()), np.bool_)
        moves[0] = noise
        moves[2 + F : 2 + F + k] = widths
        return moves

    def log_prior(self) -> tuple[float, Array]:
        """-2 sum 1/width - sum log(1 + (a/.2)^2) - sum log(1 + (l/.2)^2) - 1/2 sum (logit/3)^2.

        With its gradient (p,) in theta.
        """
        scales = self.input_map
        price = INPUT_PRICE / scales.widths
        value, parts = -float(price.sum()), [np.zeros(2 + len(self.alpha)), price]
        for warp in (scales.skew, scales.tail):
            if warp is not None:
                value -= float(np.log1p((warp / WARP_SCALE) ** 2).sum())
                parts.append(-2.0 * warp / (WARP_SCALE**2 + warp**2))
        of_terms, slope = self.terms.log_prior()
        return value + of_terms, np.concatenate([*parts, slope])

    def common_width(self, spread: Array, shrinkage: float) -> tuple[float, Array]:
        """-1/2 shrinkage sum (log r_k - mean log r)^2, widths in units of the inputs' sds, with its gradient.

        `spread` (d,) are these sds. The log widths are normal about a common one, which is free.
        """
        F, k = len(self.alpha), len(self.input_map.widths)
        slope = np.zeros(len(self.packed()))
        if k == 1:
            return 0.0, slope
        logs = np.log(self.input_map.widths / spread)
        off = logs - logs.mean()
        slope[2 + F : 2 + F + k] = -shrinkage * off
        return -0.5 * shrinkage * float(off @ off), slope


def packed_gradient(
    log_beta: float, log_signal_variance: float, log_alpha: Array, scales: MapGradient, logits: Array
) -> Array:
    """A gradient (p,) in theta from its parts: those of `log_alpha` (F,), the input map and the logits (a,)."""
    warp = [part for part in (scales.skew, scales.tail) if part is not None]
    return np.concatenate([[log_beta, log_signal_variance], log_alpha, scales.log_widths, *warp, logits])
