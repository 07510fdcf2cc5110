"""The kinds of jobs, the states that they are in, and the only moves between these; knows nothing of what jobs do."""

from collections.abc import Mapping
from typing import Literal

JobKind = Literal["training", "evaluation", "prediction", "promotion"]

NOUNS: Mapping[JobKind, str] = {
    "training": "training job",
    "evaluation": "evaluation",
    "prediction": "batch prediction",
    "promotion": "promotion",
}
"""What a job is called where its owner is told of it."""

ROOMS: Mapping[JobKind, str] = {
    "training": "/v1/training-jobs",
    "evaluation": "/v1/evaluations",
    "prediction": "/v1/batch-predictions",
    "promotion": "/v1/promotions",
}
"""Under which path jobs of a kind are found."""

JobState = Literal["queued", "running", "succeeded", "failed", "cancelled"]

MOVES: Mapping[JobState, Mapping[JobState, str]] = {
    "queued": {
        "running": "a worker starts it",
        "failed": "its entry in the queue is lost before a worker could begin",
        "cancelled": "its owner asks for it",
    },
    "running": {
        "running": "the next start goes on with it",
        "succeeded": "what came of it is recorded",
        "failed": "the rows can't be learned from, its time is over, or its starts died",
        "cancelled": "its owner asks for it",
    },
    "succeeded": {},
    "failed": {},
    "cancelled": {},
}
"""From each state, the states that may follow, and when. `running` follows itself when a new attempt takes over."""

FINISHED: frozenset[JobState] = frozenset(state for state, following in MOVES.items() if not following)
UNFINISHED: frozenset[JobState] = frozenset(MOVES) - FINISHED


def may_move(now: JobState, following: JobState) -> bool:
    """Whether a job in state `now` may go to `following`."""
    return following in MOVES[now]
