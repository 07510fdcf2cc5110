"""From a request to a queued job, on a small database."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.datasets.repository import DatasetRepository
from app.errors import ConflictError, KeyInUseError, TooManyJobsError, UnavailableError
from app.http.idempotency import Idempotency
from app.http.idempotency_records import Keyed, RequestKey, StoredResponse
from app.identity import BUILT_IN_OWNER as OWNER
from app.jobs.records import Job
from app.jobs.service import JobService
from app.jobs.tables import JobRow
from app.registry.trainings import TRAINING
from app.tasks.service import TrainingService
from relevance_bayes.records.errors import InvalidRequestError, NotFoundError
from relevance_bayes.records.jobs import JobState
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.approximation.request import ApproximationRequest
from relevance_bayes.tasks.components.request import ComponentsRequest
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from tests.small_approximation import version_of_a_term
from tests.small_database import SmallDatabase
from tests.small_models import small_version
from tests.small_tables import dataset_of, flags, numbers, texts

NOW = datetime(2024, 5, 1, 13, tzinfo=UTC)
TABLE: Block = {
    "x": numbers(0.0, 1.0, 2.0, 3.0, 4.0, 5.0),
    "colour": texts("red", "blue", "red", "blue", "red", "red"),
    "y": numbers(0.5, 1.1, 2.3, 2.9, 4.2, 5.1),
    "known": flags(True, False, True, True, False, False),
}
DATASET = dataset_of(TABLE, "points")
REQUEST = SupervisedRequest(DATASET.id, "y", inputs=("x", "colour"))


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


def test_a_submitted_job_is_planned_recorded_and_queued(stored: SmallDatabase, training: TrainingService) -> None:
    job = training.submit(OWNER, REQUEST)
    assert (job.state, job.created_at, job.attempt) == ("queued", NOW, 0)
    _, plan = TRAINING.read(job)
    assert (plan.task, plan.model, plan.target) == ("regression", "points", "y")
    assert [transition.state for transition in job.transitions] == ["queued"]
    assert stored.queue.submitted == [job.id]
    assert stored.job(job.id) == job


def test_an_impossible_request_leaves_nothing_behind(stored: SmallDatabase, training: TrainingService) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        training.submit(OWNER, replace(REQUEST, target="z"))
    assert [fault.pointer for fault in refused.value.faults] == ["/target"]
    assert not stored.queue.submitted
    assert stored.count(JobRow) == 0


def test_a_dataset_of_somebody_else_is_not_there(training: TrainingService) -> None:
    with pytest.raises(NotFoundError):
        training.submit("somebody else", REQUEST)


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        (replace(REQUEST, target="known"), "/task"),
        (replace(REQUEST, target="x", inputs=("y", "colour")), "/target"),
        (replace(REQUEST, inputs=("x",)), "/inputs"),
        (replace(REQUEST, inputs=("x", "colour", "known")), "/inputs"),
    ],
)
def test_a_name_that_means_something_else_is_a_conflict(
    stored: SmallDatabase, training: TrainingService, changed: SupervisedRequest, pointer: str
) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    with pytest.raises(ConflictError) as refused:
        training.submit(OWNER, replace(changed, model="small"))
    assert pointer in [fault.pointer for fault in refused.value.faults]
    assert stored.count(JobRow) == 0


def test_a_task_without_a_target_is_not_given_one(stored: SmallDatabase, training: TrainingService) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    components = ComponentsRequest(REQUEST.dataset_id, inputs=("x", "colour"), model="small")
    with pytest.raises(ConflictError) as refused:
        training.submit(OWNER, components)
    assert [fault.pointer for fault in refused.value.faults] == ["/task"]


def test_coefficients_that_are_others_are_a_conflict_at_their_own_member(
    stored: SmallDatabase, training: TrainingService
) -> None:
    stored.put_version(OWNER, version_of_a_term(), number=1)
    terms = ApproximationRequest(REQUEST.dataset_id, 1.0, inputs=("x",), model="terms")
    with pytest.raises(ConflictError) as refused:
        training.submit(OWNER, terms)
    assert [fault.pointer for fault in refused.value.faults] == ["/coefficients"]
    assert refused.value.faults[0].detail.endswith("this one's is none.")


def test_a_name_that_means_the_same_gets_another_version(stored: SmallDatabase, training: TrainingService) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    job = training.submit(OWNER, replace(REQUEST, model="small", inputs=("colour", "x"), seed=3))
    assert (job.for_model, TRAINING.read(job)[1].model) == ("small", "small")


def test_a_finished_job_is_done_again_as_it_was_requested(
    stored: SmallDatabase, training: TrainingService, jobs: JobService
) -> None:
    requested = replace(REQUEST, priority=7)
    first = training.submit(OWNER, requested)
    jobs.cancel(OWNER, first.id)
    again = training.retry(OWNER, first.id)
    assert again.id != first.id
    assert (again.state, TRAINING.read(again)[0], again.priority, again.retry_of) == ("queued", requested, 7, first.id)
    assert stored.queue.priorities == {first.id: 7, again.id: 7}
    assert first.retry_of is None


@pytest.mark.parametrize("state", ["succeeded", "failed"])
def test_however_a_job_ended_it_may_be_done_again(
    stored: SmallDatabase, training: TrainingService, state: JobState
) -> None:
    first = training.submit(OWNER, REQUEST)
    stored.put_job(replace(first, state=state))
    assert training.retry(OWNER, first.id).retry_of == first.id


@pytest.mark.parametrize("state", ["queued", "running"])
def test_a_job_that_has_not_ended_is_not_done_again(
    stored: SmallDatabase, training: TrainingService, state: JobState
) -> None:
    first = training.submit(OWNER, REQUEST)
    stored.put_job(replace(first, state=state))
    with pytest.raises(ConflictError, match=f"it is {state}"):
        training.retry(OWNER, first.id)
    assert stored.count(JobRow) == 1


def test_a_job_whose_dataset_is_removed_is_not_done_again(
    stored: SmallDatabase, training: TrainingService, jobs: JobService
) -> None:
    first = training.submit(OWNER, REQUEST)
    jobs.cancel(OWNER, first.id)
    with stored.transaction() as tx:
        DatasetRepository(tx).delete(OWNER, DATASET.id)
    with pytest.raises(NotFoundError, match="no dataset"):
        training.retry(OWNER, first.id)
    with pytest.raises(NotFoundError, match="no training job"):
        training.retry("somebody else", first.id)


def test_an_owner_may_have_so_many_unfinished_jobs(stored: SmallDatabase) -> None:
    stored.set_limits(OWNER, unfinished_jobs=2)
    training = TrainingService(stored.transaction, lambda: NOW)
    for _ in range(2):
        training.submit(OWNER, REQUEST)
    with pytest.raises(TooManyJobsError, match="2 jobs"):
        training.submit(OWNER, REQUEST)
    assert len(stored.queue.submitted) == 2


def test_the_response_to_a_keyed_submit_is_kept_as_it_was_given(
    stored: SmallDatabase, training: TrainingService
) -> None:
    key = RequestKey(OWNER, "POST /v1/training-jobs", "k", "ab")
    keyed = Keyed[Job](key, lambda job: StoredResponse(202, (), str(job.id).encode()))
    job = training.submit(OWNER, REQUEST, keyed=keyed)
    again = Idempotency(stored.transaction).stored_response(key)
    assert again == keyed.response(job) == StoredResponse(202, (), str(job.id).encode())
    with pytest.raises(KeyInUseError):
        training.submit(OWNER, REQUEST, keyed=keyed)
    assert stored.queue.submitted == [job.id]


def test_a_database_out_of_reach_is_stated(stored: SmallDatabase, training: TrainingService) -> None:
    stored.reachable = False
    with pytest.raises(UnavailableError):
        training.submit(OWNER, REQUEST)
