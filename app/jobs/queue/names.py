"""Names in the queue's tables: workers and API processes of all versions have to agree on it."""

from app.jobs.records import MAX_PRIORITY
from relevance_bayes.types.jobs import JobKind

APPLICATION = "relevance"
VERSION = "1"
"""Not of our code, which the engine would else hash: a job begun before an upgrade would then wait for ever."""

QUEUE = "training"
WORKFLOW = "train"

SCORING_QUEUE = "scoring"
SCORING_WORKFLOW = "score"
"""Of their own, so that a worker from before there were such jobs takes none, and none waits behind long fits."""


def lane(kind: JobKind) -> tuple[str, str]:
    """The queue and the workflow of jobs of a kind."""
    return (QUEUE, WORKFLOW) if kind == "training" else (SCORING_QUEUE, SCORING_WORKFLOW)


def rank(priority: int) -> int:
    """A job's place within its owner's, as the engine has it: lower goes first, from 1; 0 would be "not said"."""
    return MAX_PRIORITY + 1 - priority


WEBHOOK_QUEUE = "webhooks"
WEBHOOK_WORKFLOW = "deliver"
WEBHOOK_PRIORITY = 100

MAX_RECOVERIES = 100
"""The number of times that the queue restarts a job before it gives up.

Starts that died are counted by the job itself: the engine can't tell them from those that were handed back, as each
running job is whenever its worker is stopped in good order.
"""
