import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Event, get_ident
from uuid import UUID, uuid4

import pytest
from dbos import DBOSClient
from sqlalchemy import Engine as Database
from sqlalchemy import event, inspect, text

from app.database.transaction import OpenTransaction
from app.jobs.queue.client import Control
from app.jobs.queue.engine import Engine
from tests.waiting import until

HERE = "here:1"


class Unforeseen(Exception):
    """A fault in the function that runs jobs."""


class Ran:
    """Runs jobs by noting them; `ends` states whether they have ended."""

    def __init__(self, *, ends: bool = True) -> None:
        self.jobs: SimpleQueue[UUID] = SimpleQueue()
        self.ends = ends

    def __call__(self, job: UUID) -> bool:
        self.jobs.put(job)
        return self.ends


@contextmanager
def running(
    database: Database,
    client: DBOSClient,
    run: Callable[[UUID], bool],
    *,
    score: Callable[[UUID], bool] | None = None,
    executor: str = HERE,
    slots: int = 1,
    max_of_one_owner: int | None = None,
    poll_seconds: float = 0.05,
) -> Iterator[Engine]:
    """The engine of this process, at work."""
    engine = Engine(
        database,
        client,
        run=run,
        score=score,
        executor=executor,
        slots=slots,
        max_of_one_owner=max_of_one_owner,
        poll_seconds=poll_seconds,
    )
    engine.launch()
    try:
        yield engine
    finally:
        engine.shutdown(5.0)


def submit(transaction: OpenTransaction) -> UUID:
    job = uuid4()
    with transaction() as tx:
        tx.queue.submit(job, owner="ada")
    return job


def test_a_job_runs_once_and_its_entry_ends(
    engine: Database, client: DBOSClient, transaction: OpenTransaction, control: Control
) -> None:
    ran, job = Ran(), submit(transaction)
    with running(engine, client, ran):
        assert ran.jobs.get(timeout=10) == job
        until(lambda: control.endings([job]) == {job: "succeeded"})
    assert ran.jobs.empty()


def test_jobs_start_by_notification_and_after_one_another_without_a_poll_in_between(
    engine: Database, client: DBOSClient, transaction: OpenTransaction, control: Control
) -> None:
    ran = Ran()
    with running(engine, client, ran, poll_seconds=10_000.0):
        first = submit(transaction)
        assert ran.jobs.get(timeout=60) == first
        following = {submit(transaction) for _ in range(3)}  # for one slot
        assert {ran.jobs.get(timeout=60) for _ in following} == following
        until(lambda: set(control.endings([*following]).values()) == {"succeeded"})


@pytest.mark.thorough
def test_what_scores_waits_in_a_queue_of_its_own(
    engine: Database, client: DBOSClient, transaction: OpenTransaction, control: Control
) -> None:
    trained, scored, job = Ran(), Ran(), uuid4()
    with transaction() as tx:
        tx.queue.submit(job, owner="ada", kind="evaluation")
    with running(engine, client, trained):
        after = submit(transaction)
        assert trained.jobs.get(timeout=10) == after
        assert control.state(job) == "waiting"
    with running(engine, client, trained, score=scored):
        assert scored.jobs.get(timeout=10) == job
        until(lambda: control.endings([job]) == {job: "succeeded"})
    assert trained.jobs.empty()


@pytest.mark.thorough
def test_a_worker_that_only_trains_takes_nothing_from_the_scoring_queue_of_others(
    engine: Database, client: DBOSClient, transaction: OpenTransaction, control: Control
) -> None:
    trained, scored, job = Ran(), Ran(), uuid4()
    with running(engine, client, trained, score=scored):
        pass
    with transaction() as tx:
        tx.queue.submit(job, owner="ada", kind="evaluation")
    with running(engine, client, trained):
        for _ in range(2):
            submit(transaction)
            trained.jobs.get(timeout=10)
        assert (control.state(job), control.endings([job])) == ("waiting", {})


