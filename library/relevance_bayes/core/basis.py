"""Basis functions, and the products of their columns with the rows."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Literal, Protocol

import numpy as np

from relevance_bayes.core.dictionaries import Dictionary, DictionaryFunctions
from relevance_bayes.core.kernels import Additive, Gaussian, Kernel
from relevance_bayes.core.kernels.hyperparameters import CrossValidationWidth, InheritedWidth, InputMap, Width
from relevance_bayes.core.types import Array, Indices


@dataclass(frozen=True)
class KernelBasis:
    """One function k(., x_n) for each training row."""

    __pydantic_config__ = {"extra": "forbid"}

    kernel: Kernel = field(default_factory=Gaussian, metadata={"discriminator": "type"})
    width: Width | InheritedWidth = field(default_factory=CrossValidationWidth, metadata={"discriminator": "type"})
    warp: Literal["none", "evidence"] = "none"
    additive: Literal["none", "evidence"] = "none"
    type: Literal["kernel"] = "kernel"


@dataclass(frozen=True)
class Bias:
    """The constant function 1."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["bias"] = "bias"


@dataclass(frozen=True)
class Inputs:
    """The inputs themselves, one function each."""

    __pydantic_config__ = {"extra": "forbid"}

    type: Literal["inputs"] = "inputs"


Single = KernelBasis | Bias | Inputs | Dictionary
"""The dictionaries of functions of all inputs."""


@dataclass(frozen=True)
class Group:
    """Another dictionary of functions of the columns `inputs` of X alone, counted from 0; a kernel's width is fixed."""

    __pydantic_config__ = {"extra": "forbid"}

    inputs: tuple[int, ...]
    of: Single = field(metadata={"discriminator": "type"})
    type: Literal["group"] = "group"


Basis = Single | Group


@dataclass(frozen=True, eq=False)
class KernelFunctions:
    """The functions k(u(.), u(z_m)), m = 1 ... M.

    `centres` (M, d) in the units of X, `rows` (M,) the numbers of these training rows.
    """

    kernel: Kernel | Additive
    input_map: InputMap
    centres: Array
    rows: Indices

    @property
    def size(self) -> int:
        """M."""
        return len(self.centres)

    @cached_property
    def _mapped(self) -> Array:
        return self.input_map(self.centres)

    def __call__(self, X: Array, chosen: Indices) -> Array:
        """The chosen functions at X (N, d): (N, number chosen), each column contiguous, for sums over rows."""
        return self.kernel(self._mapped[chosen], self.input_map(X)).T

    def every(self, X: Array) -> Array:
        """All of them at X (N, d), in order: (N, M)."""
        return self.kernel(self._mapped, self.input_map(X)).T

    def moved(self, input_map: InputMap, centres: Array, rows: Indices) -> "KernelFunctions":
        """Functions of the same kernel with other centres."""
        return KernelFunctions(self.kernel, input_map, centres, rows)

    def take(self, chosen: Indices) -> "KernelFunctions":
        """Only the chosen functions, in that order."""
        return KernelFunctions(self.kernel, self.input_map, self.centres[chosen], self.rows[chosen])


@dataclass(frozen=True)
class ConstantFunction:
    """The function 1, a dictionary of one."""

    @property
    def size(self) -> int:
        """1."""
        return 1

    def __call__(self, X: Array, chosen: Indices) -> Array:
        """Ones, (N, number chosen)."""
        return np.ones((len(X), len(chosen)))

    def take(self, chosen: Indices) -> "ConstantFunction":
        """The same."""
        return self


@dataclass(frozen=True, eq=False)
class InputFunctions:
    """The functions x_k, k in `columns` (M,)."""

    columns: Indices

    @property
    def size(self) -> int:
        """M."""
        return len(self.columns)

    def __call__(self, X: Array, chosen: Indices) -> Array:
        """The chosen inputs at X (N, d): (N, number chosen)."""
        return X[:, self.columns[chosen]]

    def take(self, chosen: Indices) -> "InputFunctions":
        """Only the chosen inputs, in that order."""
        return InputFunctions(self.columns[chosen])


SingleFunctions = KernelFunctions | ConstantFunction | InputFunctions | DictionaryFunctions


@dataclass(frozen=True, eq=False)
class GroupFunctions:
    """Functions `of` the columns (k,) of X alone."""

    columns: Indices
    of: SingleFunctions

    @property
    def size(self) -> int:
        """M."""
        return self.of.size

    def __call__(self, X: Array, chosen: Indices) -> Array:
        """The chosen functions at X (N, d): (N, number chosen)."""
        return self.of(X[:, self.columns], chosen)

    def take(self, chosen: Indices) -> "GroupFunctions":
        """Only the chosen functions, in that order."""
        return GroupFunctions(self.columns, self.of.take(chosen))


