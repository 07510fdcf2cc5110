"""Webhooks, what they were told, and what is sent to them."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.webhooks.records import MAX_DESCRIPTION_LENGTH, Delivery, Webhook
from relevance_bayes.plans.requests import Task
from relevance_bayes.types import webhooks as records
from relevance_bayes.types.jobs import JobState, VersionName
from relevance_bayes.types.webhooks import EVENT_TYPES, EventType

Url: TypeAlias = Annotated[str, Field(description="https, without a name, a password or a #fragment.")]
Events: TypeAlias = Annotated[tuple[EventType, ...], Field(min_length=1, description="What it is told of.")]


class WebhookIn(BaseModel):
    """A URL to be told when a training has ended."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Url
    events: Events = EVENT_TYPES
    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_LENGTH)] | None = None


class WebhookChangeIn(BaseModel):
    """A change of a webhook; what is left out stays."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Url | None = None
    events: Events | None = None
    enabled: bool | None = None


WEBHOOK_IN: TypeAdapter[WebhookIn] = TypeAdapter(WebhookIn)
WEBHOOK_CHANGE_IN: TypeAdapter[WebhookChangeIn] = TypeAdapter(WebhookChangeIn)


def webhook_record(webhook: Webhook) -> records.Webhook:
    """A webhook as it goes out."""
    return records.Webhook(
        str(webhook.id), webhook.url, webhook.events, webhook.description, webhook.enabled, webhook.created_at
    )


def delivery_record(delivery: Delivery) -> records.Delivery:
    """A delivery as it goes out."""
    return records.Delivery(
        id=str(delivery.id),
        event_id=str(delivery.event_id),
        type=delivery.type,
        job_id=None if delivery.job_id is None else str(delivery.job_id),
        created_at=delivery.created_at,
        state=delivery.state,
        next_attempt_at=delivery.next_attempt_at,
        attempts=delivery.attempts,
    )


class MessageProblemOut(BaseModel):
    """Why a job failed, and what to do."""

    type: str
    title: str
    detail: str
    instance: str


class EndedJobOut(BaseModel):
    """A job that has ended: members that it has where it is looked at."""

    id: UUID
    state: JobState
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime
    attempt: int
    version: VersionName | None
    error: MessageProblemOut | None
    dataset_id: UUID
    model: str
    task: Task | Literal["approximation", "image", "components"]


class MessageOut(BaseModel):
    """The message to a webhook, in the form of Standard Webhooks."""

    type: EventType
    timestamp: datetime = Field(description="When the job ended.")
    data: EndedJobOut


class TestedWebhookOut(BaseModel):
    """Which webhook is tried."""

    webhook_id: UUID


class TestMessageOut(BaseModel):
    """The test message of a webhook."""

    type: Literal["webhook.test"]
    timestamp: datetime = Field(description="When somebody asked for it.")
    data: TestedWebhookOut
