"""Calls on trainings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar, overload

from relevance_bayes.client.http import of_kind
from relevance_bayes.client.job_collection import MAX_WAIT_SECONDS, JobCollection
from relevance_bayes.client.paths import part
from relevance_bayes.client.responses import Job, Json, SupervisedJob, TrainingJob
from relevance_bayes.types.pages import Page
from relevance_bayes.types.records import Converter

K = TypeVar("K", bound=Job)

_ANY: Converter[Job] = Converter(TrainingJob)


@dataclass(frozen=True)
class Trainings(JobCollection[Job]):
    """Trainings, which create versions.

    Trainings of numbers and classes are expected; `of` is another class, or `Job` for any.
    """

    path: str = "/v1/training-jobs"
    one: Converter[Job] = _ANY
    many: type[Page[TrainingJob]] = Page[TrainingJob]

    @overload
    def submit(self, request: Mapping[str, Json], *, key: str | None = None) -> SupervisedJob: ...
    @overload
    def submit(self, request: Mapping[str, Json], *, of: type[K], key: str | None = None) -> K: ...
    def submit(self, request: Mapping[str, Json], *, of: type[Job] = SupervisedJob, key: str | None = None) -> Job:
        """Submit a training; `request` as in the API: `dataset_id` and `target` are required.

        `key` as in `Relevance.upload`.
        """
        return of_kind(of, self.http.create(self.one, self.path, request, key=key))

    @overload
    def get(self, job_id: str, *, wait: float = 0) -> SupervisedJob: ...
    @overload
    def get(self, job_id: str, *, of: type[K], wait: float = 0) -> K: ...
    def get(self, job_id: str, *, of: type[Job] = SupervisedJob, wait: float = 0) -> Job:
        """Return a training, once it has ended or after `wait` seconds."""
        return of_kind(of, self.http.get(self.one, f"{self.path}/{part(job_id)}", {"wait": wait or None}, wait=wait))

    @overload
    def wait(self, job_id: str) -> SupervisedJob: ...
    @overload
    def wait(self, job_id: str, *, of: type[K]) -> K: ...
    def wait(self, job_id: str, *, of: type[Job] = SupervisedJob) -> Job:
        """Wait for a training to end, without a timeout."""
        while not (job := self.get(job_id, of=of, wait=MAX_WAIT_SECONDS)).has_ended:
            pass
        return job
