"""Webhooks, what they were told, and what is sent to them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.api.schemas.jobs.shared import FromDomain, VersionNameOut
from app.domain.webhooks import LONGEST_DESCRIPTION
from relevance_bayes.plans.requests import Task
from relevance_bayes.types.jobs import JobState
from relevance_bayes.types.webhooks import EVENT_TYPES, DeliveryState, EventType, MessageType, Obstacle

Url: TypeAlias = Annotated[str, Field(description="https, without a name, a password or a #fragment.")]
Events: TypeAlias = Annotated[tuple[EventType, ...], Field(min_length=1, description="What it is told of.")]


class WebhookIn(BaseModel):
    """A URL to be told when a training has ended."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Url
    events: Events = EVENT_TYPES
    description: Annotated[str, Field(max_length=LONGEST_DESCRIPTION)] | None = None


class WebhookChangeIn(BaseModel):
    """What is to be changed of a webhook; what is left out stays."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Url | None = None
    events: Events | None = None
    enabled: bool | None = None


WEBHOOK_IN: TypeAdapter[WebhookIn] = TypeAdapter(WebhookIn)
WEBHOOK_CHANGE_IN: TypeAdapter[WebhookChangeIn] = TypeAdapter(WebhookChangeIn)


class WebhookOut(FromDomain):
    """A webhook; its secret is shown where it is made, and never again."""

    id: UUID
    url: str
    events: Sequence[EventType]
    description: str | None
    enabled: bool = Field(description="False after somebody said so, or its receiver did, by answering 410.")
    created_at: datetime


class NewWebhookOut(WebhookOut):
    """A webhook that was just made, with its secret."""

    secret: str = Field(description="What messages are signed with: keep it. It is shown this once.")


class AttemptOut(FromDomain):
    """One request, and what came back: a status, or what stood in its way."""

    at: datetime
    seconds: float
    status: int | None
    error: Obstacle | None


class DeliveryOut(FromDomain):
    """One event for one webhook."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
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
        }
    )

    id: UUID
    event_id: UUID = Field(description="The header `webhook-id` of each attempt.")
    type: MessageType
    job_id: UUID | None = Field(description="None of a test.")
    created_at: datetime
    state: DeliveryState
    next_attempt_at: datetime | None = Field(description="Where it is pending; when a worker is free, that is.")
    attempts: Sequence[AttemptOut] = Field(description="In their order; the newest 50.")


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
    version: VersionNameOut | None
    error: MessageProblemOut | None
    dataset_id: UUID
    model: str
    task: Task | Literal["approximation", "image", "components"]


class MessageOut(BaseModel):
    """What a webhook is told, in the form of Standard Webhooks."""

    type: EventType
    timestamp: datetime = Field(description="When the job ended.")
    data: EndedJobOut


class TestedWebhookOut(BaseModel):
    """Which webhook is tried."""

    webhook_id: UUID


class TestMessageOut(BaseModel):
    """What a webhook is told when it is tried."""

    type: Literal["webhook.test"]
    timestamp: datetime = Field(description="When somebody asked for it.")
    data: TestedWebhookOut
