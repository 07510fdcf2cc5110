import logging
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import Engine

from app.database.transaction import OpenTransaction, now, open_transactions
from app.datasets.ingest import Ingest
from app.identity import uuid7
from app.jobs.ports import QueueEnding
from app.jobs.records import Job
from app.jobs.repository import JobRepository
from app.jobs.worker.reconciliation import reconcile_jobs
from app.registry.submission import submit
from app.registry.trainings import TRAINING
from app.webhooks.subscribers import SUBSCRIBERS
from relevance_bayes.plans import plan
from relevance_bayes.plans.requests import SupervisedRequest
from relevance_bayes.tables.columns import NumberColumn
from tests.doubles.queue import ListedQueue
from tests.doubles.recovery import ToldRecovery

OWNER = "ada"
REASONS: list[tuple[QueueEnding, str]] = [
    ("lost", "worker-died"),
    ("cancelled", "timed-out"),
    ("failed", "internal-error"),
    ("succeeded", "internal-error"),
    ("unknown", "internal-error"),
]


@pytest.fixture
def transaction(engine: Engine) -> OpenTransaction:
    return open_transactions(engine, ListedQueue, subscribers=SUBSCRIBERS)


@pytest.fixture
def job_id(transaction: OpenTransaction) -> UUID:
    """A queued job."""
    values = NumberColumn(np.arange(4.0))
    blocks = iter([{"x": values, "y": values}])
    dataset = Ingest(transaction, now).receive(
        OWNER, "line", names=("x", "y"), kinds=("number", "number"), blocks=blocks
    )
    request = SupervisedRequest(dataset.id, "y", task="regression")
    job = TRAINING.queued(OWNER, request, plan(request, dataset), at=now())
    with transaction() as tx:
        submit(tx, job)
    return job.id


def look(transaction: OpenTransaction, job_id: UUID) -> Job:
    with transaction() as tx:
        return JobRepository(tx).get(OWNER, job_id)


def test_a_job_whose_entry_goes_on_is_left_alone(transaction: OpenTransaction, job_id: UUID) -> None:
    reconcile_jobs(transaction, ToldRecovery())
    assert look(transaction, job_id).state == "queued"


@pytest.mark.parametrize("claimed", [False, True], ids=["queued", "running"])
@pytest.mark.parametrize(("ending", "kind"), REASONS, ids=[ending for ending, _ in REASONS])
def test_an_unfinished_job_fails_with_the_reason_of_its_entrys_end(
    transaction: OpenTransaction, job_id: UUID, *, ending: QueueEnding, kind: str, claimed: bool
) -> None:
    if claimed:
        with transaction() as tx:
            JobRepository(tx).claim(job_id)
    reconcile_jobs(transaction, ToldRecovery(ended={job_id: ending}))
    job = look(transaction, job_id)
    assert job.error is not None
    assert (job.state, job.error.kind) == ("failed", kind)


def test_a_job_whose_owner_wanted_its_end_is_cancelled(transaction: OpenTransaction, job_id: UUID) -> None:
    with transaction() as tx:
        JobRepository(tx).claim(job_id)
        JobRepository(tx).request_cancel(OWNER, job_id)
    reconcile_jobs(transaction, ToldRecovery(ended={job_id: "cancelled"}))
    assert look(transaction, job_id).state == "cancelled"


def test_a_job_that_went_on_to_another_attempt_meanwhile_is_left_alone(
    transaction: OpenTransaction, job_id: UUID
) -> None:
    class Late(ToldRecovery):
        """Answers after somebody else has claimed."""

        def endings(self, job_ids: object) -> dict[UUID, QueueEnding]:
            with transaction() as tx:
                JobRepository(tx).claim(job_id)
            return {job_id: "lost"}

    reconcile_jobs(transaction, Late())
    assert (look(transaction, job_id).state, look(transaction, job_id).attempt) == ("running", 1)


def test_of_more_jobs_than_one_sweep_looks_at_the_next_one_sees_the_others(
    transaction: OpenTransaction, job_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.jobs.worker.reconciliation.MAX_AT_ONCE", 2)
    first = look(transaction, job_id)
    others = [replace(first, id=later, transitions=()) for later in sorted(uuid7() for _ in range(2))]
    with transaction() as tx:
        for other in others:
            submit(tx, other)
    recovery = ToldRecovery(ended=dict.fromkeys([job_id, *(other.id for other in others)], "lost"))
    after = reconcile_jobs(transaction, recovery)
    assert after == others[0].id
    assert [look(transaction, other.id).state for other in [first, *others]] == ["failed", "failed", "queued"]
    assert reconcile_jobs(transaction, recovery, after=after) is None
    assert look(transaction, others[1].id).state == "failed"
    assert reconcile_jobs(transaction, recovery) is None


def test_a_job_that_the_sweep_ends_is_logged_as_ended(
    transaction: OpenTransaction, job_id: UUID, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "app.jobs.worker.job_log")
    recovery = ToldRecovery(ended={job_id: "failed"})
    reconcile_jobs(transaction, recovery)
    reconcile_jobs(transaction, recovery)
    (line,) = [vars(record) for record in caplog.records]
    assert (line["msg"], line["job_id"], line["kind"], line["attempt"]) == ("job ended", str(job_id), "training", 0)
    assert (line["outcome"], line["reason"], line["seconds"]) == ("failed", "internal-error", None)
