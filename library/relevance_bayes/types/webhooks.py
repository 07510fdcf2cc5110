"""Events of webhooks and the states of their deliveries."""

from collections.abc import Mapping
from typing import Literal, get_args

from relevance_bayes.types.jobs import JobKind, JobState

EventType = Literal[
    "training_job.succeeded",
    "training_job.failed",
    "training_job.cancelled",
    "evaluation.succeeded",
    "evaluation.failed",
    "evaluation.cancelled",
    "batch_prediction.succeeded",
    "batch_prediction.failed",
    "batch_prediction.cancelled",
    "promotion.succeeded",
    "promotion.failed",
    "promotion.cancelled",
]
EVENT_TYPES: tuple[EventType, ...] = get_args(EventType)
TEST: Literal["webhook.test"] = "webhook.test"
MessageType = EventType | Literal["webhook.test"]
"""What a message may be about: an end of a job, or nothing, where its receiver is tried."""

OF_KIND: Mapping[JobKind, Mapping[JobState, EventType]] = {
    "training": {
        "succeeded": "training_job.succeeded",
        "failed": "training_job.failed",
        "cancelled": "training_job.cancelled",
    },
    "evaluation": {
        "succeeded": "evaluation.succeeded",
        "failed": "evaluation.failed",
        "cancelled": "evaluation.cancelled",
    },
    "prediction": {
        "succeeded": "batch_prediction.succeeded",
        "failed": "batch_prediction.failed",
        "cancelled": "batch_prediction.cancelled",
    },
    "promotion": {
        "succeeded": "promotion.succeeded",
        "failed": "promotion.failed",
        "cancelled": "promotion.cancelled",
    },
}
"""What the end of a job of a kind is called."""

DeliveryState = Literal["pending", "delivered", "failed"]

Obstacle = Literal[
    "address-refused", "name-not-found", "not-connected", "tls", "timeout", "not-http", "interrupted", "disabled"
]
"""Why an attempt got no status: the URL leads where it may not, nowhere, to nobody, to somebody else, to somebody too
slow or to no server of HTTP; or the service lost the attempt; or the webhook was disabled.
"""
