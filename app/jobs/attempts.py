"""Attempts of a job, and their checkpoints."""

from dataclasses import dataclass

from relevance_bayes.core.fit_log import LogEntry
from relevance_bayes.types.jobs import JobKind, Resumption

MAX_STARTS = 3
"""The number of attempts of a job that makes no progress, when its worker or its child dies each time.

To be handed back is no death, and what was kept on the way is a step further.
"""


@dataclass(frozen=True)
class Claim:
    """A start: its number, from 1; or the last one, where it was the last that a job may have (`spent`)."""

    attempt: int
    spent: bool = False


@dataclass(frozen=True)
class EarlierAttempts:
    """The recorded attempts of a job so far.

    `attempt` is the number of the newest one (0: none) and `seconds` the running time of all of them. `has_died` says
    that the newest one ended with its worker, unrecorded.
    """

    kind: JobKind
    attempt: int
    seconds: float
    has_died: bool


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A checkpoint of a fit.

    `by` names the program that made it: another one may take other steps, and begins anew.
    """

    by: str
    fit_log: tuple[LogEntry, ...]


@dataclass(frozen=True, eq=False)
class Kept:
    """A checkpoint where it was found: `resumption` says of which start it is."""

    checkpoint: Checkpoint
    resumption: Resumption
