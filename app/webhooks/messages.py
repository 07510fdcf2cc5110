"""The messages that webhooks receive."""

import json
from datetime import datetime
from uuid import UUID

from app.jobs.records import Job, Problem
from relevance_bayes.types.webhooks import TEST, MessageType


def trial_message(webhook_id: UUID, at: datetime) -> bytes:
    """Return the test message: the same bytes each time."""
    content = {"type": TEST, "timestamp": _moment(at), "data": {"webhook_id": str(webhook_id)}}
    return json.dumps(content, separators=(",", ":")).encode()


def message(event: MessageType, job: Job) -> bytes:
    """Return the message about a job's end: the same bytes each time, since an ended job never changes.

    The members of `data` are those of the job's resource, without the long ones.
    """
    data = {
        "id": str(job.id),
        "state": job.state,
        "created_at": _moment(job.created_at),
        "started_at": _moment(job.started_at),
        "finished_at": _moment(job.finished_at),
        "attempt": job.attempt,
        "version": None if job.number is None else {"model": job.model or job.for_model, "version": job.number},
        "error": None if job.error is None else _problem(job.error, job.path),
        "dataset_id": str(job.dataset_id),
        "model": job.for_model,
        "task": json.loads(job.plan)["task"],
    }
    content = {"type": event, "timestamp": _moment(job.finished_at), "data": data}
    return json.dumps(content, separators=(",", ":")).encode()


def _problem(problem: Problem, path: str) -> dict[str, str]:
    return {
        "type": f"/problems/{problem.kind}",
        "title": problem.title,
        "detail": problem.detail,
        "instance": path,
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat().replace("+00:00", "Z")
