import logging
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import Engine, text

from app.database.transaction import OpenTransaction, now, open_transactions
from app.datasets.ingest import Ingest
from app.formats.streams import TableStream
from app.identity import uuid7
from app.jobs.records import Job, QueueOutcome
from app.jobs.repository import JobRepository
from app.jobs.statistics_repository import WorkerRepository
from app.jobs.worker.worker import HeartbeatWatch, reconcile_jobs, recover_orphans
from app.registry.submission import submit
from app.registry.trainings import TRAINING
from app.webhooks.repository import SUBSCRIBERS
from relevance_bayes.tables.columns import NumberArray
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from relevance_bayes.tasks.union import plan
from tests.doubles.queue import ListedQueue
from tests.doubles.recovery import FixedRecovery

LIMIT = 60.0


@dataclass
class Setup:
    """One who has watched four workers: one beats, one is silent, one left, and one left and is forgotten."""

    transaction: OpenTransaction
    recovery: FixedRecovery
    watch: HeartbeatWatch
    now: float = 100.0

    def look(self, *, is_reliable: bool = True, later: float = 0.0) -> None:
        self.now += later
        recover_orphans(self.transaction, self.recovery, self.watch, now=self.now, is_reliable=is_reliable)

    def record_heartbeat(self, *executors: str) -> None:
        for executor in executors:
            with self.transaction() as tx:
                WorkerRepository(tx).record_heartbeat(executor)

    def known(self) -> set[str]:
        with self.transaction() as tx:
            return set(WorkerRepository(tx).last_heartbeats())


@pytest.fixture
def setup(engine: Engine) -> Setup:
    it = Setup(open_transactions(engine, ListedQueue), FixedRecovery(), HeartbeatWatch(limit=LIMIT))
    it.record_heartbeat("living", "silent", "left", "forgotten")
    with it.transaction() as tx:
        WorkerRepository(tx).leave("left")
        WorkerRepository(tx).forget("forgotten")
    it.recovery.holding = {"living", "silent", "left", "forgotten"}
    it.look(is_reliable=False)
    it.recovery.recovered = []
    it.recovery.holding = {"living", "silent", "left", "forgotten"}
    it.now += LIMIT + 1.0
    it.record_heartbeat("living")
    return it


def test_who_may_judge_takes_over_from_all_who_are_not_alive(setup: Setup, caplog: pytest.LogCaptureFixture) -> None:
    setup.look()
    assert setup.recovery.recovered == ["forgotten", "left", "silent"]
    (record,) = caplog.records
    assert (record.levelname, vars(record)["executors"]) == ("WARNING", ["forgotten", "left", "silent"])


def test_a_worker_that_may_not_judge_takes_over_only_from_those_that_left(setup: Setup) -> None:
    setup.look(is_reliable=False)
    assert setup.recovery.recovered == ["left"]
    assert setup.known() == {"living", "silent", "left"}


def test_a_heartbeat_is_forgotten_only_once_nothing_is_left_of_its_work(setup: Setup) -> None:
    setup.recovery.holding = {"silent"}
    setup.look()
    assert setup.known() == {"living", "silent"}
    setup.look()
    assert setup.known() == {"living"}


def test_nothing_is_requested_of_the_engine_when_all_are_well(setup: Setup) -> None:
    setup.recovery.holding = {"living"}
    setup.look()
    assert setup.recovery.recovered == []


def test_a_heartbeat_starts_the_time_anew_whatever_clock_it_is_by(setup: Setup, engine: Engine) -> None:
    for when in ("2001-01-01 00:00:00", "2050-01-01 00:00:00", "2020-01-01 00:00:00"):
        with engine.begin() as connection:
            connection.execute(text(f"UPDATE workers SET heartbeat_at = '{when}' WHERE executor = 'silent'"))
        setup.record_heartbeat("living")
        setup.look(later=LIMIT - 1.0)
        assert "silent" not in setup.recovery.recovered
    setup.record_heartbeat("living")
    setup.look(later=LIMIT + 1.0)
    assert "silent" in setup.recovery.recovered


def test_who_has_only_begun_to_watch_takes_nobody_for_silent(setup: Setup) -> None:
    replace(setup, watch=HeartbeatWatch(limit=LIMIT)).look()
    assert setup.recovery.recovered == ["forgotten", "left"]


