"""The log events of jobs, all with the same members."""

import logging
from dataclasses import dataclass
from typing import Literal, TypeAlias
from uuid import UUID

from app.jobs.records import JobFailure
from app.tracing.spans import NO_SPAN, Span
from relevance_bayes.records.jobs import JobKind, JobState

logger = logging.getLogger(__name__)

Outcome: TypeAlias = Literal[
    "running", "succeeded", "failed", "cancelled", "timed_out", "interrupted", "superseded", "died"
]


@dataclass(frozen=True)
class JobEvent:
    """The fields of log records about a job.

    `attempt` is the number of the attempt, from 1 (0: none was made); `seconds` is the running time of all attempts,
    None where this process does not know it. `span` is that of the attempt; its outcome ends it.
    """

    job_id: UUID
    kind: JobKind
    attempt: int
    seconds: float | None = None
    span: Span = NO_SPAN

    def started(self, *, resumed_from: int | None) -> None:
        """Log the start of an attempt; `resumed_from` is the attempt whose checkpoint it resumes from."""
        if self.attempt == 1:
            self._log("job started", "running")
        else:
            self._log("job resumed", "running", resumed_from=resumed_from)

    def ended(self, state: JobState, problem: JobFailure | None = None) -> None:
        """Log the recorded end of a job, with the problem of one that failed."""
        match state:
            case "succeeded" | "cancelled":
                self._log("job ended", state)
            case "failed":
                reason = None if problem is None else problem.kind
                self._log("job ended", "timed_out" if reason == "timed-out" else "failed", reason=reason)
            case "queued" | "running":
                raise ValueError(f"expected a job that has ended, got {self.job_id}, which is {state}")

    def interrupted(self) -> None:
        """Log that this worker stops and returns the job to the queue."""
        self._log("job interrupted", "interrupted")

    def superseded(self) -> None:
        """Log that another attempt has taken over."""
        self._log("job superseded", "superseded")

    def worker_died(self) -> None:
        """Log that an attempt has died with its worker."""
        self._log("job died", "died", level=logging.WARNING, reason="its worker is gone")

    def process_died(self, reason: str, stderr: str) -> None:
        """Log that the process of an attempt has died, with the end of its standard error."""
        self._log("job died", "died", level=logging.WARNING, reason=reason, stderr=stderr)

    def _log(self, event: str, outcome: Outcome, *, level: int = logging.INFO, **more: str | int | None) -> None:
        seconds = None if self.seconds is None else round(self.seconds, 3)
        members = {"kind": self.kind, "attempt": self.attempt, "seconds": seconds, "outcome": outcome}
        if outcome != "running":
            self.span.set({"relevance.job.outcome": outcome})
            self.span.end(error=_error(outcome, more.get("reason")))
        logger.log(level, event, extra={"job_id": str(self.job_id), **members, **more})


def _error(outcome: Outcome, reason: str | int | None) -> str | None:
    """Return the error of an attempt with this outcome; None where it has none."""
    return str(reason or outcome) if outcome in {"failed", "timed_out", "died"} else None
