"""Webhooks, their events, and deliveries."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import Field

from relevance_bayes.records.annotations import Id, wire
from relevance_bayes.records.jobs import JobKind, JobState

JobEventType = Literal[
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
AlarmEventType = Literal["model_alarm.raised", "model_alarm.cleared"]
EventType = JobEventType | AlarmEventType
ALARM_EVENT_TYPES: tuple[EventType, ...] = get_args(AlarmEventType)
EVENT_TYPES: tuple[EventType, ...] = (*get_args(JobEventType), *ALARM_EVENT_TYPES)
TEST: Literal["webhook.test"] = "webhook.test"
MessageType = EventType | Literal["webhook.test"]
"""The types of messages: the end of a job, an alarm of a model, or a test."""

OF_KIND: Mapping[JobKind, Mapping[JobState, JobEventType]] = {
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
"""The event types of jobs by kind."""

DeliveryState = Literal["pending", "delivered", "failed"]

DeliveryError = Literal[
    "address-refused", "name-not-found", "not-connected", "tls", "timeout", "not-http", "interrupted", "disabled"
]
"""The reason why an attempt got no response: the URL is not allowed or does not resolve, the connection fails, the
certificate or the response is invalid, a timeout; or the attempt was lost, or the webhook disabled."""


MAX_DESCRIPTION_LENGTH = 200

Url: TypeAlias = Annotated[str, Field(description="An https URL without user name, password or #fragment.")]
Events: TypeAlias = Annotated[
    tuple[EventType, ...], Field(min_length=1, description="The events that it subscribes to.")
]


@dataclass(frozen=True)
class WebhookRequest:
    """A URL to receive messages about ended jobs."""

    __pydantic_config__ = wire(extra="forbid")

    url: Url
    events: Events = EVENT_TYPES
    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_LENGTH)] | None = None


@dataclass(frozen=True)
class WebhookChange:
    """A change of a webhook; omitted members are kept."""

    __pydantic_config__ = wire(extra="forbid")

    url: Url | None = None
    events: Events | None = None
    enabled: bool | None = None


@dataclass(frozen=True)
class Webhook:
    """A webhook; its secret is only in the response that creates it."""

    __pydantic_config__ = wire()

    id: Id
    url: str
    events: tuple[EventType, ...]
    description: str | None
    enabled: bool
    """False after its owner disabled it, or its receiver responded with 410."""
    created_at: datetime


@dataclass(frozen=True)
class NewWebhook(Webhook):
    """A new webhook, with its secret."""

    secret: str
    """The key of signatures, which is not shown again."""


@dataclass(frozen=True)
class Attempt:
    """One request, and its outcome: a status, or the reason why there is none."""

    __pydantic_config__ = wire()

    at: datetime
    seconds: float
    status: int | None = None
    error: DeliveryError | None = None

    @property
    def has_succeeded(self) -> bool:
        """Return whether the receiver has accepted the message."""
        return self.status is not None and 200 <= self.status < 300


@dataclass(frozen=True)
class Delivery:
    """One event for one webhook."""

    __pydantic_config__ = wire(
        example={
            "id": "01a20411-7d0c-7b9e-8a27-3d1c5e6f7a81",
            "event_id": "01a20411-7d0c-7a04-b3f1-92c1d0e8b6c5",
            "type": "training_job.succeeded",
            "job_id": "01a20411-6a2e-7c58-9f0b-5b7c1a2d3e4f",
            "created_at": "2026-11-22T03:21:18.123456Z",
            "state": "delivered",
            "next_attempt_at": None,
            "attempts": [
                {"at": "2026-11-22T03:21:18.4Z", "seconds": 10.0, "status": None, "error": "timeout"},
                {"at": "2026-11-22T03:21:34.1Z", "seconds": 0.08, "status": 204, "error": None},
            ],
        }
    )

    id: Id
    event_id: Id
    """The header `webhook-id` of each attempt."""
    type: MessageType
    job_id: Id | None
    """None for a test, and for an alarm."""
    created_at: datetime
    state: DeliveryState
    next_attempt_at: datetime | None
    """The earliest time of the next attempt, where it is pending."""
    attempts: tuple[Attempt, ...]
    """The newest 50, in order."""
