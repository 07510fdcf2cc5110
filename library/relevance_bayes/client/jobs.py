"""Jobs: one with the calls on it, followed over streams of events; trainings, and jobs of all kinds."""

import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

from relevance_bayes.client.calls import Asynchronous, Awaited, Blocking, Calls, M, call, listing, performed
from relevance_bayes.client.drivers import Query
from relevance_bayes.client.errors import CONNECTION_LOST, NOT_REACHABLE, ClientError, Problem
from relevance_bayes.client.http import Http, of_kind, part
from relevance_bayes.client.progress import display_of
from relevance_bayes.client.responses import Dataset, Job, Json, SupervisedJob, TrainingJob
from relevance_bayes.client.uploads import Uploadable, uploaded_once
from relevance_bayes.records.html import facts_html
from relevance_bayes.records.jobs import Event, JobBase, JobKind, JobPage, JobState, JobSummary
from relevance_bayes.records.json import JsonInput, Page, ResponseForm


@dataclass(frozen=True)
class Message:
    """A message of a stream; `id` is the last one received, empty without any."""

    id: str
    event: str
    data: str


def messages(chunks: Iterable[bytes]) -> Iterator[Message]:
    """Yield the messages of a stream from chunks of any size, without a truncated last one."""
    stream = _EventStream()
    return (message for chunk in chunks for _, message in stream.receive(chunk) if message is not None)


class _EventStream:
    """A stream whose chunks are received one by one, of any size."""

    def __init__(self) -> None:
        self._last_id, self._event = "", ""
        self._data: list[str] = []
        self._begun = b""
        self._after_return = False

    def receive(self, chunk: bytes) -> Iterator[tuple[str, Message | None]]:
        """Yield the last id after each block of lines that ends, with the block's message; None without data."""
        for line in self._lines(chunk):
            if not line:
                data = "\n".join(self._data)
                yield self._last_id, Message(self._last_id, self._event or "message", data) if self._data else None
                self._event, self._data = "", []
                continue
            name, _, value = line.partition(":")  # a comment has an empty name
            value = value.removeprefix(" ")
            match name:
                case "data":
                    self._data.append(value)
                case "event":
                    self._event = value
                case "id" if "\0" not in value:
                    self._last_id = value

    def _lines(self, chunk: bytes) -> Iterator[str]:
        """Yield complete lines, by the three terminators of the standard; `splitlines` of a text knows more."""
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the second half of a terminator across two chunks
        if not chunk:
            return
        self._after_return = chunk.endswith(b"\r")
        *whole, begun = (self._begun + chunk + b".").splitlines()
        self._begun = begun[:-1]
        for line in whole:
            yield line.decode("utf-8", errors="replace")


T = TypeVar("T")

_EVENT: ResponseForm[Event] = ResponseForm(Event)

PAUSES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0)
"""The delays before reconnects without an event between: half a minute, in which a service restarts."""

STEADY_SECONDS = 10.0
"""The duration of a stream after which its end does not count as a failure, even without events."""

SILENCE_SECONDS = 45.0
"""The timeout of a stream without data; the service sends three comments within it."""


async def follow(http: Http, path: str, *, after: int = 0) -> AsyncGenerator[Event, None]:
    """Yield the events at `path` after number `after`, as they happen, to the job's end.

    Raises ClientError as `followed` does.
    """
    async with aclosing(followed(http, path, after=after)) as messages:
        async for message in messages:
            event = _read_message(message, _EVENT)
            yield event
            if event.is_last:
                return


async def followed(
    http: Http, path: str, *, after: int | str = 0, query: Query | None = None
) -> AsyncGenerator[Message, None]:
    """Yield the messages at `path` after the id `after`, as they come, until the service responds that there are none.

    Raises ClientError where the service refuses, can't be reached at first, or not after all retries.
    """
    was_reached, failures, last_id = False, 0, str(after)
    while True:
        began = time.monotonic()
        broken = ClientError(_ENDED)
        headers = {"Accept": "text/event-stream", "Last-Event-ID": last_id}
        try:
            async with http.stream(path, headers=headers, silence=SILENCE_SECONDS, query=query) as chunks:
                if chunks is None:  # the job has ended, and its last event was received
                    return
                was_reached = True
                stream = _EventStream()
                async for chunk in chunks:
                    for block_id, message in stream.receive(chunk):
                        last_id = block_id or last_id
                        if message is not None:
                            failures = 0
                            yield message
        except ClientError as error:
            if not was_reached or not _may_pass(error.problem):
                raise
            broken = error
        if time.monotonic() - began > STEADY_SECONDS:
            failures = 0
        if failures == len(PAUSES):
            raise broken
        await http.driver.sleep(PAUSES[failures])
        failures += 1


