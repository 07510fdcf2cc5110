"""The fit of a supervised task."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.local.choice import LocalChoice
from relevance_bayes.core.selection import MAX_SCORE_LOSS, Bounds, Folding, Rows, Step, Trained
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.fit import Fitted, Limits, Trainer
from relevance_bayes.tasks.mapped_rows import MappedRows, mapped
from relevance_bayes.tasks.supervised.derived_columns import FILE, compared, write_without

EXTRA_COLUMNS = 4


@dataclass(frozen=True)
class SupervisedFit:
    """The rows of a supervised fit: a file of float64, `training` rows, then `held_out` ones.

    Each row is its `inputs` numbers, then t, its noise sd, the fold key and the number of its dataset row. Inputs that
    are `derived` from others are kept where they predict better, else the fit is to a file without them.
    """

    path: Path
    training: int
    held_out: int
    inputs: int
    spec: Spec
    by: Literal["random", "groups", "order"]
    compared_models: tuple[Spec, ...] = ()
    folds: int = 0
    bounds: Bounds | None = None
    pool: tuple[Spec, ...] = ()
    alternatives: tuple[Spec, ...] = ()
    max_score_loss: float = MAX_SCORE_LOSS
    local: LocalChoice | None = None
    derived: tuple[int, ...] = ()

    def steps(self, train: Trainer, limits: Limits, fit_log: FitLog) -> Iterator[Step | Fitted]:
        """Return the steps of `train`, then the result."""
        if not self.derived:
            yield from self._steps(train, limits, fit_log)
            return
        table = self._table()
        rows = self.rows(table[: self.training])
        found = yield from compared(rows, self.spec, self.derived, self._folding(table), train=train, fit_log=fit_log)
        order = self if found.kept else self._without_derived(table)
        for one in order._steps(train, limits, fit_log):
            last = one.result if isinstance(one, Fitted) else None
            yield Fitted(replace(last, derived=found)) if isinstance(last, Trained) else one

    def _table(self) -> Array:
        return mapped(self.path, self.training + self.held_out, self.inputs + EXTRA_COLUMNS)

    def _folding(self, table: Array) -> Folding:
        keys = np.ascontiguousarray(table[: self.training, self.inputs + 2])
        return Folding(self.by, None if self.by == "random" else keys)

    def _without_derived(self, table: Array) -> "SupervisedFit":
        """Return the order to fit a file without the derived inputs, which is written."""
        path = self.path.with_name(FILE)
        write_without(table, self.derived, path)
        return replace(self, path=path, inputs=self.inputs - len(self.derived), derived=())

    def _steps(self, train: Trainer, limits: Limits, fit_log: FitLog) -> Iterator[Step | Fitted]:
        table = self._table()
        rows = self.rows(table[: self.training])
        found = train(
            replace(rows, source=MappedRows(self.path, table.shape[1], self.inputs, rows.t, threads=limits.threads)),
            self.spec,
            compared_models=self.compared_models,
            pool=self.pool,
            alternatives=self.alternatives,
            local=self.local,
            folding=self._folding(table),
            held_out=self.rows(table[self.training :]) if self.held_out else None,
            folds=self.folds,
            bounds=self.bounds,
            max_score_loss=self.max_score_loss,
            threads=limits.threads,
            fit_log=fit_log,
            max_cells=limits.candidate_cells,
        )
        return (one if isinstance(one, Step) else Fitted(one) for one in found)

    def rows(self, part: Array) -> Rows:
        """Return the rows of a part of the file."""
        noise_sd = np.ascontiguousarray(part[:, self.inputs + 1]) if self.spec.likelihood.noise_by_row else None
        return Rows(part[:, : self.inputs], np.ascontiguousarray(part[:, self.inputs]), noise_sd)
