"""Jobs once they were asked for, on ports in memory."""

from dataclasses import replace

import pytest

from app.domain.jobs import JobFilter
from app.domain.pages import PageRequest
from app.errors import ConflictError
from app.identity import BUILT_IN_OWNER as OWNER
from app.jobs.service import Jobs
from app.tasks.service import Training
from relevance_bayes.types.errors import NotFoundError
from tests.in_memory import NOW, InMemory
from tests.tasks.test_service import DATASET, REQUEST, TABLE


@pytest.fixture
def kept() -> InMemory:
    kept = InMemory()
    kept.datasets.put(DATASET, TABLE)
    return kept


@pytest.fixture
def training(kept: InMemory) -> Training:
    return Training(kept.open, lambda: NOW)


@pytest.fixture
def jobs(kept: InMemory) -> Jobs:
    return Jobs(kept.open, kept.queue)


def test_a_queued_job_is_cancelled_and_taken_from_the_queue(kept: InMemory, training: Training, jobs: Jobs) -> None:
    job = training.submit(OWNER, REQUEST)
    assert jobs.cancel(OWNER, job.id).state == "cancelled"
    assert kept.queue.cancelled == [job.id]


def test_a_cancelled_job_may_be_cancelled_again(kept: InMemory, training: Training, jobs: Jobs) -> None:
    job = training.submit(OWNER, REQUEST)
    assert jobs.cancel(OWNER, job.id) == jobs.cancel(OWNER, job.id)


def test_a_running_job_is_left_to_its_worker(kept: InMemory, training: Training, jobs: Jobs) -> None:
    job = training.submit(OWNER, REQUEST)
    kept.jobs.put(replace(job, state="running"))
    requested = jobs.cancel(OWNER, job.id)
    assert (requested.state, requested.cancel_requested_at is not None) == ("running", True)
    assert not kept.queue.cancelled


def test_a_job_stays_cancelled_when_the_engine_is_out_of_reach(kept: InMemory, training: Training, jobs: Jobs) -> None:
    job = training.submit(OWNER, REQUEST)
    kept.queue.reachable = False
    assert jobs.cancel(OWNER, job.id).state == "cancelled"


def test_a_finished_job_can_not_be_cancelled(kept: InMemory, training: Training, jobs: Jobs) -> None:
    job = training.submit(OWNER, REQUEST)
    kept.jobs.put(replace(job, state="succeeded"))
    with pytest.raises(ConflictError):
        jobs.cancel(OWNER, job.id)


def test_jobs_are_listed_newest_first_and_by_state(kept: InMemory, training: Training, jobs: Jobs) -> None:
    first, second = training.submit(OWNER, REQUEST), training.submit(OWNER, REQUEST)
    jobs.cancel(OWNER, first.id)
    assert [job.id for job in jobs.page(OWNER, PageRequest(10)).items] == [second.id, first.id]
    assert [job.id for job in jobs.page(OWNER, PageRequest(10), which=JobFilter(state="queued")).items] == [second.id]


def test_events_go_on_after_a_number(training: Training, jobs: Jobs) -> None:
    job = training.submit(OWNER, REQUEST)
    jobs.cancel(OWNER, job.id)
    assert [event.number for event in jobs.events(OWNER, job.id, limit=10, after=0)] == [1]
    assert jobs.events(OWNER, job.id, limit=10, after=1) == ()


def test_a_job_of_another_kind_is_not_there(training: Training, jobs: Jobs) -> None:
    job = training.submit(OWNER, REQUEST)
    assert jobs.get(OWNER, job.id, kind="training") == job
    with pytest.raises(NotFoundError, match="no evaluation"):
        jobs.get(OWNER, job.id, kind="evaluation")
    with pytest.raises(NotFoundError, match="no evaluation"):
        jobs.cancel(OWNER, job.id, kind="evaluation")
    assert jobs.page(OWNER, PageRequest(9), which=JobFilter("evaluation")).items == ()
