"""The API's schemas of webhooks, their deliveries and messages."""

from datetime import datetime
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.webhooks.records import MAX_DESCRIPTION_LENGTH, Delivery, Webhook
from relevance_bayes.records import webhooks as records
from relevance_bayes.records.jobs import JobState, VersionName
from relevance_bayes.records.outcomes import ModelAlarm
from relevance_bayes.records.values import AnyTask
from relevance_bayes.records.webhooks import EVENT_TYPES, AlarmEventType, EventType, JobEventType

Url: TypeAlias = Annotated[str, Field(description="An https URL without user name, password or #fragment.")]
Events: TypeAlias = Annotated[
    tuple[EventType, ...], Field(min_length=1, description="The events that it subscribes to.")
]


class WebhookIn(BaseModel):
    """A URL to receive messages about ended jobs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Url
    events: Events = EVENT_TYPES
    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_LENGTH)] | None = None


class WebhookChangeIn(BaseModel):
    """A change of a webhook; omitted members are kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Url | None = None
    events: Events | None = None
    enabled: bool | None = None


WEBHOOK_IN: TypeAdapter[WebhookIn] = TypeAdapter(WebhookIn)
WEBHOOK_CHANGE_IN: TypeAdapter[WebhookChangeIn] = TypeAdapter(WebhookChangeIn)


def webhook_record(webhook: Webhook) -> records.Webhook:
    """Return the API's form of a webhook."""
    return records.Webhook(
        str(webhook.id), webhook.url, webhook.events, webhook.description, webhook.enabled, webhook.created_at
    )


def delivery_record(delivery: Delivery) -> records.Delivery:
    """Return the API's form of a delivery."""
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
    """The reason why a job failed, and the remedy."""

    type: str
    title: str
    detail: str
    instance: str


class EndedJobOut(BaseModel):
    """An ended job, with some members of its resource."""

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
    task: AnyTask


class MessageOut(BaseModel):
    """A message about an ended job to a webhook, in the format of Standard Webhooks."""

    type: JobEventType
    timestamp: datetime = Field(description="The time of the job's end.")
    data: EndedJobOut


class AlarmMessageOut(BaseModel):
    """A message about an alarm of a model to a webhook."""

    type: AlarmEventType
    timestamp: datetime = Field(description="The time at which the alarm was raised or cleared.")
    data: ModelAlarm


class TestedWebhookOut(BaseModel):
    """The webhook that is tested."""

    webhook_id: UUID


class TestMessageOut(BaseModel):
    """The test message of a webhook."""

    type: Literal["webhook.test"]
    timestamp: datetime = Field(description="The time of the request for the test.")
    data: TestedWebhookOut