Functions = SingleFunctions | GroupFunctions


@dataclass(frozen=True, eq=False)
class Candidates:
    """Dictionaries side by side; a candidate is a number from 0 to size - 1 that counts through them."""

    dictionaries: tuple[Functions, ...]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The number of each dictionary's first candidate, and the size of all."""
        return (0, *accumulate(dictionary.size for dictionary in self.dictionaries))

    @property
    def size(self) -> int:
        """M, all candidates."""
        return self.starts[-1]

    def columns(self, X: Array, chosen: Sequence[int]) -> Array:
        """Columns of any candidates at X (N, d), in the order of `chosen`: (N, R)."""
        if len(chosen) == 1:
            place = bisect_right(self.starts, chosen[0]) - 1
            return self.dictionaries[place](X, np.array([chosen[0] - self.starts[place]]))
        columns = np.empty((len(X), len(chosen)))
        for place, positions, local in self._grouped(chosen):
            columns[:, positions] = self.dictionaries[place](X, local)
        return columns

    def take(self, chosen: Sequence[int]) -> tuple[tuple[Functions, ...], Indices]:
        """The chosen functions by dictionary, and their order (R,): positions in `chosen`."""
        groups = self._grouped(chosen)
        order = np.concatenate([positions for _, positions, _ in groups]) if groups else np.empty(0, np.intp)
        return tuple(self.dictionaries[place].take(local) for place, _, local in groups), order

    def row(self, number: int) -> int | None:
        """The training row that carries a candidate, None where it has none."""
        place = bisect_right(self.starts, number) - 1
        dictionary = self.dictionaries[place]
        return int(dictionary.rows[number - self.starts[place]]) if isinstance(dictionary, KernelFunctions) else None

    def numbers(self, places: Sequence[int], chosen: Sequence[int]) -> tuple[int, ...]:
        """The numbers among all candidates of the `chosen`, which are numbered among the dictionaries at `places`."""
        each = [np.arange(self.starts[place], self.starts[place + 1]) for place in places]
        return tuple(np.concatenate(each)[np.asarray(chosen, np.intp)].tolist())

    def counts(self, chosen: Sequence[int]) -> tuple[int, ...]:
        """The number of the chosen functions from each dictionary."""
        places = np.searchsorted(self.starts, np.asarray(chosen, np.intp), side="right") - 1
        return tuple(int((places == place).sum()) for place in range(len(self.dictionaries)))

    def _grouped(self, chosen: Sequence[int]) -> list[tuple[int, Indices, Indices]]:
        numbers = np.asarray(chosen, np.intp)
        places = np.searchsorted(self.starts, numbers, side="right") - 1
        return [
            (int(place), np.flatnonzero(places == place), numbers[places == place] - self.starts[int(place)])
            for place in np.unique(places)
        ]


def evaluate(functions: Sequence[Functions], X: Array) -> Array:
    """All functions of all dictionaries at X (N, d), side by side: (N, R)."""
    columns = np.empty((len(X), sum(dictionary.size for dictionary in functions)), order="F")
    first = 0
    for dictionary in functions:
        stop = first + dictionary.size
        match dictionary:
            case KernelFunctions():
                columns[:, first:stop] = dictionary.every(X)
            case ConstantFunction():
                columns[:, first:stop] = 1.0
            case InputFunctions(columns=inputs):
                columns[:, first:stop] = X[:, inputs]
            case _:
                columns[:, first:stop] = dictionary(X, np.arange(dictionary.size))
        first = stop
    return columns


BLOCK_BYTES = 8 * 2**20
"""Bytes of the columns that are computed at once where they are not kept."""

MIN_ROWS = 100
"""Rows below which the design matrix itself is used."""

ROWS_PER_RANK = 8
"""Rows per rank from which the low-rank factor is used, ..."""

MAX_RANK = 512
"""... and its largest rank."""

RESIDUE = 1e-12
"""The residual that the factor may leave of a kernel whose greatest value is 1."""

MIN_PROGRESS = 0.2
"""At half of the rank the factorisation stops where less than this share of the way to RESIDUE (in logarithms) is
done."""


