"""The run of a fit in a child process: this file imports only the core and the interface of fits."""

import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from relevance_bayes.core.fitting import FitLog, LogEntry
from relevance_bayes.core.selection import Step
from relevance_bayes.tasks.fit import Fit, Fitted, Limits, Trainer

MEBIBYTE = 1024 * 1024


def limit_memory(maximum: int) -> None:
    """Limit the memory that this process may allocate, in bytes; mapped files do not count.

    Beyond the limit an allocation fails, and Python raises MemoryError. Only Linux enforces it.
    """
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))


@dataclass(frozen=True, eq=False)
class FitCheckpoint:
    """A checkpoint of a fit, from which another child process can resume."""

    fit_log: tuple[LogEntry, ...]


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
