"""Names in the queue's tables, which workers and API processes of all versions share."""

from collections.abc import Mapping
from uuid import NAMESPACE_URL, UUID, uuid5

from relevance_bayes.records.jobs import MAX_PRIORITY, JobKind

APPLICATION = "relevance"
VERSION = "1"
"""Fixed, where DBOS would hash the code: a job begun before an upgrade would then never be recovered."""

QUEUE = "training"
WORKFLOW = "train"

SCORING_QUEUE = "scoring"
SCORING_WORKFLOW = "score"
"""Queues of their own, so that none waits behind long fits."""


def lane(kind: JobKind) -> tuple[str, str]:
    """Return the queue and the workflow of jobs of a kind."""
    return (QUEUE, WORKFLOW) if kind == "training" else (SCORING_QUEUE, SCORING_WORKFLOW)


def rank(priority: int) -> int:
    """Return DBOS's priority of a job: lower runs first, from 1; 0 would mean no priority."""
    return MAX_PRIORITY + 1 - priority


WEBHOOK_QUEUE = "webhooks"
WEBHOOK_WORKFLOW = "deliver"
WEBHOOK_PRIORITY = 100


def queue_id(queue: str) -> UUID:
    """Return the id under which listeners are notified of new entries of a queue."""
    return uuid5(NAMESPACE_URL, f"relevance:queue:{queue}")


BY_ID: Mapping[UUID, str] = {queue_id(queue): queue for queue in (QUEUE, SCORING_QUEUE, WEBHOOK_QUEUE)}
"""The queues by the ids of their notifications."""

MAX_RECOVERIES = 100
"""The number of times that DBOS restarts a job before it gives up.

Attempts that died are counted by the job itself: DBOS does not distinguish them from interrupted ones, and each running
job is interrupted whenever its worker is stopped.
"""
