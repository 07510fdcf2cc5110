"""Rows, candidates and likelihood of one fit."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from relevance_bayes.core.basis import Candidates, Products, products_of
from relevance_bayes.core.errors import DataError
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters, Learning
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.priors import Prior
from relevance_bayes.core.rows import ArrayRows, Finite, InputMoments, RowBlock, RowSource, Sample, Sampler
from relevance_bayes.core.types import Array, ForRows

KEPT_BYTES = 256 * 2**20
"""Columns of all candidates are computed once and kept up to this size; above it they are computed in each pass."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The problem of an algorithm: a `source` of N rows, finite, and the `candidates`.

    The source's t (N,), or (N, K), are the likelihood's `working` targets: classes are 0.0 and 1.0, positive targets
    their logarithms, and K numbers a row where each class has its own; less `centre`, () or (K,), which is added to
    the constant's weight. The evidence in the targets' own units is that of t plus `log_jacobian`. Under a Gaussian
    process prior `begin` are the initial hyperparameters, None for the default starts; where the evidence is exact they
    are learned until a step promises less than `tolerance` nats.

    A Gaussian process reads the inputs of all rows only by `source.reduce` and `sample` where its sites don't depend on
    the latent. `every`, X and what follows from them are for algorithms that need all of X at once: those of
    independent weights, whose candidates are centred on its rows, and sites that depend on the latent.
    """

    source: RowSource
    candidates: Candidates
    likelihood: Likelihood
    prior: Prior
    learning: Learning = Learning()
    seed: int = 0
    kept_bytes: int = KEPT_BYTES
    log_jacobian: float = 0.0
    centre: Array = field(default_factory=lambda: np.zeros(()))
    begin: Hyperparameters | None = None
    tolerance: float = 0.03

    @property
    def rows(self) -> int:
        """N."""
        return len(self.source.t)

    @property
    def inputs(self) -> int:
        """d."""
        return self.source.inputs

    @property
    def t(self) -> Array:
        """The targets, (N,) or (N, K)."""
        return self.source.t

    @property
    def precisions(self) -> Array | None:
        """The noise precisions over beta, (N,), where the rows' differ and are known."""
        return self.source.precisions

    def unweighted(self, functions: int) -> Array:
        """Weights of 0 of R functions: (R,), or (R, K) where a row has K latents, or K targets."""
        latents = self.likelihood.latents
        return np.zeros((functions, *(self.t.shape[1:] if latents == 1 else (latents,))))

    def sample(self, size: int) -> Sample:
        """At most `size` rows, drawn by content, in their order."""
        return self._sampler.sample(size)

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self.source, self.seed)

    @cached_property
    def spread(self) -> Array:
        """The inputs' standard deviations (d,), 1 for those that are constant."""
        sd = self.source.reduce(InputMoments.of).sd
        return np.where(sd > 0.0, sd, 1.0)

    @cached_property
    def square(self) -> float:
        """The unit of the latent's square: the targets' mean square, weighted by noise precision.

        1 where all are 0, and where the latent is not in the targets' units, as for classes and counts.
        """
        if not self.likelihood.has_target_units:
            return 1.0
        return float(np.mean(np.average(self.t**2, axis=0, weights=self.precisions))) or 1.0

    def precision(self, beta: float) -> ForRows:
        """The noise precision of all rows, or of each."""
        return beta if self.precisions is None else beta * self.precisions

    @cached_property
    def every(self) -> RowBlock:
        """All rows as one block."""
        return self.source.every()

    @property
    def X(self) -> Array:
        """The inputs of all rows, (N, d)."""
        return self.every.X

    def columns(self, chosen: tuple[int, ...]) -> Array:
        """The chosen candidates at all rows: (N, R)."""
        return self.candidates.columns(self.X, chosen)

    def products(self, towards: Array) -> Array:
        """Phi'Y (M, k) of all candidates with Y (N, k)."""
        return np.concatenate([dictionary.products(towards) for dictionary in self._dictionaries])

    def products_and_norms(self, towards: Array, precision: Array | None = None) -> tuple[Array, Array]:
        """Phi'Y (M, k) and diag(Phi'diag(lam)Phi) (M,) of all candidates; lam (N,), or all 1."""
        seen = [dictionary.products_and_norms(towards, precision) for dictionary in self._dictionaries]
        return np.concatenate([product for product, _ in seen]), np.concatenate([square for _, square in seen])

    def only(self, places: Sequence[int]) -> "Problem":
        """The problem with the dictionaries at `places` alone."""
        dictionaries = tuple(self.candidates.dictionaries[place] for place in places)
        return replace(self, candidates=Candidates(dictionaries))

    @cached_property
    def _dictionaries(self) -> tuple[Products, ...]:
        is_kept = self.rows * self.candidates.size * 8 <= self.kept_bytes
        return tuple(products_of(functions, self.X, is_kept=is_kept) for functions in self.candidates.dictionaries)


MIN_ROWS_PER_INPUT, MIN_INPUTS_OF_WIDE = 8, 32
"""Rows for each input, and the least number of inputs, for `is_wide`."""


def is_wide(rows: int, inputs: int) -> bool:
    """True for many inputs, of few rows each.

    An ascent in a width for each input then takes 40 steps and more. The last half of them raises the evidence, but the
    log density of held-out rows no further.
    """
    return inputs >= MIN_INPUTS_OF_WIDE and rows < MIN_ROWS_PER_INPUT * inputs


def least_rows(inputs: int) -> int:
    """Two rows for each of d `inputs` and two more: with fewer, a function of all inputs passes through all rows."""
    return 2 * (inputs + 1)


def check_rows(X: Array, t: Array, noise_sd: Array | None = None) -> None:
    """Raise DataError unless X (N, d) and t (N,) have matching shapes, are finite and have at least two rows.

    `noise_sd` (N,), where it comes with the rows, has to be finite and above 0 as well.
    """
    check_shapes(X, t)
    check_source(ArrayRows(X, t), noise_sd)


def check_shapes(X: Array, t: Array) -> None:
    """Raise DataError unless X is (N, d) and t is (N,)."""
    if X.ndim != 2 or t.ndim != 1 or len(X) != len(t):
        raise DataError(f"expected X (N, d) and t (N,), got shapes {X.shape} and {t.shape}")


def check_source(source: RowSource, noise_sd: Array | None = None) -> None:
    """Raise DataError as `check_rows`, for rows whose inputs need not be in memory, and `noise_sd` (N,)."""
    t = source.t
    if len(t) < 2:
        raise DataError(f"expected at least two rows, got {len(t)}")
    if not (source.reduce(Finite.of).value and np.isfinite(t).all()):
        raise DataError("expected finite numbers in X and t, got NaN or infinity")
    if noise_sd is not None and noise_sd.shape != t.shape:
        raise DataError(f"expected a noise sd for each of {len(t)} rows, got shape {noise_sd.shape}")
    if noise_sd is not None and not (np.isfinite(noise_sd).all() and (noise_sd > 0.0).all()):
        raise DataError("expected noise sds that are finite and above 0")
