"""Calls on trainings."""

from collections.abc import AsyncGenerator, Coroutine, Mapping
from dataclasses import dataclass
from typing import TypeVar, overload

from relevance_bayes.client.calls import Asynchronous, Blocking, M, listing, performed
from relevance_bayes.client.http import of_kind
from relevance_bayes.client.job_collection import JobCollection
from relevance_bayes.client.responses import Job, Json, SupervisedJob, TrainingJob
from relevance_bayes.types.pages import Page
from relevance_bayes.types.records import Converter

K = TypeVar("K", bound=Job)

TRAININGS = "/v1/training-jobs"
ANY_TRAINING: Converter[Job] = Converter(TrainingJob)


@dataclass(frozen=True)
class Trainings(JobCollection[M, Job]):
    """Trainings, which create versions.

    Trainings of numbers and classes are expected; `of` is another class, or `Job` for any.
    """

    path: str = TRAININGS
    one: Converter[Job] = ANY_TRAINING
    many: type[Page[TrainingJob]] = Page[TrainingJob]

    @listing
    def all(self, *, state: str | None = None) -> AsyncGenerator[Job, None]:
        """Return all trainings, or those in this state, newest first."""
        return self.http.pages(self.many, self.path, {"state": state})

    @overload
    def submit(
        self: "Trainings[Blocking]", request: Mapping[str, Json], *, key: str | None = None
    ) -> SupervisedJob: ...
    @overload
    def submit(
        self: "Trainings[Blocking]", request: Mapping[str, Json], *, of: type[K], key: str | None = None
    ) -> K: ...
    @overload
    def submit(
        self: "Trainings[Asynchronous]", request: Mapping[str, Json], *, key: str | None = None
    ) -> Coroutine[object, None, SupervisedJob]: ...
    @overload
    def submit(
        self: "Trainings[Asynchronous]", request: Mapping[str, Json], *, of: type[K], key: str | None = None
    ) -> Coroutine[object, None, K]: ...
    def submit(
        self, request: Mapping[str, Json], *, of: type[Job] = SupervisedJob, key: str | None = None
    ) -> Job | Coroutine[object, None, Job]:
        """Submit a training; `request` as in the API: `dataset_id` and `target` are required.

        `key` as in `Client.upload`.
        """
        return performed(self.http, self._submit(request, of, key))

    @overload
    def get(self: "Trainings[Blocking]", job_id: str, *, wait: float = 0) -> SupervisedJob: ...
    @overload
    def get(self: "Trainings[Blocking]", job_id: str, *, of: type[K], wait: float = 0) -> K: ...
    @overload
    def get(
        self: "Trainings[Asynchronous]", job_id: str, *, wait: float = 0
    ) -> Coroutine[object, None, SupervisedJob]: ...
    @overload
    def get(
        self: "Trainings[Asynchronous]", job_id: str, *, of: type[K], wait: float = 0
    ) -> Coroutine[object, None, K]: ...
    def get(self, job_id: str, *, of: type[Job] = SupervisedJob, wait: float = 0) -> Job | Coroutine[object, None, Job]:
        """Return a training, once it has ended or after `wait` seconds."""
        return performed(self.http, self._as(of, self._get(job_id, wait)))

    @overload
    def wait(self: "Trainings[Blocking]", job_id: str) -> SupervisedJob: ...
    @overload
    def wait(self: "Trainings[Blocking]", job_id: str, *, of: type[K]) -> K: ...
    @overload
    def wait(self: "Trainings[Asynchronous]", job_id: str) -> Coroutine[object, None, SupervisedJob]: ...
    @overload
    def wait(self: "Trainings[Asynchronous]", job_id: str, *, of: type[K]) -> Coroutine[object, None, K]: ...
    def wait(self, job_id: str, *, of: type[Job] = SupervisedJob) -> Job | Coroutine[object, None, Job]:
        """Wait for a training to end, without a timeout."""
        return performed(self.http, self._as(of, self._wait(job_id)))

    async def _submit(self, request: Mapping[str, Json], kind: type[K], key: str | None) -> K:
        job = await self.http.create(self.one, self.path, request, key=key)
        return of_kind(kind, job)

    async def _as(self, kind: type[K], job: Coroutine[object, None, Job]) -> K:
        return of_kind(kind, await job)
