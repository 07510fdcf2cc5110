"""The fit of a task, which runs in a process of its own: this file and those of fits import the core alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from app.jobs.limits import Limits
from relevance_bayes.core.fit_log import FitLog, LogEntry
from relevance_bayes.core.local.choice import LocalChoice
from relevance_bayes.core.selection import MAX_SCORE_LOSS, Bounds, Folding, Rows, Step, Trained
from relevance_bayes.core.spec import Spec


class Trainer(Protocol):
    """`relevance_bayes.core.selection.train`, or what stands for it."""

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
class FitCheckpoint:
    """A checkpoint of a fit: another child goes on from there."""

    fit_log: tuple[LogEntry, ...]


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of a fit, for its training."""

    result: object


class Fit(Protocol):
    """A file of rows, and what to learn of them: what a child process is sent."""

    def steps(self, train: Trainer, limits: Limits, fit_log: FitLog) -> Iterator[Step | Fitted]:
        """The steps from where the log ends, then what came of it; raises SparseBayesError."""


def run(
    fit: Fit, train: Trainer, limits: Limits, fit_log: tuple[LogEntry, ...] = ()
) -> Iterator[Step | FitCheckpoint | Fitted]:
    """The steps of a fit from where an earlier child's `fit_log` ends, what to keep of it, and what came of it.

    There is something to keep wherever there is more than before. Raises SparseBayesError.
    """
    now = FitLog(fit_log)
    kept = now.entries
    for one in fit.steps(train, limits, now):
        yield one
        entries = now.entries
        if len(entries) != len(kept) or any(new is not before for new, before in zip(entries, kept, strict=True)):
            kept = entries
            yield FitCheckpoint(entries)
