"""The comparison of a training with and without columns of X that are derived from others."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from relevance_bayes.core.basis import Group, KernelBasis
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.folds import subset
from relevance_bayes.core.scales import FixedWidth
from relevance_bayes.core.selection import FOLDS, NORMAL, DerivedColumns, Folding, Rows, Step
from relevance_bayes.core.selection.scoring import standard_error
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.fit import Trainer

MAX_ROWS = 1_000
"""The most rows, drawn by content, on which the two are compared."""

MARGIN = 2.0
"""The number of standard errors by which the score must be better."""

MIN_ROWS = 10
"""The fewest rows that are compared."""

FILE = "without-derived.f64"

BLOCK_ROWS = 8_192
"""The number of rows of a file that are written at a time."""


def compared(
    rows: Rows, spec: Spec, derived: Sequence[int], folding: Folding, *, train: Trainer, fit_log: FitLog
) -> Generator[Step, None, DerivedColumns]:
    """Compare one fit of the spec with the columns `derived` of X and without.

    They are kept where the mean log density of the rows that five folds leave out, of at most MAX_ROWS rows, is better
    by more than MARGIN standard errors. A spec that names columns of X, by groups or a width of each, keeps them.
    """
    if any(_names_columns(basis) for basis in spec.basis):
        return DerivedColumns(kept=True, gain=None)
    some = subset(rows.X, rows.t, MAX_ROWS, spec.seed)
    sample, apart = rows.take(some), folding.take(some)
    fewer = replace(sample, X=without(sample.X, derived), source=None)
    scores = yield from _scores(sample, spec, apart, train, fit_log)
    gains = scores - (yield from _scores(fewer, spec, apart, train, fit_log))
    gains = gains[np.isfinite(gains)]  # of rows that both measured
    if len(gains) < MIN_ROWS:
        return DerivedColumns(kept=False, gain=None)
    gain = float(gains.mean())
    return DerivedColumns(kept=gain > MARGIN * standard_error(gains), gain=gain)


def _scores(rows: Rows, spec: Spec, folding: Folding, train: Trainer, fit_log: FitLog) -> Generator[Step, None, Array]:
    """The log density of each row (N,) left out by folds, NaN where it was not measured; the log keeps nothing else."""
    known = fit_log.recorded()
    if known is not None:
        return known
    place, found = fit_log.begin(), np.full(len(rows.t), np.nan)
    try:
        for step in train(rows, spec, folding=folding, folds=FOLDS, bounds=NORMAL, fit_log=fit_log):
            if isinstance(step, Step):
                yield replace(step, phase="derived inputs", log_marginal_likelihood=None, noise_sd=None)
            elif step.left_out is not None:
                each = step.left_out.measured.each
                found[step.left_out.rows] = -each["nll" if "nll" in each else "log_loss"]
    except (DataError, NotPositiveDefiniteError):
        pass
    fit_log.record(place, found)
    return found


def _names_columns(basis: object) -> bool:
    if isinstance(basis, Group):
        return True
    width = basis.width if isinstance(basis, KernelBasis) else None
    return isinstance(width, FixedWidth) and isinstance(width.value, tuple)


def without(table: Array, derived: Sequence[int]) -> Array:
    """Return a table (N, D) without these of its first columns."""
    return np.delete(table, list(derived), axis=1)


def write_without(table: Array, derived: Sequence[int], path: Path) -> None:
    """Write a table (N, D) to a file of float64 without these columns, a block at a time."""
    with path.open("wb") as file:
        for first in range(0, len(table), BLOCK_ROWS):
            file.write(np.ascontiguousarray(without(table[first : first + BLOCK_ROWS], derived), "<f8").data)
