"""Messages to webhooks in the format of Standard Webhooks: each has the same bytes in every attempt."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter

from app.jobs.records import Job
from relevance_bayes.records.errors import ProblemDetails
from relevance_bayes.records.jobs import JobState, VersionName
from relevance_bayes.records.json import encode
from relevance_bayes.records.outcomes import ModelAlarm
from relevance_bayes.records.values import AnyTask
from relevance_bayes.records.webhooks import TEST, AlarmEventType, JobEventType, MessageType


@dataclass(frozen=True, kw_only=True)
class MessageProblemOut(ProblemDetails):
    """The reason why a job failed, and the remedy."""

    instance: str


@dataclass(frozen=True)
class EndedJobOut:
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


@dataclass(frozen=True)
class MessageOut:
    """A message about an ended job to a webhook, in the format of Standard Webhooks."""

    type: JobEventType
    timestamp: Annotated[datetime, Field(description="The time of the job's end.")]
    data: EndedJobOut


@dataclass(frozen=True)
class AlarmMessageOut:
    """A message about an alarm of a model to a webhook."""

    type: AlarmEventType
    timestamp: Annotated[datetime, Field(description="The time at which the alarm was raised or cleared.")]
    data: ModelAlarm


@dataclass(frozen=True)
class TestedWebhookOut:
    """The webhook that is tested."""

    webhook_id: UUID


@dataclass(frozen=True)
class TestMessageOut:
    """The test message of a webhook."""

    type: Literal["webhook.test"]
    timestamp: Annotated[datetime, Field(description="The time of the request for the test.")]
    data: TestedWebhookOut


_MESSAGE: TypeAdapter[MessageOut] = TypeAdapter(MessageOut)
_ALARM_MESSAGE: TypeAdapter[AlarmMessageOut] = TypeAdapter(AlarmMessageOut)


def job_message(event: MessageType, job: Job) -> bytes:
    """Return the message about a job's end, which never changes, since an ended job does not.

    The members of `data` are those of the job's resource, without the long ones.
    """
    error = job.error
    data = vars(job) | {
        "model": job.for_model,
        "version": None if job.number is None else VersionName(job.model or job.for_model, job.number),
        "error": error
        and MessageProblemOut(
            type=f"/problems/{error.kind}", title=error.title, detail=error.detail, instance=job.path
        ),
        "task": json.loads(job.plan)["task"],
    }
    return _written(_MESSAGE.validate_python({"type": event, "timestamp": job.finished_at, "data": data}))


def alarm_message(event: MessageType, alarm: ModelAlarm) -> bytes:
    """Return the message about an alarm, whose members are those of its event, also where it was cleared since."""
    cleared_at = alarm.cleared_at if event == "model_alarm.cleared" else None
    data, timestamp = replace(alarm, cleared_at=cleared_at), cleared_at or alarm.raised_at
    return _written(_ALARM_MESSAGE.validate_python({"type": event, "timestamp": timestamp, "data": data}))


def trial_message(webhook_id: UUID, at: datetime) -> bytes:
    """Return the test message."""
    return _written(TestMessageOut(TEST, at, TestedWebhookOut(webhook_id)))


def _written(message: MessageOut | AlarmMessageOut | TestMessageOut) -> bytes:
    return json.dumps(encode(message), separators=(",", ":")).encode()
