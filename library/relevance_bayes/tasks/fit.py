"""The fit of a task, which may run in a process of its own: this file and the tasks' fits import the core alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.local.choice import LocalChoice
from relevance_bayes.core.selection import MAX_SCORE_LOSS, Bounds, Folding, Rows, Step, Trained
from relevance_bayes.core.spec import Spec


@dataclass(frozen=True)
class Limits:
    """Threads of passes over all rows, `memory` in bytes, and rows times candidates; None: no limit."""

    threads: int = 1
    memory: int | None = None
    candidate_cells: int | None = None


class Trainer(Protocol):
    """`relevance_bayes.core.selection.train`, or a replacement in tests."""

    def __call__(
        self,
        rows: Rows,
        spec: Spec,
        *,
        compared_models: tuple[Spec, ...] = (),
        pool: tuple[Spec, ...] = (),
        alternatives: tuple[Spec, ...] = (),
        local: LocalChoice | None = None,
        folding: Folding,
        held_out: Rows | None = None,
        folds: int = 0,
        bounds: Bounds | None = None,
        max_score_loss: float = MAX_SCORE_LOSS,
        threads: int = 1,
        fit_log: FitLog | None = None,
        max_cells: int | None = None,
    ) -> Iterator[Step | Trained]: ...


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of a fit, which its training turns into a version."""

    result: object


class Fit(Protocol):
    """A file of rows and the specification of what to fit to them: the order that a child process receives."""

    def steps(self, train: Trainer, limits: Limits, fit_log: FitLog) -> Iterator[Step | Fitted]:
        """Return the steps from the end of the log, then the result; raises SparseBayesError."""
