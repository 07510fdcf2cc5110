"""Attempts of a job, and their checkpoints."""

from dataclasses import dataclass

from app.jobs.records import Job
from relevance_bayes.core.fitting import LogEntry
from relevance_bayes.records.jobs import Resumption

MAX_STARTS = 3
"""The number of attempts of a job that makes no progress, when its worker or its child process dies each time.

An interrupted attempt does not count. A new checkpoint resets the count, and so does the progress of an attempt whose
worker died.
"""

MIN_PROGRESS = 0.02
"""The share of a job's work that is progress between two starts. It is counted from the greatest share of all attempts,
so that a job that kills its worker each time ends too."""


@dataclass(frozen=True)
class Claim:
    """The claim of an attempt: its number, from 1; `spent` is true where no attempt is left."""

    attempt: int
    spent: bool = False


@dataclass(frozen=True)
class JobTraces:
    """The trace contexts of a job's submission, with its `tracestate`, of its newest attempt, and of the newest attempt
    of the job that it repeats, or of that job's submission; None where it was not traced.
    """

    submission: str | None = None
    state: str | None = None
    attempt: str | None = None
    retried: str | None = None


@dataclass(frozen=True)
class EarlierAttempts:
    """The recorded attempts of a job so far, without its transitions.

    `seconds` is the running time of all of them. `has_died` is true where the newest one died with its worker, without
    a record.
    """

    job: Job
    seconds: float
    has_died: bool
    traces: JobTraces = JobTraces()


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A checkpoint of a fit.

    `by` identifies the program that made it: another program may take other steps, so it does not resume from it.
    """

    by: str
    fit_log: tuple[LogEntry, ...]


@dataclass(frozen=True, eq=False)
class Kept:
    """A stored checkpoint; `resumption` identifies the attempt that wrote it."""

    checkpoint: Checkpoint
    resumption: Resumption
