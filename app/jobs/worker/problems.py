"""The problems of failed jobs, each with a remedy."""

from collections.abc import Mapping

from app.errors import ConflictError, TrainingFailedError
from app.jobs.attempts import MAX_STARTS
from app.jobs.fit import MEBIBYTE
from app.jobs.ports import QueueOutcome
from app.jobs.records import Job, Problem
from app.jobs.worker.child.process import Failure

UNEXPECTED = Problem(
    "internal-error",
    "Something unexpected happened",
    "This is a fault of the service, not of the data: its log has the details under this job's id."
    " Retrying the job is safe, and may help.",
)


def _died(how_often: str, seen: str) -> Problem:
    return Problem("worker-died", "The job died each time", f"The job was started {how_often}, and each time {seen}")


TOO_LONG = Problem(
    "timed-out",
    "The job took longer than a job may",
    "Use fewer rows or inputs, or validate on fewer folds; the service's operator sets the limit"
    " (RELEVANCE_JOB_TIMEOUT_SECONDS).",
)

KILLED = "signal 9"

BY_ENDING: Mapping[QueueOutcome, Problem] = {
    "lost": _died("repeatedly", "its worker died. The logs of the workers and of their supervisor have why."),
    "cancelled": TOO_LONG,
    "failed": UNEXPECTED,
    "succeeded": UNEXPECTED,
    "unknown": UNEXPECTED,
}
"""The problem of a job that its worker left unfinished, by the end of its queue entry."""

_ADVICE: Mapping[str, tuple[str, str, str]] = {
    "ConstantTargetError": (
        "constant-target",
        "All targets are the same",
        "choose a target that varies, or add rows in which it does",
    ),
    "UnfitWidthError": (
        "unfit-width",
        "The width does not separate the rows",
        "send a greater width where all rows are dissimilar, a lesser one where all are alike, or add rows",
    ),
    "OneClassError": ("one-class", "Only one class is left", "add rows of the other classes, or hold out fewer"),
    "DataError": (
        "unusable-data",
        "The rows can't be learned from",
        "correct them, or leave out the columns that have them",
    ),
    "IllegalCombinationError": ("illegal-combination", "These choices don't go together", "change one of them"),
    "TooManyCandidatesError": (
        "too-large",
        "The fit has more candidates than it may have",
        "train on fewer rows, or under a process (the service's operator sets RELEVANCE_MAX_CANDIDATE_CELLS)",
    ),
    "NotPositiveDefiniteError": (
        "not-computable",
        "The fit left the range of floating point",
        "more jitter and more noise were tried; leave out inputs that nearly repeat others, or choose another kernel",
    ),
}


def of_death(job: Job, *, with_worker: bool) -> Problem:
    """Return the problem of a job whose attempts all died, the last one by itself or with its worker, from what was
    seen of it."""
    seen = "its worker stopped without a word" if with_worker else "its process died"
    if not with_worker and job.last_words:
        seen += f", which {job.last_words}"
    if job.progress is not None:
        of = "" if job.progress.total is None else f" of {job.progress.total:,}"
        seen += (
            f", the last time in phase {job.progress.phase!r} after {job.progress.completed:,}{of} {job.progress.unit}"
        )
    if with_worker:
        advice = (
            "The logs of the workers and of their supervisor have why: a worker that was killed (OOMKilled, 137) needs"
            " more memory or fewer slots. One that could not reach the database is no fault of the job: retry it."
        )
    elif KILLED in (job.last_words or ""):
        advice = (
            "Nothing but the system or a person sends this signal; the system does so where memory is short: use fewer"
            " rows or inputs, or give the workers more memory."
        )
    else:
        advice = "This is a fault of the service, not of the data: its log has the details under this job's id."
    return _died(f"{MAX_STARTS} times", f"{seen}. {advice}")


def of_failure(failure: Failure, *, memory: int | None) -> Problem:
    """Return the problem for a child's exception; `memory` is the child's memory limit in bytes."""
    if failure.error == "MemoryError":
        had = "the worker has" if memory is None else f"the {memory / MEBIBYTE:,.0f} MiB that a fit may use here"
        return Problem(
            "too-large",
            "The fit needs more memory than it may use",
            f"It needs more memory than {had}: train on fewer rows or inputs, or give fits more"
            " (RELEVANCE_FIT_MEMORY_BYTES).",
        )
    if failure.error not in _ADVICE:
        return UNEXPECTED
    kind, title, advice = _ADVICE[failure.error]
    given = failure.detail.rstrip(".")
    return Problem(kind, title, f"{given}: {advice}." if given else f"{advice[0].upper()}{advice[1:]}.")


def of_error(error: TrainingFailedError) -> Problem:
    """Return the problem of a fit that could not begin."""
    return Problem(error.kind, "The rows can't be learned from", error.detail, error.faults)


def name_taken(error: ConflictError) -> Problem:
    """Return the problem of a training whose model's name was taken by another task, target or inputs meanwhile."""
    return Problem("model-conflict", "The model's name means something else by now", error.detail)
