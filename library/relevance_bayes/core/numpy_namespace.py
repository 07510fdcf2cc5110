"""numpy and scipy as one namespace that computes formulas."""

from collections.abc import Callable

import numpy as np
import scipy

from relevance_bayes.core.tracing import Formula
from relevance_bayes.core.types import Array, ForRows, Mask


class NumpyNamespace:
    """An `ExtendedNamespace` of arrays, of functions of numpy and scipy."""

    def abs(self, x: Array, /) -> Array:
        return np.asarray(np.abs(x))

    def exp(self, x: Array, /) -> Array:
        return np.asarray(np.exp(x))

    def expm1(self, x: Array, /) -> Array:
        return np.asarray(np.expm1(x))

    def log(self, x: Array, /) -> Array:
        return np.asarray(np.log(x))

    def log1p(self, x: Array, /) -> Array:
        return np.asarray(np.log1p(x))

    def sqrt(self, x: Array, /) -> Array:
        return np.asarray(np.sqrt(x))

    def square(self, x: Array, /) -> Array:
        return np.asarray(np.square(x))

    def sin(self, x: Array, /) -> Array:
        return np.asarray(np.sin(x))

    def cos(self, x: Array, /) -> Array:
        return np.asarray(np.cos(x))

    def tanh(self, x: Array, /) -> Array:
        return np.asarray(np.tanh(x))

    def sign(self, x: Array, /) -> Array:
        return np.asarray(np.sign(x))

    def round(self, x: Array, /) -> Array:
        return np.asarray(np.round(x))

    def minimum(self, x: ForRows, y: ForRows, /) -> Array:
        return np.asarray(np.minimum(x, y))

    def maximum(self, x: ForRows, y: ForRows, /) -> Array:
        return np.asarray(np.maximum(x, y))

    def where(self, condition: Array | Mask, x: ForRows, y: ForRows, /) -> Array:
        return np.asarray(np.where(condition, x, y))

    def expand_dims(self, x: Array, /, *, axis: int) -> Array:
        return np.expand_dims(x, axis)

    def matmul(self, x: Array, y: Array, /) -> Array:
        return np.asarray(x @ y)

    def expit(self, x: Array, /) -> Array:
        return np.asarray(scipy.special.expit(x))

    def ndtr(self, x: Array, /) -> Array:
        return np.asarray(scipy.special.ndtr(x))

    def sum(self, x: Array, /, *, axis: int, keepdims: bool) -> Array:
        return np.asarray(x.sum(axis=axis, keepdims=keepdims))

    def max(self, x: Array, /, *, axis: int, keepdims: bool) -> Array:
        return np.asarray(x.max(axis=axis, keepdims=keepdims))

    def apply_where(
        self,
        condition: Array | Mask,
        one: Formula[Array],
        other: Formula[Array],
        x: Array,
        y: Array,
        /,
        *,
        cells: int,
    ) -> Array:
        """Each where it is needed, in blocks of rows or of elements."""
        mask = np.asarray(condition, np.bool_)
        if mask.shape != x.shape:
            mask, cells = mask[:, 0], cells // max(1, x.shape[1])
        found, block = np.empty(x.shape), max(1, cells)
        for chosen, formula in ((mask, one), (~mask, other)):
            places = np.nonzero(chosen)
            for first in range(0, int(chosen.sum()), block):
                some = tuple(place[first : first + block] for place in places)
                found[some] = formula(self, x[some], y[some])
        return found

    def fixed_point(
        self, step: Callable[[Array], Array], start: Array, unit: Array, /, *, tolerance: float, max_steps: int
    ) -> Array:
        x = start
        for _ in range(max_steps):
            before, x = x, step(x)
            if np.all(np.abs(x - before) <= tolerance * (np.abs(x) + unit)):
                break
        return x


NUMPY = NumpyNamespace()