_ENDED = Problem(type=NOT_REACHABLE, title="Not reachable", detail="The event stream ended early after every retry.")


def _read_message(message: Message, form: ResponseForm[T]) -> T:
    """Return the record in a message; raises ClientError where it is another one."""
    try:
        return form.read(message.data)
    except ValueError as broken:
        detail = f"Expected an event of Relevance in the stream, got another message: {broken}."
        raise ClientError(Problem(title="Not understood", detail=detail)) from broken


def _may_pass(problem: Problem) -> bool:
    return problem.type in {NOT_REACHABLE, CONNECTION_LOST} or (problem.status or 0) >= 500


J = TypeVar("J", bound=JobBase)

MAX_WAIT_SECONDS = 30
"""The maximum time of one long poll."""


async def job_at(http: Http, one: ResponseForm[J], path: str, wait: float) -> J:
    """Return the job at a path, once it has ended or after `wait` seconds."""
    return await http.get(one, path, {"wait": wait or None}, wait=wait)


async def ended_at(http: Http, one: ResponseForm[J], path: str, *, progress: bool) -> J:
    """Wait for the job at a path to end, and return it; with `progress`, show its progress."""
    if progress:
        job = await job_at(http, one, path, 0)
        with display_of(job.model) as display:
            async with aclosing(follow(http, f"{path}/events")) as events:
                async for event in events:
                    display.show(event)
    while not (job := await job_at(http, one, path, MAX_WAIT_SECONDS)).has_ended:
        pass
    return job


@dataclass(frozen=True)
class JobHandle(Calls[M], Generic[M, J]):
    """A job by its `id`, at its `path`."""

    id: str
    path: str
    one: ResponseForm[J]

    @call
    async def get(self) -> J:
        """Return the job as it is now."""
        return await job_at(self.http, self.one, self.path, 0)

    @call
    async def wait(self, *, progress: bool = False) -> J:
        """Wait for the job to end, without a timeout, and return it, also if it failed: check `state`.

        With `progress`, its progress is shown: by rich in a terminal, as HTML in a notebook, in lines elsewhere.
        """
        return await ended_at(self.http, self.one, self.path, progress=progress)

    @listing
    def events(self, *, after: int = 0) -> AsyncGenerator[Event, None]:
        """Yield the events after event number `after`, as they happen, until the job has ended.

        After a broken connection or a restart of the service, it continues with the next event.
        """
        return follow(self.http, f"{self.path}/events", after=after)

    @call
    async def cancel(self) -> J:
        """Cancel the job; a running one stops within a second."""
        return await self.http.post(self.one, f"{self.path}/cancel")

    def _repr_html_(self) -> str:
        return facts_html("Job", {"id": self.id, "path": self.path})


@dataclass(frozen=True)
class JobCollection(Calls[M], Generic[M, J]):
    """Jobs of one kind; every method raises ClientError as those of `Client` do."""

    path: str
    one: ResponseForm[J]
    many: type[Page[J]]

    @call
    async def events(self, job_id: str, *, after: str | None = None, wait: float = 0) -> Page[Event]:
        """Return the events after `after`, once there are some or after `wait` seconds."""
        query = {"after": after, "wait": wait or None}
        return await self.http.get(Page[Event], f"{self._at(job_id)}/events", query, wait=wait)

    @listing
    def follow(self, job_id: str, *, after: int = 0) -> AsyncGenerator[Event, None]:
        """Yield the events after event number `after`, as they happen, until the job has ended.

        After a broken connection or a restart of the service, it continues with the next event.
        """
        return follow(self.http, f"{self._at(job_id)}/events", after=after)

    @call
    async def cancel(self, job_id: str) -> J:
        """Cancel a job; a running one stops within a second."""
        return await self.http.post(self.one, f"{self._at(job_id)}/cancel")

    @call
    async def retry(self, job_id: str, *, key: str | None = None) -> J:
        """Submit the request of an ended job again; `key` as in `Client.upload`."""
        return await self.http.create(self.one, f"{self._at(job_id)}/retry", key=key)

    def _at(self, job_id: str) -> str:
        return f"{self.path}/{part(job_id)}"


