"""Who is told of the ends of jobs, and what they were told."""

from dataclasses import dataclass
from datetime import datetime

from relevance_bayes.types.webhooks import DeliveryState, EventType, MessageType


@dataclass(frozen=True)
class Webhook:
    """A URL that is told when a job has ended, while it is `enabled`."""

    id: str
    url: str
    events: tuple[EventType, ...]
    description: str | None
    enabled: bool
    created_at: datetime


@dataclass(frozen=True)
class NewWebhook(Webhook):
    """A webhook that was just made, with the `secret` that its messages are signed with; shown this once."""

    secret: str


@dataclass(frozen=True)
class Attempt:
    """One request: when, how long, and the status that came back or the obstacle that stood in its way."""

    at: datetime
    seconds: float
    status: int | None
    error: str | None


@dataclass(frozen=True)
class Delivery:
    """One event for one webhook; `event_id` is the header `webhook-id` of each attempt, `job_id` None of a test."""

    id: str
    event_id: str
    type: MessageType
    job_id: str | None
    created_at: datetime
    state: DeliveryState
    next_attempt_at: datetime | None
    attempts: tuple[Attempt, ...]