class Products(Protocol):
    """Sums over N rows for each of M candidates, Phi (N, M) being their columns."""

    def products(self, towards: Array) -> Array:
        """Phi'Y, (M, k), for Y (N, k)."""

    def products_and_norms(self, towards: Array, precision: Array | None = None) -> tuple[Array, Array]:
        """Phi'Y (M, k) and diag(Phi'diag(lam)Phi) (M,), lam (N,) or all 1."""


@dataclass(frozen=True, eq=False)
class Dense:
    """Products by the columns themselves, block by block: kept where `is_kept`, else recomputed."""

    functions: Functions
    X: Array
    is_kept: bool
    _blocks: list[Array] = field(default_factory=list, repr=False)

    def products(self, towards: Array) -> Array:
        return np.concatenate([columns.T @ towards for columns in self.blocks()])

    def products_and_norms(self, towards: Array, precision: Array | None = None) -> tuple[Array, Array]:
        seen = [(columns.T @ towards, _squares(columns, precision)) for columns in self.blocks()]
        return np.concatenate([product for product, _ in seen]), np.concatenate([square for _, square in seen])

    def blocks(self) -> Iterator[Array]:
        """All columns, some at a time: each (N, m)."""
        if self._blocks:
            yield from self._blocks
            return
        widest = max(1, BLOCK_BYTES // (8 * len(self.X)))
        for first in range(0, self.functions.size, widest):
            columns = self.functions(self.X, np.arange(first, min(first + widest, self.functions.size)))
            if self.is_kept:
                self._blocks.append(columns)
            yield columns


def _squares(columns: Array, precision: Array | None) -> Array:
    """diag(Phi'diag(lam)Phi), read in the memory order of the columns."""
    if precision is None:
        return np.asarray(np.einsum("mn,mn->m", columns.T, columns.T))
    return np.square(columns.T) @ precision


@dataclass(frozen=True, eq=False)
class LowRank:
    """Products by a factor of the kernel matrix: Phi = G'H, G (k, N) for the rows and H (k, M) for the candidates."""

    G: Array
    H: Array

    def products(self, towards: Array) -> Array:
        return self.H.T @ (self.G @ towards)

    def products_and_norms(self, towards: Array, precision: Array | None = None) -> tuple[Array, Array]:
        root = self.G if precision is None else self.G * np.sqrt(precision)
        return self.products(towards), np.einsum("km,km->m", self.H, (root @ root.T) @ self.H)


def products_of(functions: Functions, X: Array, *, is_kept: bool) -> Products:
    """The cheapest way for the candidates `functions` at the rows X (N, d)."""
    if isinstance(functions, GroupFunctions):
        return products_of(functions.of, X[:, functions.columns], is_kept=is_kept)
    if (
        isinstance(functions, KernelFunctions)
        and functions.kernel.is_stationary
        and functions.kernel.is_positive_definite
    ):
        found = _low_rank(functions, X)
        if found is not None:
            return found
    return Dense(functions, X, is_kept)


def _low_rank(functions: KernelFunctions, X: Array) -> LowRank | None:
    max_rank = min(len(X) // ROWS_PER_RANK, MAX_RANK)
    if len(X) < MIN_ROWS or not np.array_equal(X[functions.rows], functions.centres):
        return None
    G = incomplete_cholesky(functions, X, max_rank)
    if G is None:
        return None
    every = np.array_equal(functions.rows, np.arange(len(X)))
    return LowRank(G, G if every else np.ascontiguousarray(G[:, functions.rows]))


def incomplete_cholesky(functions: KernelFunctions, X: Array, max_rank: int) -> Array | None:
    """G (k, N) with |K - G'G| at most RESIDUE everywhere, K the stationary kernel of all rows X (N, d) of each other.

    Pivots are the rows of the greatest residual; K is never formed. None where k would exceed `max_rank`. The residual
    of a positive definite kernel has its greatest entry on its diagonal.
    """
    U = functions.input_map(X)
    left = np.ones(len(U))
    G = np.empty((max_rank, len(U)))
    for rank in range(max_rank):
        pivot = int(left.argmax())
        if left[pivot] <= RESIDUE:
            return G[:rank]
        if rank == max_rank // 2 and np.log(left[pivot]) > MIN_PROGRESS * np.log(RESIDUE):
            return None
        row = functions.kernel(U[pivot : pivot + 1], U)[0]
        row -= G[:rank, pivot] @ G[:rank]
        row /= np.sqrt(left[pivot])
        G[rank] = row
        left -= np.square(row)
        left[pivot] = 0.0
    return G if left.max() <= RESIDUE else None