def test_a_fault_ends_the_entry_and_is_logged(
    engine: Database,
    client: DBOSClient,
    transaction: OpenTransaction,
    control: Control,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def run(_job: UUID) -> bool:
        raise Unforeseen

    job = submit(transaction)
    with running(engine, client, run):
        until(lambda: control.endings([job]) == {job: "failed"})
    (record,) = [record for record in caplog.records if record.name == "app.jobs.queue.engine"]
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert record.exc_info[0] is Unforeseen


def test_a_job_left_unfinished_stays_with_its_executor_until_it_is_recovered(
    engine: Database, client: DBOSClient, transaction: OpenTransaction, control: Control
) -> None:
    ran, job = Ran(ends=False), submit(transaction)
    with running(engine, client, ran):
        assert ran.jobs.get(timeout=10) == job
        assert control.holders() == {HERE}
    assert control.state(job) == "running"
    ran.ends = True
    with running(engine, client, ran, executor="there:2"):
        control.recover(["nobody:3"])
        assert control.state(job) == "running"
        control.recover([HERE])
        assert ran.jobs.get(timeout=10) == job
        until(lambda: control.state(job) == "ended")
        assert control.holders() == frozenset()


def test_a_job_is_not_recovered_for_ever(
    engine: Database,
    client: DBOSClient,
    transaction: OpenTransaction,
    control: Control,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.jobs.queue.engine.MAX_RECOVERIES", 2)
    ran, job = Ran(ends=False), submit(transaction)
    with running(engine, client, ran):
        for _ in range(3):
            assert ran.jobs.get(timeout=10) == job
            assert control.endings([job]) == {}
            control.recover([HERE])
        until(lambda: control.endings([job]) == {job: "lost"})
    assert ran.jobs.empty()


def test_no_more_jobs_run_than_there_are_slots(
    engine: Database, client: DBOSClient, transaction: OpenTransaction, control: Control
) -> None:
    begun: SimpleQueue[UUID] = SimpleQueue()
    ended = Event()

    def run(job: UUID) -> bool:
        begun.put(job)
        return ended.wait(30)

    jobs = [submit(transaction) for _ in range(3)]
    with running(engine, client, run, slots=2):
        first, second = begun.get(timeout=10), begun.get(timeout=10)
        (third,) = set(jobs) - {first, second}
        assert control.state(third) == "waiting"
        assert begun.empty()
        ended.set()
        assert begun.get(timeout=10) == third
        until(lambda: len(control.endings(jobs)) == 3)


def test_a_shutdown_waits_for_what_runs_and_takes_nothing_more(
    engine: Database, client: DBOSClient, transaction: OpenTransaction, control: Control
) -> None:
    begun, stopping = Event(), Event()

    def run(_job: UUID) -> bool:
        begun.set()
        stopping.wait(30)
        return False

    job = submit(transaction)
    with running(engine, client, run) as runtime:
        assert begun.wait(10)
        runtime.take_no_more()
        later = submit(transaction)
        stopping.set()
    assert control.state(job) == "running"  # till somebody recovers it
    assert control.state(later) == "waiting"


def test_a_shutdown_waits_until_what_has_ended_is_written_down(
    engine: Database, client: DBOSClient, transaction: OpenTransaction, control: Control
) -> None:
    at_work: set[int] = set()

    def run(_job: UUID) -> bool:
        at_work.add(get_ident())
        return True

    def slow(*_statement: object) -> None:
        if get_ident() in at_work:
            time.sleep(0.3)

    job = submit(transaction)
    event.listen(engine, "before_cursor_execute", slow)
    with running(engine, client, run):
        until(lambda: bool(at_work))
    assert control.endings([job]) == {job: "succeeded"}


def test_nothing_of_the_engines_is_pickled(
    engine: Database, client: DBOSClient, transaction: OpenTransaction, control: Control
) -> None:
    failing = Event()

    def run(_job: UUID) -> bool:
        if failing.is_set():
            raise Unforeseen
        return True

    with running(engine, client, run):
        job = submit(transaction)
        until(lambda: control.state(job) == "ended")
        failing.set()
        job = submit(transaction)
        until(lambda: control.state(job) == "ended")
    schema = "dbos" if engine.dialect.name == "postgresql" else None
    formats: set[object] = set()
    with engine.connect() as connection:
        tables = inspect(connection).get_table_names(schema=schema)
        assert "workflow_status" in tables
        for table in tables:
            named = f'"{schema}"."{table}"' if schema else f'"{table}"'
            columns = {column["name"] for column in inspect(connection).get_columns(table, schema=schema)}
            if "serialization" in columns:
                formats |= set(connection.execute(text(f"SELECT serialization FROM {named}")).scalars())
    assert formats == {"portable_json"}
