"""Training: from a request to a queued job, and what its owner may then ask of it."""

from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from app.domain.errors import ConflictError, Fault, TooManyJobsError, UnavailableError
from app.domain.idempotency import Keyed
from app.domain.identity import uuid7
from app.domain.jobs import FINISHED, Event, Job, JobState, Transition
from app.domain.models import Model
from app.domain.planning import plan
from app.domain.ports import Clock, OpenUnitOfWork, Page, QueueControl
from app.domain.requests import TrainingPlan, TrainingRequest


@dataclass(frozen=True)
class History:
    """A stretch of what happened to a job; `is_whole`: it reaches to the job's end."""

    events: tuple[Event, ...]
    is_whole: bool


@dataclass(frozen=True)
class Training:
    """Training jobs as their owner meets them."""

    open_uow: OpenUnitOfWork
    queue_control: QueueControl
    clock: Clock
    most_unfinished: int = 10_000

    def submit(
        self,
        owner: str,
        request: TrainingRequest,
        *,
        priority: int = 0,
        retry_of: UUID | None = None,
        keyed: Keyed[Job] | None = None,
    ) -> Job:
        """Plan, record and queue a job, and keep the answer of a `keyed` request, all or nothing.

        Raises NotFoundError (dataset), InvalidRequestError (no plan can be made), ConflictError (the model's name is
        taken by versions that answer another question), TooManyJobsError, KeyInUseError.
        """
        with self.open_uow() as uow:
            dataset = uow.datasets.get(owner, request.dataset_id)
        made, at = plan(request, dataset), self.clock()
        job = Job(
            id=uuid7(),
            owner=owner,
            state="queued",
            created_at=at,
            request=request,
            plan=made,
            transitions=(Transition("queued", at, 0),),
            priority=priority,
            retry_of=retry_of,
        )
        answer = None if keyed is None else keyed.answer(job)
        # A second transaction, so that planning ten thousand columns keeps no writer waiting; `add` refuses a dataset
        # that was deleted in between.
        with self.open_uow() as uow:
            if keyed is not None and answer is not None:
                uow.keys.keep(keyed.key, answer)
            _refuse_another_meaning(uow.models.find(owner, made.model), made)
            uow.jobs.add(job)
            # Counted once the job is in: on SQLite nobody else adds one from here on.
            if uow.jobs.count_unfinished(owner) > self.most_unfinished:
                raise TooManyJobsError(
                    f"{self.most_unfinished:,} training jobs have not ended yet, and more may not wait: "
                    "try again later, or cancel some."
                )
            uow.queue.submit(job.id, owner=owner, priority=priority)
        return job

    def retry(self, owner: str, job_id: UUID, *, keyed: Keyed[Job] | None = None) -> Job:
        """A new job of the same request, planned anew; raises ConflictError while the job has not ended.

        Raises NotFoundError (job, dataset), and what else `submit` does.
        """
        job = self.get(owner, job_id)
        if job.state not in FINISHED:
            raise ConflictError(f"The job has not ended, it is {job.state}: let it end, or cancel it first.")
        return self.submit(owner, job.request, priority=job.priority, retry_of=job.id, keyed=keyed)

    def get(self, owner: str, job_id: UUID) -> Job:
        """One job; raises NotFoundError."""
        with self.open_uow() as uow:
            return uow.jobs.get(owner, job_id)

    def page(self, owner: str, *, limit: int, after: str | None, state: JobState | None = None) -> Page[Job]:
        """Jobs, newest first."""
        with self.open_uow() as uow:
            return uow.jobs.page(owner, limit=limit, after=after, state=state)

    def events(self, owner: str, job_id: UUID, *, limit: int, after: int) -> tuple[Event, ...]:
        """What happened to a job after event number `after`, oldest first; raises NotFoundError."""
        with self.open_uow() as uow:
            return uow.jobs.events(owner, job_id, limit=limit, after=after)

    def history(self, owner: str, job_id: UUID, *, limit: int, after: int) -> History:
        """The same, and whether that is all there will ever be; raises NotFoundError."""
        with self.open_uow() as uow:
            # Asked first: a job that has ended by now has its last event by now.
            ended = uow.jobs.has_ended(owner, job_id)
            events = uow.jobs.events(owner, job_id, limit=limit, after=after)
        is_last = bool(events) and events[-1].is_last
        return History(events, is_whole=is_last or (ended and len(events) < limit))

    def cancel(self, owner: str, job_id: UUID) -> Job:
        """Ask for a job's end, however often; raises NotFoundError, ConflictError when it has ended otherwise."""
        with self.open_uow() as uow:
            job = uow.jobs.request_cancel(owner, job_id)
        if job.state == "cancelled":
            # It never began. Should the engine be out of reach, its entry does no harm: a cancelled job is not claimed.
            with suppress(UnavailableError):
                self.queue_control.cancel(job.id)
        return job


def _refuse_another_meaning(model: Model | None, made: TrainingPlan) -> None:
    if model is None:
        return
    faults: list[Fault] = []
    if model.task != made.task:
        faults.append(Fault(f"The model's task is {model.task}, this one's is {made.task}.", pointer="/task"))
    if model.target != made.target and (made.target is not None or model.task == made.task):
        member, known, asked_for = made.target_member, _named(model.target), _named(made.target)
        faults.append(Fault(f"The model's `{member}` is {known}, this one's is {asked_for}.", pointer=f"/{member}"))
    asked = {column.name for column in made.inputs}
    if set(model.inputs) != asked:
        faults.append(Fault(_difference(frozenset(model.inputs), frozenset(asked)), pointer="/inputs"))
    if faults:
        raise ConflictError(
            f"The versions of model {model.name!r} answer another question; choose another `model` name.", faults
        )


def _named(column: str | None) -> str:
    return "none" if column is None else repr(column)


def _difference(known: frozenset[str], asked: frozenset[str]) -> str:
    parts = [
        f"{what} {', '.join(repr(name) for name in sorted(names)[:5])}{' and others' if len(names) > 5 else ''}"
        for what, names in (("without", known - asked), ("with the additional", asked - known))
        if names
    ]
    return f"The model reads other inputs: this one is {' and '.join(parts)}."
