"""Jobs that score versions, among the others."""

from uuid import UUID

import pytest

from app.database.keyset import PageRequest
from app.database.transaction import OpenTransaction
from app.datasets.repository import DatasetRepository
from app.errors import InUseError
from app.jobs.records import Claim, Job, JobFilter
from app.jobs.repository import JobRepository
from app.registry.repository import ModelRepository
from app.registry.submission import submit
from app.webhooks.records import new_secret
from app.webhooks.repository import DeliveryRepository, WebhookRepository
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.webhooks import Webhook
from tests import samples


def queued(transaction: OpenTransaction, *, version: int = 1, dataset_id: UUID | None = None) -> Job:
    """An evaluation of a version that is there."""
    dataset_id = samples.stored_dataset(transaction).id if dataset_id is None else dataset_id
    job = samples.new_evaluation(dataset_id, version=version)
    with transaction() as tx:
        submit(tx, job)
    return job


@pytest.fixture
def evaluation(transaction: OpenTransaction) -> Job:
    samples.stored_version(transaction)
    return queued(transaction)


def test_an_evaluation_comes_back_as_it_was_added(transaction: OpenTransaction, evaluation: Job) -> None:
    with transaction() as tx:
        found = JobRepository(tx).get(samples.OWNER, evaluation.id, kind="evaluation")
    assert (found.kind, found.state, found.number, found.version) == ("evaluation", "queued", 1, None)
    assert (found.request, found.plan) == (evaluation.request, evaluation.plan)
    assert found.path == f"/v1/evaluations/{evaluation.id}"


def test_a_job_of_another_kind_is_not_there(transaction: OpenTransaction, evaluation: Job) -> None:
    with transaction() as tx:
        assert JobRepository(tx).has_ended(samples.OWNER, evaluation.id, kind="evaluation") is False
        with pytest.raises(NotFoundError, match="no training job"):
            JobRepository(tx).get(samples.OWNER, evaluation.id, kind="training")
        with pytest.raises(NotFoundError):
            JobRepository(tx).events(samples.OWNER, evaluation.id, limit=9, after=0, kind="training")
        with pytest.raises(NotFoundError):
            JobRepository(tx).request_cancel(samples.OWNER, evaluation.id, kind="training")
        assert JobRepository(tx).get(samples.OWNER, evaluation.id).state == "queued"


def test_jobs_are_listed_by_kind_model_version_and_dataset(transaction: OpenTransaction, evaluation: Job) -> None:
    samples.stored_version(transaction)
    dataset = samples.stored_dataset(transaction)
    second = queued(transaction, version=2, dataset_id=dataset.id)
    for which, expected in (
        (JobFilter("evaluation"), [second, evaluation]),
        (JobFilter("evaluation", "queued"), [second, evaluation]),
        (JobFilter("evaluation", "failed"), []),
        (JobFilter("evaluation", model="prices", version=1), [evaluation]),
        (JobFilter("evaluation", model="others"), []),
        (JobFilter("evaluation", dataset_id=dataset.id), [second]),
    ):
        with transaction() as tx:
            found = JobRepository(tx).page(samples.OWNER, PageRequest(9), which=which).items
        assert [job.id for job in found] == [job.id for job in expected]
    with transaction() as tx:
        trainings = JobRepository(tx).page(samples.OWNER, PageRequest(9), which=JobFilter("training")).items
    assert {job.kind for job in trainings} == {"training"}


def test_a_version_that_is_removed_is_not_scored(transaction: OpenTransaction) -> None:
    with pytest.raises(NotFoundError, match="no version 1"):
        queued(transaction)
    samples.stored_version(transaction)
    with pytest.raises(NotFoundError, match="no version 2"):
        queued(transaction, version=2)


def test_what_an_unfinished_evaluation_needs_stays(transaction: OpenTransaction, evaluation: Job) -> None:
    with pytest.raises(InUseError, match="use version 1"), transaction() as tx:
        ModelRepository(tx).delete_version(samples.OWNER, "prices", 1)
    with pytest.raises(InUseError, match="use versions"), transaction() as tx:
        ModelRepository(tx).delete(samples.OWNER, "prices")
    with pytest.raises(InUseError), transaction() as tx:
        DatasetRepository(tx).delete(samples.OWNER, evaluation.dataset_id)
    with transaction() as tx:
        JobRepository(tx).request_cancel(samples.OWNER, evaluation.id)
    with transaction() as tx:
        ModelRepository(tx).delete_version(samples.OWNER, "prices", 1)
        DatasetRepository(tx).delete(samples.OWNER, evaluation.dataset_id)
        assert JobRepository(tx).get(samples.OWNER, evaluation.id).state == "cancelled"


def test_the_end_of_an_evaluation_is_reported_by_its_own_name(transaction: OpenTransaction, evaluation: Job) -> None:
    webhook = Webhook(
        str(evaluation.id), "https://example.org", ("evaluation.failed",), None, enabled=True, created_at=samples.AT
    )
    with transaction() as tx:
        WebhookRepository(tx).add(samples.OWNER, webhook, new_secret())
        assert JobRepository(tx).claim(evaluation.id) == Claim(1)
        assert JobRepository(tx).fail(evaluation.id, 1, samples.PROBLEM)
    with transaction() as tx:
        (reported,) = DeliveryRepository(tx).page(samples.OWNER, evaluation.id, PageRequest(9)).items
    assert (reported.type, reported.job_id) == ("evaluation.failed", str(evaluation.id))
