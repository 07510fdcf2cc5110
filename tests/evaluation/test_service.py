"""From a version and a dataset to a queued job, on a small database."""

from dataclasses import replace

import pytest

from app.errors import ConflictError, KeyInUseError, TooManyJobsError
from app.evaluation.jobs import EVALUATION, EvaluationPlan
from app.evaluation.service import EvaluationService
from app.http.idempotency_records import Keyed, RequestKey, StoredResponse
from app.identity import BUILT_IN_OWNER as OWNER
from app.jobs.records import Job
from app.jobs.service import JobService
from app.jobs.tables import JobRow
from relevance_bayes.records.errors import InvalidRequestError, NotFoundError
from relevance_bayes.records.evaluations import EvaluationRequest
from tests.small_database import SmallDatabase
from tests.small_models import small_version
from tests.small_tables import NOW
from tests.tasks.test_service import DATASET, TABLE

REQUEST = EvaluationRequest(DATASET.id, "small")


@pytest.fixture
def stored(stored: SmallDatabase) -> SmallDatabase:
    stored.put_dataset(DATASET, TABLE)
    for number in (1, 2):
        stored.put_version(OWNER, small_version(), number=number)
    return stored


@pytest.fixture
def scoring(stored: SmallDatabase) -> EvaluationService:
    return EvaluationService(stored.transaction, lambda: NOW)


def test_a_submitted_evaluation_is_planned_recorded_and_queued(
    stored: SmallDatabase, scoring: EvaluationService
) -> None:
    job = scoring.submit(OWNER, replace(REQUEST, priority=3))
    assert (job.kind, job.state, job.priority) == ("evaluation", "queued", 3)
    assert (job.for_model, job.scored) == ("small", (2,))
    assert EVALUATION.read(job)[1] == EvaluationPlan("small", 2, "regression", "y")
    assert stored.queue.submitted == [job.id]
    assert stored.job(job.id) == job


def test_a_number_is_that_version_for_ever(scoring: EvaluationService) -> None:
    assert scoring.submit(OWNER, replace(REQUEST, version=1)).number == 1


@pytest.mark.parametrize("request_", [replace(REQUEST, model="others"), replace(REQUEST, version="best")])
def test_what_is_not_there_is_not_evaluated(
    stored: SmallDatabase, scoring: EvaluationService, request_: EvaluationRequest
) -> None:
    with pytest.raises(NotFoundError):
        scoring.submit(OWNER, request_)
    assert stored.count(JobRow) == 0


def test_what_does_not_go_together_leaves_nothing_behind(stored: SmallDatabase, scoring: EvaluationService) -> None:
    stored.put_version(OWNER, small_version("classification", name="classes"), number=1)
    with pytest.raises(InvalidRequestError, match="kind number"):
        scoring.submit(OWNER, replace(REQUEST, model="classes"))
    assert not stored.queue.submitted


def test_done_again_it_is_of_what_the_reference_means_now(stored: SmallDatabase, scoring: EvaluationService) -> None:
    first = scoring.submit(OWNER, REQUEST)
    with pytest.raises(ConflictError, match="queued"):
        scoring.retry(OWNER, first.id, "evaluation")
    JobService(stored.transaction, stored.queue).cancel(OWNER, first.id)
    stored.put_version(OWNER, small_version(), number=3)
    again = scoring.retry(OWNER, first.id, "evaluation")
    assert (first.number, again.number, again.retry_of) == (2, 3, first.id)
    with pytest.raises(NotFoundError, match="no promotion"):
        scoring.retry(OWNER, first.id, "promotion")


def test_it_counts_among_an_owners_unfinished_jobs(stored: SmallDatabase) -> None:
    stored.set_limits(OWNER, unfinished_jobs=1)
    scoring = EvaluationService(stored.transaction, lambda: NOW)
    scoring.submit(OWNER, REQUEST)
    with pytest.raises(TooManyJobsError):
        scoring.submit(OWNER, REQUEST)


def test_the_response_to_a_keyed_submit_is_kept(stored: SmallDatabase, scoring: EvaluationService) -> None:
    keyed = Keyed[Job](
        RequestKey(OWNER, "POST /v1/evaluations", "k", "ab"), lambda job: StoredResponse(202, (), b"here")
    )
    scoring.submit(OWNER, REQUEST, keyed=keyed)
    with pytest.raises(KeyInUseError):
        scoring.submit(OWNER, REQUEST, keyed=keyed)
    assert len(stored.queue.submitted) == 1
