"""Jobs after their submission, on a small database."""

from dataclasses import replace

import pytest

from app.database.keyset import PageRequest
from app.errors import ConflictError
from app.identity import BUILT_IN_OWNER as OWNER
from app.jobs.records import JobFilter
from app.jobs.service import JobService
from app.tasks.service import TrainingService
from relevance_bayes.records.errors import NotFoundError
from tests.small_database import SmallDatabase
from tests.small_tables import NOW
from tests.tasks.test_service import DATASET, REQUEST, TABLE


@pytest.fixture
def stored(stored: SmallDatabase) -> SmallDatabase:
    stored.put_dataset(DATASET, TABLE)
    return stored


@pytest.fixture
def training(stored: SmallDatabase) -> TrainingService:
    return TrainingService(stored.transaction, lambda: NOW)


@pytest.fixture
def jobs(stored: SmallDatabase) -> JobService:
    return JobService(stored.transaction, stored.queue)


def test_a_queued_job_is_cancelled_and_taken_from_the_queue(
    stored: SmallDatabase, training: TrainingService, jobs: JobService
) -> None:
    job = training.submit(OWNER, REQUEST)
    assert jobs.cancel(OWNER, job.id).state == "cancelled"
    assert stored.queue.cancelled == [job.id]


def test_a_cancelled_job_may_be_cancelled_again(
    stored: SmallDatabase, training: TrainingService, jobs: JobService
) -> None:
    job = training.submit(OWNER, REQUEST)
    assert jobs.cancel(OWNER, job.id) == jobs.cancel(OWNER, job.id)


def test_a_running_job_is_left_to_its_worker(
    stored: SmallDatabase, training: TrainingService, jobs: JobService
) -> None:
    job = training.submit(OWNER, REQUEST)
    stored.put_job(replace(job, state="running"))
    requested = jobs.cancel(OWNER, job.id)
    assert (requested.state, requested.cancel_requested_at is not None) == ("running", True)
    assert not stored.queue.cancelled


def test_a_job_stays_cancelled_when_the_engine_is_out_of_reach(
    stored: SmallDatabase, training: TrainingService, jobs: JobService
) -> None:
    job = training.submit(OWNER, REQUEST)
    stored.queue.reachable = False
    assert jobs.cancel(OWNER, job.id).state == "cancelled"


def test_a_finished_job_can_not_be_cancelled(
    stored: SmallDatabase, training: TrainingService, jobs: JobService
) -> None:
    job = training.submit(OWNER, REQUEST)
    stored.put_job(replace(job, state="succeeded"))
    with pytest.raises(ConflictError):
        jobs.cancel(OWNER, job.id)


def test_jobs_are_listed_newest_first_and_by_state(
    stored: SmallDatabase, training: TrainingService, jobs: JobService
) -> None:
    first, second = training.submit(OWNER, REQUEST), training.submit(OWNER, REQUEST)
    jobs.cancel(OWNER, first.id)
    assert [job.id for job in jobs.page(OWNER, PageRequest(10)).items] == [second.id, first.id]
    assert [job.id for job in jobs.page(OWNER, PageRequest(10), which=JobFilter(state="queued")).items] == [second.id]


def test_events_go_on_after_a_number(training: TrainingService, jobs: JobService) -> None:
    job = training.submit(OWNER, REQUEST)
    jobs.cancel(OWNER, job.id)
    assert [event.number for event in jobs.events(OWNER, job.id, limit=10, after=0)] == [1, 2]
    assert [event.number for event in jobs.events(OWNER, job.id, limit=10, after=1)] == [2]
    assert jobs.events(OWNER, job.id, limit=10, after=2) == ()


def test_a_job_of_another_kind_is_not_there(training: TrainingService, jobs: JobService) -> None:
    job = training.submit(OWNER, REQUEST)
    assert jobs.get(OWNER, job.id, kind="training") == job
    with pytest.raises(NotFoundError, match="no evaluation"):
        jobs.get(OWNER, job.id, kind="evaluation")
    with pytest.raises(NotFoundError, match="no evaluation"):
        jobs.cancel(OWNER, job.id, kind="evaluation")
    assert jobs.page(OWNER, PageRequest(9), which=JobFilter("evaluation")).items == ()
