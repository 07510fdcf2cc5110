"""Jobs that score versions, among the others."""

from uuid import UUID

import pytest
from sqlalchemy import Engine

from app.domain.attempts import Claim
from app.domain.jobs import Job, JobFilter
from app.domain.ports import OpenUnitOfWork, PageRequest
from app.domain.webhooks import Webhook, new_secret
from app.errors import InUseError
from app.storage.migrations import downgrade, migrate
from relevance_bayes.types.errors import NotFoundError
from relevance_bayes.types.webhooks import EventType
from tests.storage import samples


def queued(open_uow: OpenUnitOfWork, *, version: int = 1, dataset_id: UUID | None = None) -> Job:
    """An evaluation of a version that is there."""
    dataset_id = samples.stored_dataset(open_uow).id if dataset_id is None else dataset_id
    job = samples.new_evaluation(dataset_id, version=version)
    with open_uow() as uow:
        uow.jobs.add(job)
    return job


@pytest.fixture
def evaluation(open_uow: OpenUnitOfWork) -> Job:
    samples.stored_version(open_uow)
    return queued(open_uow)


def test_an_evaluation_comes_back_as_it_was_added(open_uow: OpenUnitOfWork, evaluation: Job) -> None:
    with open_uow() as uow:
        found = uow.jobs.get(samples.OWNER, evaluation.id, kind="evaluation")
    assert (found.kind, found.state, found.number, found.version) == ("evaluation", "queued", 1, None)
    assert (found.request, found.plan) == (evaluation.request, evaluation.plan)
    assert found.path == f"/v1/evaluations/{evaluation.id}"


def test_a_job_of_another_kind_is_not_there(open_uow: OpenUnitOfWork, evaluation: Job) -> None:
    with open_uow() as uow:
        assert uow.jobs.has_ended(samples.OWNER, evaluation.id, kind="evaluation") is False
        with pytest.raises(NotFoundError, match="no training job"):
            uow.jobs.get(samples.OWNER, evaluation.id, kind="training")
        with pytest.raises(NotFoundError):
            uow.jobs.events(samples.OWNER, evaluation.id, limit=9, after=0, kind="training")
        with pytest.raises(NotFoundError):
            uow.jobs.request_cancel(samples.OWNER, evaluation.id, kind="training")
        assert uow.jobs.get(samples.OWNER, evaluation.id).state == "queued"


def test_jobs_are_listed_by_kind_model_version_and_dataset(open_uow: OpenUnitOfWork, evaluation: Job) -> None:
    samples.stored_version(open_uow)
    dataset = samples.stored_dataset(open_uow)
    second = queued(open_uow, version=2, dataset_id=dataset.id)
    for which, expected in (
        (JobFilter("evaluation"), [second, evaluation]),
        (JobFilter("evaluation", "queued"), [second, evaluation]),
        (JobFilter("evaluation", "failed"), []),
        (JobFilter("evaluation", model="prices", version=1), [evaluation]),
        (JobFilter("evaluation", model="others"), []),
        (JobFilter("evaluation", dataset_id=dataset.id), [second]),
    ):
        with open_uow() as uow:
            found = uow.jobs.page(samples.OWNER, PageRequest(9), which=which).items
        assert [job.id for job in found] == [job.id for job in expected]
    with open_uow() as uow:
        trainings = uow.jobs.page(samples.OWNER, PageRequest(9), which=JobFilter("training")).items
    assert {job.kind for job in trainings} == {"training"}


def test_a_version_that_is_gone_is_not_scored(open_uow: OpenUnitOfWork) -> None:
    with pytest.raises(NotFoundError, match="no version 1"):
        queued(open_uow)
    samples.stored_version(open_uow)
    with pytest.raises(NotFoundError, match="no version 2"):
        queued(open_uow, version=2)


def test_what_an_unfinished_evaluation_needs_stays(open_uow: OpenUnitOfWork, evaluation: Job) -> None:
    with pytest.raises(InUseError, match="score version 1"), open_uow() as uow:
        uow.models.delete_version(samples.OWNER, "prices", 1)
    with pytest.raises(InUseError, match="score versions"), open_uow() as uow:
        uow.models.delete(samples.OWNER, "prices")
    with pytest.raises(InUseError), open_uow() as uow:
        uow.datasets.delete(samples.OWNER, evaluation.request.dataset_id)
    with open_uow() as uow:
        uow.jobs.request_cancel(samples.OWNER, evaluation.id)
    with open_uow() as uow:
        uow.models.delete_version(samples.OWNER, "prices", 1)
        uow.datasets.delete(samples.OWNER, evaluation.request.dataset_id)
        assert uow.jobs.get(samples.OWNER, evaluation.id).state == "cancelled"


def test_the_end_of_an_evaluation_is_told_by_its_own_name(open_uow: OpenUnitOfWork, evaluation: Job) -> None:
    webhook = Webhook(evaluation.id, samples.OWNER, "https://example.org", ("evaluation.failed",), samples.AT)
    with open_uow() as uow:
        uow.webhooks.add(webhook, new_secret())
        assert uow.jobs.claim(evaluation.id) == Claim(1)
        assert uow.jobs.fail(evaluation.id, 1, samples.PROBLEM)
    with open_uow() as uow:
        (reported,) = uow.deliveries.page(samples.OWNER, webhook.id, PageRequest(9)).items
    assert (reported.type, reported.job_id) == ("evaluation.failed", evaluation.id)


def test_going_back_to_when_there_were_trainings_alone_keeps_these(
    engine: Engine, open_uow: OpenUnitOfWork, evaluation: Job
) -> None:
    events: tuple[EventType, ...] = ("training_job.failed", "evaluation.failed")
    webhook = Webhook(evaluation.id, samples.OWNER, "https://example.org", events, samples.AT)
    with open_uow() as uow:
        uow.webhooks.add(webhook, new_secret())
        assert uow.jobs.request_cancel(samples.OWNER, evaluation.id).state == "cancelled"
    downgrade(engine, "2026_12_01_imported_versions")
    migrate(engine)
    with open_uow() as uow:
        kept = uow.jobs.page(samples.OWNER, PageRequest(9)).items
        assert [job.kind for job in kept] == ["training"]
        assert uow.webhooks.get(samples.OWNER, webhook.id).events == ("training_job.failed",)
