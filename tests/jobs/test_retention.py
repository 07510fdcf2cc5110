from datetime import UTC, datetime
from uuid import UUID

import pytest
from pydantic import ValidationError
from sqlalchemy import Engine, text

from app.audit.repository import store_changes
from app.database.transaction import OpenTransaction, open_transactions
from app.jobs.repository import JobRepository
from app.jobs.retention import forget_progress
from app.registry.repository import ModelRepository
from app.services import Retention
from app.settings import Settings
from app.webhooks.repository import SUBSCRIBERS
from relevance_bayes.records.errors import NotFoundError
from tests import samples
from tests.accounts.test_session_repository import NoEntries
from tests.doubles.queue import ListedQueue
from tests.webhooks.test_repository import age

DAY = 86_400.0


def job_with_progress(transaction: OpenTransaction, *, times: int, ended: bool = True) -> UUID:
    job_id = samples.running_job(transaction)
    for _ in range(times):
        with transaction() as tx:
            JobRepository(tx).progress(job_id, 1, samples.PROGRESS)
    if ended:
        with transaction() as tx:
            JobRepository(tx).fail(job_id, 1, samples.PROBLEM)
    return job_id


def reported(transaction: OpenTransaction, job_id: UUID) -> list[tuple[int, str]]:
    with transaction() as tx:
        return [
            (event.number, event.kind) for event in JobRepository(tx).events(samples.OWNER, job_id, limit=99, after=0)
        ]


def remove_expired(transaction: OpenTransaction) -> int:
    """Until nothing is found; how often."""
    for calls in range(1, 100):
        with transaction() as tx:
            if not forget_progress(tx, ended_before=DAY):
                return calls
    raise AssertionError("there is no end")


def test_progress_of_old_jobs_goes_and_transitions_keep_their_numbers(engine: Engine) -> None:
    transaction = open_transactions(engine, ListedQueue, subscribers=SUBSCRIBERS)
    old = job_with_progress(transaction, times=3)
    age("jobs", "finished_at", engine)
    young, running = job_with_progress(transaction, times=3), job_with_progress(transaction, times=2, ended=False)
    age("jobs", "started_at", engine)
    assert remove_expired(transaction) == 1
    assert reported(transaction, old) == [(1, "transition"), (2, "transition"), (6, "transition")]
    assert [number for number, _ in reported(transaction, young)] == [1, 2, 3, 4, 5, 6]
    assert len(reported(transaction, running)) == 4
    with transaction() as tx:
        assert JobRepository(tx).get(samples.OWNER, old).progress == samples.PROGRESS  # where it was last


@pytest.mark.parametrize(("at_once", "jobs_at_once", "calls"), [(4, 100, 3), (5, 1, 6), (500, 2, 2)])
def test_it_goes_in_pieces(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, at_once: int, jobs_at_once: int, calls: int
) -> None:
    monkeypatch.setattr("app.jobs.retention.PROGRESS_AT_ONCE", at_once)
    monkeypatch.setattr("app.jobs.retention.JOBS_AT_ONCE", jobs_at_once)
    transaction = open_transactions(engine, ListedQueue, subscribers=SUBSCRIBERS)
    jobs = [job_with_progress(transaction, times=times) for times in (6, 0, 5)]
    age("jobs", "finished_at", engine)
    assert remove_expired(transaction) == calls
    for job_id in jobs:
        assert {kind for _, kind in reported(transaction, job_id)} == {"transition"}
    assert remove_expired(transaction) == 1


def test_what_is_done_is_not_looked_at_again(engine: Engine) -> None:
    transaction = open_transactions(engine, ListedQueue, subscribers=SUBSCRIBERS)
    job_with_progress(transaction, times=2)
    age("jobs", "finished_at", engine)
    remove_expired(transaction)
    with engine.connect() as connection:
        assert not connection.execute(text("SELECT progress_kept FROM jobs")).scalar_one()


@pytest.mark.thorough
@pytest.mark.parametrize(("days", "is_kept"), [(None, True), (11.0, True), (9.0, False)])
def test_ended_jobs_expire_unless_their_version_is_there(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, days: float | None, is_kept: bool
) -> None:
    monkeypatch.setattr("app.jobs.retention.JOBS_AT_ONCE", 2)
    transaction = open_transactions(engine, ListedQueue, subscribers=SUBSCRIBERS, store_changes=store_changes)
    failed = [job_with_progress(transaction, times=1) for _ in range(5)]
    samples.stored_version(transaction)
    age("jobs", "finished_at", engine)
    young, running = job_with_progress(transaction, times=1), job_with_progress(transaction, times=1, ended=False)
    age("jobs", "started_at", engine)
    seconds = None if days is None else days * DAY
    Retention(transaction, NoEntries(), lambda: datetime.now(UTC), DAY, DAY, 365 * DAY, DAY, seconds).remove_expired()
    with transaction() as tx:
        jobs = JobRepository(tx)
        for job_id in (young, running):
            assert jobs.get(samples.OWNER, job_id).id == job_id
        for job_id in failed:
            if is_kept:
                assert jobs.get(samples.OWNER, job_id).id == job_id
            else:
                with pytest.raises(NotFoundError):
                    jobs.get(samples.OWNER, job_id)
        for table in ("job_transitions", "job_progress"):
            owned = text(f"SELECT count(*) FROM {table} WHERE job_id = :id")
            kept = tx.session.scalar(owned, {"id": failed[0].hex if engine.dialect.name == "sqlite" else failed[0]})
            assert kept == 0 or is_kept
        entries = tx.session.execute(text("SELECT resource, details FROM audit_entries WHERE action = 'job.deleted'"))
        assert [tuple(row) for row in entries] == ([] if is_kept else [("/v1/jobs", '{"jobs":5}')])  # one for all
        assert ModelRepository(tx).version(samples.OWNER, "prices").number == 1


def test_jobs_are_kept_as_long_as_their_events_and_files() -> None:
    for days, of_files in ((6.0, 1.0), (20.0, 1.0), (40.0, 41.0)):
        with pytest.raises(ValidationError, match=r"(?i)job_retention_days"):
            Settings(job_retention_days=days, result_retention_days=of_files)
    assert Settings(job_retention_days=30.0).job_retention_days == 30.0
