"""The fit of a supervised task, with columns derived from others where they help."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from relevance_bayes.core.basis import Group, KernelBasis
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.folds import subset
from relevance_bayes.core.kernels.hyperparameters import FixedWidth
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.models.pool import members_of
from relevance_bayes.core.selection import (
    FOLDS,
    MAX_SCREENED_ROWS,
    NORMAL,
    DerivedColumns,
    FitContext,
    Folding,
    Rows,
    Selection,
    Step,
    Trained,
)
from relevance_bayes.core.selection.scoring import standard_error
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tasks.fit import Fitted, Limits, MappedRows, Trainer, mapped

MAX_ROWS = 1_000
"""The most rows, drawn by content, on which the two are compared."""

MARGIN = 2.0
"""The number of standard errors by which the score must be better."""

MIN_ROWS = 10
"""The fewest rows that are compared."""

MIN_EVIDENCE = 2.0
"""The nats by which the evidence of at most MAX_SCREENED_ROWS rows is higher where folds are compared, ..."""

FOLDS_AFTER_SCREENING = 3
"""... by so many folds, ..."""

MAX_ROW_GAIN = 3.0
"""... in which a row counts at most so many nats: one far out in a heavy tail may have a hundred for either."""

FILE = "without-derived.f64"
LOGARITHMS_FILE = "logarithms.f64"
TEXTS_FILE = "without-texts.f64"

BLOCK_ROWS = 8_192
"""The number of rows of a file that are written at a time."""


def compared(
    rows: Rows,
    spec: Spec,
    columns: Indices,
    others: Indices,
    folding: Folding,
    *,
    train: Trainer,
    fit_log: FitLog,
    is_screened: bool = False,
) -> Generator[Step, None, DerivedColumns]:
    """Compare one fit of the spec to these `columns` of X and to the `others`.

    They are kept where the mean log density of the rows that five folds leave out, of at most MAX_ROWS rows, is better
    by more than MARGIN standard errors. A comparison that `is_screened` has FOLDS_AFTER_SCREENING folds, in which a row
    counts at most MAX_ROW_GAIN, and only where the evidence of at most MAX_SCREENED_ROWS rows is better by
    MIN_EVIDENCE. A spec that names columns of X, by groups or a width of each, keeps them.
    """
    if names_columns(spec) or not len(others):
        return DerivedColumns(kept=True, gain=None)

    def taken(chosen: Indices, of: Indices) -> Rows:
        some = rows.take(chosen)
        return replace(some, X=np.ascontiguousarray(some.X[:, of]), source=None)

    folds = FOLDS
    if is_screened:
        folds = FOLDS_AFTER_SCREENING
        some = subset(rows.X, rows.t, MAX_SCREENED_ROWS, spec.seed)
        evidence = yield from _evidence(taken(some, columns), spec, train, fit_log)
        if not evidence > MIN_EVIDENCE + (yield from _evidence(taken(some, others), spec, train, fit_log)):
            return DerivedColumns(kept=False, gain=None)
    some = subset(rows.X, rows.t, MAX_ROWS, spec.seed)
    apart = folding.take(some)
    scores = yield from _scores(taken(some, columns), spec, apart, folds, train, fit_log)
    gains = scores - (yield from _scores(taken(some, others), spec, apart, folds, train, fit_log))
    gains = gains[np.isfinite(gains)]  # of rows that both measured
    if len(gains) < MIN_ROWS:
        return DerivedColumns(kept=False, gain=None)
    if is_screened:
        gains = np.clip(gains, -MAX_ROW_GAIN, MAX_ROW_GAIN)
    gain = float(gains.mean())
    return DerivedColumns(kept=gain > MARGIN * standard_error(gains), gain=gain)


def _scores(
    rows: Rows, spec: Spec, folding: Folding, folds: int, train: Trainer, fit_log: FitLog
) -> Generator[Step, None, Array]:
    """The log density of each row (N,) left out by folds, NaN where it was not measured; the log keeps nothing else."""
    known = fit_log.recorded()
    if known is not None:
        return known
    place, found = fit_log.begin(), np.full(len(rows.t), np.nan)
    selection = Selection(spec, folds=folds, bounds=NORMAL)
    try:
        for step in train(rows, selection, folding=folding, on=FitContext(fit_log)):
            if isinstance(step, Step):
                yield _reported(step)
            elif step.left_out is not None:
                each = step.left_out.measured.each
                found[step.left_out.rows] = -each["nll" if "nll" in each else "log_loss"]
    except (DataError, NotPositiveDefiniteError):
        pass
    fit_log.record(place, found)
    return found


def _evidence(rows: Rows, spec: Spec, train: Trainer, fit_log: FitLog) -> Generator[Step, None, float]:
    """The log evidence of one fit to all rows, -inf where it can't be computed; the log keeps nothing else."""
    known = fit_log.recorded()
    if known is not None:
        return float(known[0])
    place, found = fit_log.begin(), -np.inf
    try:
        for step in train(rows, Selection(spec), folding=Folding(), on=FitContext(fit_log)):
            if isinstance(step, Step):
                yield _reported(step)
            else:
                found = sum(one.evidence.value for one in members_of(step.learned))
    except (DataError, NotPositiveDefiniteError):
        pass
    fit_log.record(place, np.array([found]))
    return found


