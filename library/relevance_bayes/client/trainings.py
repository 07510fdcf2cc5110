"""Calls on trainings."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import TypeVar, overload

from relevance_bayes.client.calls import Asynchronous, Awaited, Blocking, M, call, listing, performed
from relevance_bayes.client.http import of_kind
from relevance_bayes.client.jobs import JobCollection, JobHandle, ended_at, job_at
from relevance_bayes.client.responses import Dataset, Job, Json, SupervisedJob, TrainingJob
from relevance_bayes.client.uploads import Uploadable, uploaded_once
from relevance_bayes.records.json import JsonInput, ResponseForm
from relevance_bayes.records.pages import Page

K = TypeVar("K", bound=Job)

TRAININGS = "/v1/training-jobs"
ANY_TRAINING: ResponseForm[Job] = ResponseForm(TrainingJob)


class _OfKind(ResponseForm[K]):
    """Reads a training of any task, and raises ClientError for one that is no `kind`."""

    def __init__(self, kind: type[K]) -> None:
        super().__init__(kind)
        self._kind = kind

    def read(self, text: bytes | str) -> K:
        """Return the training in a JSON text."""
        return of_kind(self._kind, ANY_TRAINING.read(text))


@dataclass(frozen=True)
class Trainings(JobCollection[M, Job]):
    """Trainings, which create versions.

    Trainings of numbers and classes are expected; `of` is another class, or `Job` for any.
    """

    path: str = TRAININGS
    one: ResponseForm[Job] = ANY_TRAINING
    many: type[Page[TrainingJob]] = Page[TrainingJob]

    @listing
    def all(
        self, *, model: str | None = None, dataset_id: str | None = None, state: str | None = None
    ) -> AsyncGenerator[Job, None]:
        """Return the trainings that match, newest first."""
        return self.http.pages(self.many, self.path, {"model": model, "dataset_id": dataset_id, "state": state})

    @overload
    def submit(
        self: "Trainings[Blocking]", request: Mapping[str, JsonInput], *, key: str | None = None
    ) -> SupervisedJob: ...
    @overload
    def submit(
        self: "Trainings[Blocking]", request: Mapping[str, JsonInput], *, of: type[K], key: str | None = None
    ) -> K: ...
    @overload
    def submit(
        self: "Trainings[Asynchronous]", request: Mapping[str, JsonInput], *, key: str | None = None
    ) -> Awaited[SupervisedJob]: ...
    @overload
    def submit(
        self: "Trainings[Asynchronous]", request: Mapping[str, JsonInput], *, of: type[K], key: str | None = None
    ) -> Awaited[K]: ...
    def submit(
        self, request: Mapping[str, JsonInput], *, of: type[Job] = SupervisedJob, key: str | None = None
    ) -> Job | Awaited[Job]:
        """Submit a training; `request` as in the API: `dataset_id` and `target` are required.

        `key` as in `Client.upload`.
        """
        return performed(self.http, self.http.create(_OfKind(of), self.path, request, key=key))

    @overload
    def get(self: "Trainings[Blocking]", job_id: str, *, wait: float = 0) -> SupervisedJob: ...
    @overload
    def get(self: "Trainings[Blocking]", job_id: str, *, of: type[K], wait: float = 0) -> K: ...
    @overload
    def get(self: "Trainings[Asynchronous]", job_id: str, *, wait: float = 0) -> Awaited[SupervisedJob]: ...
    @overload
    def get(self: "Trainings[Asynchronous]", job_id: str, *, of: type[K], wait: float = 0) -> Awaited[K]: ...
    def get(self, job_id: str, *, of: type[Job] = SupervisedJob, wait: float = 0) -> Job | Awaited[Job]:
        """Return a training, once it has ended or after `wait` seconds."""
        return performed(self.http, job_at(self.http, _OfKind(of), self._at(job_id), wait))

    @overload
    def wait(self: "Trainings[Blocking]", job_id: str, *, progress: bool = False) -> SupervisedJob: ...
    @overload
    def wait(self: "Trainings[Blocking]", job_id: str, *, of: type[K], progress: bool = False) -> K: ...
    @overload
    def wait(self: "Trainings[Asynchronous]", job_id: str, *, progress: bool = False) -> Awaited[SupervisedJob]: ...
    @overload
    def wait(self: "Trainings[Asynchronous]", job_id: str, *, of: type[K], progress: bool = False) -> Awaited[K]: ...
    def wait(self, job_id: str, *, of: type[Job] = SupervisedJob, progress: bool = False) -> Job | Awaited[Job]:
        """Wait for a training to end, without a timeout; `progress` as in `JobHandle.wait`."""
        return performed(self.http, ended_at(self.http, _OfKind(of), self._at(job_id), progress=progress))

    @overload
    def handle(self, job: str | Job) -> JobHandle[M, SupervisedJob]: ...
    @overload
    def handle(self, job: str | Job, *, of: type[K]) -> JobHandle[M, K]: ...
    def handle(
        self, job: str | Job, *, of: type[Job] = SupervisedJob
    ) -> JobHandle[M, SupervisedJob] | JobHandle[M, K] | JobHandle[M, Job]:
        """Return a training, given by its id or its record, with the calls on it."""
        return self._handle(job, of)

    @call
    async def start(
        self, data: Dataset | Uploadable, /, *, target: str, model: str, **options: Json
    ) -> JobHandle[M, SupervisedJob]:
        """Train on a dataset, or on what `upload` takes, as the dataset `model`; return the job with its calls.

        What is this dataset already is not stored again.

        `options` are further members of the request, as in the API.
        """
        dataset = data if isinstance(data, Dataset) else (await uploaded_once(self.http, data, model)).dataset
        request = {"dataset_id": dataset.id, "target": target, "model": model, **options}
        job = await self.http.create(_OfKind(SupervisedJob), self.path, request)
        return self._handle(job, SupervisedJob)

    def _handle(self, job: str | Job, kind: type[K]) -> JobHandle[M, K]:
        job_id = job if isinstance(job, str) else job.id
        return JobHandle(self.http, job_id, self._at(job_id), _OfKind(kind))
