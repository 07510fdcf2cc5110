"""The base of kernels: symmetric in two points, of unit width, with a gradient."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Protocol

import numpy as np

from relevance_bayes.core.tracing import Namespace
from relevance_bayes.core.types import Array

BLOCK = 2**13
"""Pairs for which a formula is evaluated at once, so that intermediate results stay in the cache of a core; ..."""

BLOCK_OF_TERMS = 2**15
"""... and where there is a pass over them for each input."""


class KernelBase(ABC):
    """k(u, z), u = x / width: maps U (N, d) and Z (M, d) to k (N, M). Learned widths belong to `scales`.

    A member is a frozen dataclass that derives from one of the families, `Radial`, `InnerProduct` or `ByInput`, and
    gives its formula and that formula's derivative. Its docstring is its description in the API, `type` its name.
    """

    __pydantic_config__ = {"extra": "forbid"}

    is_positive_definite: ClassVar[bool] = False
    """True where k(U, U) never has a negative eigenvalue."""

    is_stationary: ClassVar[bool] = False
    """True where k depends on u - z alone."""

    sums_distances: ClassVar[bool] = False
    """True where its distance is a sum over inputs, which grows as their number, and not as its root."""

    length_scale_of_width: ClassVar[float | None] = None
    """The length scale of scikit-learn's kernel at a width of 1; None where it has none."""

    @property
    @abstractmethod
    def type(self) -> str:
        """The kernel's name in the API, in documents and in generated files: a field with this default."""

    @abstractmethod
    def __call__(self, U: Array, Z: Array) -> Array:
        """k (N, M) of every row of U (N, d) with every row of Z (M, d)."""

    @abstractmethod
    def pull(self, U: Array, Z: Array, D: Array, k: Array | None = None) -> tuple[Array, Array]:
        """Gradients with respect to U (N, d) and Z (M, d) of sum(D o k(U, Z)), D (N, M); k (N, M) where it is known.

        Where U is Z, the gradient is the sum of the two.
        """

    def pull_symmetric(self, U: Array, D: Array, k: Array | None = None) -> Array:
        """The gradient with respect to U (N, d) of sum(D o k(U, U)), D (N, N) symmetric: both parts of `pull`."""
        dU, _ = self.pull(U, U, D, k)
        return 2.0 * dU


class _Formula(Protocol):
    def __call__(self, xp: Namespace[Array], values: Array, /) -> Array: ...


def evaluated(formula: _Formula, values: Array) -> Array:
    """A formula of each of the values (N, M), which it may overwrite."""
    if values.size <= BLOCK:
        return formula(np, values)
    flat = values.ravel()
    for first in range(0, flat.size, BLOCK):
        flat[first : first + BLOCK] = formula(np, flat[first : first + BLOCK])
    return flat.reshape(values.shape)


def blocks(N: int, M: int) -> "Iterator[tuple[slice[int, int, None], slice[int, int, None]]]":
    """Rows and columns of the blocks of an (N, M) array, cut along its longer side."""
    if N >= M:
        step = max(1, BLOCK_OF_TERMS // max(M, 1))
        for first in range(0, N, step):
            yield slice(first, first + step), slice(0, M)
    else:
        step = max(1, BLOCK_OF_TERMS // max(N, 1))
        for first in range(0, M, step):
            yield slice(0, N), slice(first, first + step)