@dataclass(frozen=True)
class VersionJobCollection(JobCollection[M, J]):
    """Jobs of one kind that apply versions to datasets."""

    def handle(self, job: str | J) -> JobHandle[M, J]:
        """Return a job, given by its id or its record, with the calls on it."""
        job_id = job if isinstance(job, str) else job.id
        return JobHandle(self.http, job_id, self._at(job_id), self.one)

    @call
    async def get(self, job_id: str, *, wait: float = 0) -> J:
        """Return a job, once it has ended or after `wait` seconds."""
        return await job_at(self.http, self.one, self._at(job_id), wait)

    @call
    async def wait(self, job_id: str, *, progress: bool = False) -> J:
        """Wait for a job to end, without a timeout; `progress` as in `JobHandle.wait`."""
        return await ended_at(self.http, self.one, self._at(job_id), progress=progress)

    @listing
    def all(
        self,
        *,
        model: str | None = None,
        version: int | None = None,
        dataset_id: str | None = None,
        state: str | None = None,
    ) -> AsyncGenerator[J, None]:
        """Return the jobs that match, newest first, without diagnostics; those on one dataset compare versions."""
        query = {"model": model, "version": version, "dataset_id": dataset_id, "state": state}
        return self.http.pages(self.many, self.path, query)


PATH = "/v1/jobs"

_SUMMARY: ResponseForm[JobSummary] = ResponseForm(JobSummary)
_PAGE: ResponseForm[JobPage] = ResponseForm(JobPage)


@dataclass(frozen=True)
class Jobs(Calls[M]):
    """Jobs of all kinds: training jobs, evaluations, promotions and batch predictions, without requests and results.

    Every method raises ClientError as those of `Client` do.
    """

    @call
    async def page(
        self,
        *,
        kind: JobKind | None = None,
        state: JobState | None = None,
        model: str | None = None,
        dataset_id: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        counts: bool = False,
    ) -> JobPage:
        """Return a page of the jobs that match, newest first; with `counts`, also the number of jobs in each state."""
        filters = {"kind": kind, "state": state, "model": model, "dataset_id": dataset_id}
        query = {**filters, "after": after, "limit": limit, "counts": "true" if counts else None}
        return await self._page(query)

    @listing
    def all(
        self,
        *,
        kind: JobKind | None = None,
        state: JobState | None = None,
        model: str | None = None,
        dataset_id: str | None = None,
    ) -> AsyncGenerator[JobSummary, None]:
        """Return all jobs that match, newest first."""
        query = {"kind": kind, "state": state, "model": model, "dataset_id": dataset_id}
        return self.http.pages(Page[JobSummary], PATH, query)

    @listing
    async def follow(
        self,
        *,
        after: str | None = None,
        kind: JobKind | None = None,
        model: str | None = None,
        dataset_id: str | None = None,
    ) -> AsyncGenerator[JobSummary, None]:
        """Yield each job that matches when it changes, after the change `after` (`last_change` of a page), else from
        now on, without end.

        After a broken connection or a restart of the service, it continues with the next change.
        """
        last = (await self._page({"limit": 1})).last_change if after is None else after
        query = {"kind": kind, "model": model, "dataset_id": dataset_id}
        async with aclosing(followed(self.http, f"{PATH}/events", after=last, query=query)) as messages:
            async for message in messages:
                yield _read_message(message, _SUMMARY)

    async def _page(self, query: Query) -> JobPage:
        return await self.http.get(_PAGE, PATH, query)


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
