"""The map from inputs to the unit-width space of the kernels, and the methods to find a width.

[SNOEK2014] is Snoek, Swersky, Zemel & Adams, Input warping for Bayesian optimization, ICML 31.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from relevance_bayes.core.linalg import squared_distances
from relevance_bayes.core.types import Array


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
        if self.skew is None and self.tail is None:
            return MapGradient(self._widths_gradient(X / self.widths, dU), None, None)
        a, b, half_b, bend = self._warp
        half = half_b * np.arcsinh(X)
        U = _warped(half, a, bend) / self.widths
        skew = tail = None
        if self.skew is not None:
            skew = np.einsum("nd,nd->d", dU, np.square(np.sinh(half) / np.cosh(a)) * (-2.0 / (b * self.widths)))
        if self.tail is not None:
            stretched = np.cosh(2.0 * half - a) * (2.0 * half / b) / (np.cosh(a) * self.widths)
            tail = np.einsum("nd,nd->d", dU, stretched - U)
        return MapGradient(self._widths_gradient(U, dU), skew, tail)

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
