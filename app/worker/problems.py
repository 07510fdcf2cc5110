"""Why a job failed, in sentences that say what to do."""

from collections.abc import Mapping

from app.domain.errors import ConflictError, TrainingFailedError
from app.domain.jobs import Problem
from app.domain.ports import QueueEnding
from app.worker.child.process import Failure

MOST_STARTS = 3
"""How often a job is started in all, when its worker or its child dies each time."""

UNEXPECTED = Problem(
    "internal-error",
    "Something unexpected happened",
    "This is a fault of the service, not of the data: its log has the details under this job's id."
    " Sending the job again is safe, and may help.",
)

DIED = Problem(
    "worker-died",
    "The fit's process died each time",
    f"The job was started {MOST_STARTS} times, and each time its process was ended from outside, most often for want"
    " of memory: train on fewer rows or inputs, or give the workers more memory.",
)

TOO_LONG = Problem(
    "timed-out",
    "The job took longer than a job may",
    "Train on fewer rows or inputs, or validate on fewer folds; whoever runs the service"
    " sets the limit (RELEVANCE_JOB_TIMEOUT_SECONDS).",
)

BY_ENDING: Mapping[QueueEnding, Problem] = {
    "lost": DIED,
    "cancelled": TOO_LONG,
    "failed": UNEXPECTED,
    "succeeded": UNEXPECTED,
    "unknown": UNEXPECTED,
}
"""For a job that its worker left unfinished when the engine's entry ended."""

_ADVICE: Mapping[str, tuple[str, str, str]] = {
    "ConstantTargetError": (
        "constant-target",
        "All targets are the same",
        "choose a target that differs between rows, or bring rows in which it does",
    ),
    "OneClassError": ("one-class", "Only one class is left", "bring rows of the other classes, or hold out fewer"),
    "DataError": ("unusable-data", "The rows can't be learned from", "correct them, or leave out the columns at fault"),
    "IllegalCombinationError": ("illegal-combination", "These choices don't go together", "change one of them"),
    "NotPositiveDefiniteError": (
        "not-computable",
        "The fit left the range of floating point",
        'send "standardise": true, a larger noise sd, or another width',
    ),
    "MemoryError": (
        "too-large",
        "The fit needs more memory than there is",
        "train on fewer rows or inputs, or give the workers more memory",
    ),
}


def of_failure(failure: Failure) -> Problem:
    """What a child's exception means to the job's owner."""
    if failure.error not in _ADVICE:
        return UNEXPECTED
    kind, title, advice = _ADVICE[failure.error]
    said = failure.detail.rstrip(".")
    return Problem(kind, title, f"{said}: {advice}." if said else f"{advice[0].upper()}{advice[1:]}.")


def of_error(error: TrainingFailedError) -> Problem:
    """A fit that could not begin."""
    return Problem(error.kind, "The rows can't be learned from", error.detail, error.faults)


def name_taken(error: ConflictError) -> Problem:
    """While the job ran, its model's name came to stand for something else."""
    return Problem("model-conflict", "The model's name means something else by now", error.detail)