OWNER = "ada"
REASONS: list[tuple[QueueOutcome, str]] = [
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
    values = NumberArray(np.arange(4.0))
    blocks = iter([{"x": values, "y": values}])
    dataset = (
        Ingest(transaction, now)
        .receive(OWNER, "line", TableStream(names=("x", "y"), kinds=("number", "number"), blocks=blocks))
        .dataset
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
    reconcile_jobs(transaction, FixedRecovery())
    assert look(transaction, job_id).state == "queued"


@pytest.mark.parametrize("claimed", [False, True], ids=["queued", "running"])
@pytest.mark.parametrize(("ending", "kind"), REASONS, ids=[ending for ending, _ in REASONS])
def test_an_unfinished_job_fails_with_the_reason_of_its_entrys_end(
    transaction: OpenTransaction, job_id: UUID, *, ending: QueueOutcome, kind: str, claimed: bool
) -> None:
    if claimed:
        with transaction() as tx:
            JobRepository(tx).claim(job_id)
    reconcile_jobs(transaction, FixedRecovery(ended={job_id: ending}))
    job = look(transaction, job_id)
    assert job.error is not None
    assert (job.state, job.error.kind) == ("failed", kind)


def test_a_job_whose_owner_requested_its_end_is_cancelled(transaction: OpenTransaction, job_id: UUID) -> None:
    with transaction() as tx:
        JobRepository(tx).claim(job_id)
        JobRepository(tx).request_cancel(OWNER, job_id)
    reconcile_jobs(transaction, FixedRecovery(ended={job_id: "cancelled"}))
    assert look(transaction, job_id).state == "cancelled"


def test_a_job_that_went_on_to_another_attempt_meanwhile_is_left_alone(
    transaction: OpenTransaction, job_id: UUID
) -> None:
    class Late(FixedRecovery):
        """Answers after somebody else has claimed."""

        def endings(self, job_ids: object) -> dict[UUID, QueueOutcome]:
            with transaction() as tx:
                JobRepository(tx).claim(job_id)
            return {job_id: "lost"}

    reconcile_jobs(transaction, Late())
    assert (look(transaction, job_id).state, look(transaction, job_id).attempt) == ("running", 1)


def with_two_more(transaction: OpenTransaction, job_id: UUID) -> list[Job]:
    """The job and two that were submitted after it."""
    first = look(transaction, job_id)
    others = [replace(first, id=later, transitions=()) for later in sorted(uuid7() for _ in range(2))]
    with transaction() as tx:
        for other in others:
            submit(tx, other)
    return [first, *others]


def test_of_more_jobs_than_one_cleanup_looks_at_the_next_one_sees_the_others(
    transaction: OpenTransaction, job_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.jobs.worker.worker.MAX_AT_ONCE", 2)
    first, *others = with_two_more(transaction, job_id)
    recovery = FixedRecovery(ended=dict.fromkeys([job_id, *(other.id for other in others)], "lost"))
    after = reconcile_jobs(transaction, recovery)
    assert after == others[0].id
    assert [look(transaction, other.id).state for other in [first, *others]] == ["failed", "failed", "queued"]
    assert reconcile_jobs(transaction, recovery, after=after) is None
    assert look(transaction, others[1].id).state == "failed"
    assert reconcile_jobs(transaction, recovery) is None


def test_a_full_call_returns_the_last_job_that_it_checked(
    transaction: OpenTransaction, job_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.jobs.worker.worker.MAX_AT_ONCE", 3)
    last = with_two_more(transaction, job_id)[-1]
    assert reconcile_jobs(transaction, FixedRecovery()) == last.id


def test_a_job_that_the_cleanup_ends_is_logged_as_ended(
    transaction: OpenTransaction, job_id: UUID, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "app.jobs.worker.job_log")
    recovery = FixedRecovery(ended={job_id: "failed"})
    reconcile_jobs(transaction, recovery)
    reconcile_jobs(transaction, recovery)
    (line,) = [vars(record) for record in caplog.records]
    assert (line["msg"], line["job_id"], line["kind"], line["attempt"]) == ("job ended", str(job_id), "training", 0)
    assert (line["outcome"], line["reason"], line["seconds"]) == ("failed", "internal-error", None)