def _reported(step: Step) -> Step:
    return replace(step, phase="derived inputs", log_marginal_likelihood=None, noise_sd=None)


def names_columns(spec: Spec) -> bool:
    """Return whether a spec names columns of X, by groups or a width of each."""
    return any(_names_columns(basis) for basis in spec.basis)


def _names_columns(basis: object) -> bool:
    if isinstance(basis, Group):
        return True
    width = basis.width if isinstance(basis, KernelBasis) else None
    return isinstance(width, FixedWidth) and isinstance(width.value, tuple)


def write_columns(table: Array, columns: Indices, path: Path) -> None:
    """Write these columns (C,) of a table (N, D) to a file of float64, a block at a time."""
    with path.open("wb") as file:
        for first in range(0, len(table), BLOCK_ROWS):
            file.write(np.ascontiguousarray(table[first : first + BLOCK_ROWS][:, columns], "<f8").data)


EXTRA_COLUMNS = 4


@dataclass(frozen=True)
class SupervisedFit:
    """The rows of a supervised fit: a file of float64, `training` rows, then `held_out` ones.

    Each row is its `inputs` numbers, then t, its noise sd, the fold key and the number of its dataset row. The last
    inputs, as many as are `replaced`, take the place of these where they predict better, and the `texts` by their
    effects and those `derived` from others are kept where they predict better; the fit is to a file without the others.
    """

    path: Path
    training: int
    held_out: int
    inputs: int
    selection: Selection
    by: Literal["random", "groups", "order"]
    derived: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
    texts: tuple[int, ...] = ()

    def steps(self, train: Trainer, limits: Limits, fit_log: FitLog) -> Iterator[Step | Fitted]:
        """Return the steps of `train`, then the result."""
        order, logarithms, texts, derived = self, None, None, None
        if self.replaced:
            d = self.inputs - len(self.replaced)
            numbers, others = np.arange(d), np.arange(d)
            others[list(self.replaced)] = np.arange(d, self.inputs)
            logarithms = yield from order._compared(others, numbers, train, fit_log, is_screened=True)
            order = order._of(others if logarithms.kept else numbers, LOGARITHMS_FILE)
        if self.texts:
            every = np.arange(order.inputs)
            fewer = np.delete(every, self.texts)
            texts = yield from order._compared(every, fewer, train, fit_log, is_screened=True)
            order = order if texts.kept else order._of(fewer, TEXTS_FILE)
        if self.derived:
            every = np.arange(order.inputs)
            fewer = np.delete(every, order.derived)
            derived = yield from order._compared(every, fewer, train, fit_log)
            order = order if derived.kept else order._of(fewer, FILE)
        for one in order._steps(train, limits, fit_log):
            last = one.result if isinstance(one, Fitted) else None
            if isinstance(last, Trained):
                yield Fitted(replace(last, derived=derived, logarithms=logarithms, texts=texts))
            else:
                yield one

    def _compared(
        self, columns: Indices, others: Indices, train: Trainer, fit_log: FitLog, *, is_screened: bool = False
    ) -> Generator[Step, None, DerivedColumns]:
        """Compare fits to these columns of the file, and to the `others`."""
        table = self._table()
        rows, folding = self.rows(table[: self.training]), self._folding(table)
        found = compared(
            rows, self.selection.spec, columns, others, folding, train=train, fit_log=fit_log, is_screened=is_screened
        )
        return (yield from found)

    def _of(self, columns: Indices, name: str) -> "SupervisedFit":
        """Return the order to fit a file of these columns, which is written under this name."""
        path, table = self.path.with_name(name), self._table()
        write_columns(table, np.append(columns, np.arange(self.inputs, table.shape[1])), path)
        derived = tuple(np.flatnonzero(np.isin(columns, self.derived)).tolist())
        return replace(self, path=path, inputs=len(columns), derived=derived, replaced=(), texts=())

    def _table(self) -> Array:
        return mapped(self.path, self.training + self.held_out, self.inputs + EXTRA_COLUMNS)

    def _folding(self, table: Array) -> Folding:
        keys = np.ascontiguousarray(table[: self.training, self.inputs + 2])
        return Folding(self.by, None if self.by == "random" else keys)

    def _steps(self, train: Trainer, limits: Limits, fit_log: FitLog) -> Iterator[Step | Fitted]:
        table = self._table()
        rows = self.rows(table[: self.training])
        found = train(
            replace(rows, source=MappedRows(self.path, table.shape[1], self.inputs, rows.t, threads=limits.threads)),
            self.selection,
            folding=self._folding(table),
            held_out=self.rows(table[self.training :]) if self.held_out else None,
            on=FitContext(fit_log, limits.threads, limits.candidate_cells),
        )
        return (one if isinstance(one, Step) else Fitted(one) for one in found)

    def rows(self, part: Array) -> Rows:
        """Return the rows of a part of the file."""
        noise_sd = (
            np.ascontiguousarray(part[:, self.inputs + 1]) if self.selection.spec.likelihood.noise_by_row else None
        )
        return Rows(part[:, : self.inputs], np.ascontiguousarray(part[:, self.inputs]), noise_sd)
