"""The fit of a task, which runs in a child process: this file and the tasks' fits import only the core."""

import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from relevance_bayes.core.fit_log import FitLog, LogEntry
from relevance_bayes.core.local.choice import LocalChoice
from relevance_bayes.core.selection import MAX_SCORE_LOSS, Bounds, Folding, Rows, Step, Trained
from relevance_bayes.core.spec import Spec

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Threads of passes over all rows, `memory` in bytes, and rows times candidates; None: no limit."""

    threads: int = 1
    memory: int | None = None
    candidate_cells: int | None = None


def limit_memory(maximum: int) -> None:
    """Limit the memory that this process may allocate, in bytes; mapped files do not count.

    Beyond the limit an allocation fails, and Python raises MemoryError. Only Linux enforces it.
    """
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))


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
class FitCheckpoint:
    """A checkpoint of a fit, from which another child process can resume."""

    fit_log: tuple[LogEntry, ...]


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of a fit, which its training turns into a version."""

    result: object


class Fit(Protocol):
    """A file of rows and the specification of what to fit to them: the order that a child process receives."""

    def steps(self, train: Trainer, limits: Limits, fit_log: FitLog) -> Iterator[Step | Fitted]:
        """Return the steps from the end of the log, then the result; raises SparseBayesError."""


def run(
    fit: Fit, train: Trainer, limits: Limits, fit_log: tuple[LogEntry, ...] = ()
) -> Iterator[Step | FitCheckpoint | Fitted]:
    """Return the steps of a fit from the end of an earlier child's `fit_log`, its checkpoints, and its result.

    A checkpoint follows each step that adds to the log. Raises SparseBayesError.
    """
    now = FitLog(fit_log)
    kept = now.entries
    for one in fit.steps(train, limits, now):
        yield one
        entries = now.entries
        if len(entries) != len(kept) or any(new is not before for new, before in zip(entries, kept, strict=True)):
            kept = entries
            yield FitCheckpoint(entries)
