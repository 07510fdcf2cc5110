"""Requests and plans of jobs as JSON, one form for each kind of jobs."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from app.database.base import Document
from app.identity import uuid7
from app.jobs.records import Job, wrong_kind
from app.origin import current_origin
from app.tracing.spans import current_traceparent, current_tracestate
from relevance_bayes.records.jobs import NOUNS, JobKind, Transition


class Request(Protocol):
    """The request for a job, which reads a dataset."""

    @property
    def dataset_id(self) -> UUID: ...
    @property
    def priority(self) -> int: ...


class Plan(Protocol):
    """The request, resolved; it is about a model."""

    @property
    def model(self) -> str: ...


R = TypeVar("R", bound=Request)
P = TypeVar("P", bound=Plan)


def no_versions(_: Plan) -> tuple[int, ...]:
    """The versions that a training uses."""
    return ()


@dataclass(frozen=True)
class JobForm(Generic[R, P]):
    """The request and the plan of jobs of one kind; `scored` returns the numbers of the versions that a plan uses."""

    kind: JobKind
    request: Document[R]
    plan: Document[P]
    scored: Callable[[P], tuple[int, ...]] = no_versions

    def queued(self, owner: str, request: R, plan: P, *, at: datetime, retry_of: UUID | None = None) -> Job:
        """Return a new job with its first transition, in the trace of the current span."""
        origin = current_origin()
        return Job(
            id=uuid7(),
            owner=owner,
            kind=self.kind,
            state="queued",
            created_at=at,
            dataset_id=request.dataset_id,
            for_model=plan.model,
            request=self.request.write(request),
            plan=self.plan.write(plan),
            scored=self.scored(plan),
            transitions=(Transition("queued", at, 0),),
            priority=request.priority,
            retry_of=retry_of,
            submitted_by=origin.owner,
            submitted_with=None if origin.owner is None else origin.actor_id,
            traceparent=current_traceparent(),
            tracestate=current_tracestate(),
        )

    def read(self, job: Job) -> tuple[R, P]:
        """Return the request and the plan of a job; raises TypeError for a job of another kind."""
        if job.kind != self.kind:
            raise wrong_kind(job, f"the kind {NOUNS[self.kind]!r}")
        return self.request.read(job.request), self.plan.read(job.plan)
