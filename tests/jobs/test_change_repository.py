"""Changes of jobs have numbers in the order of their commits."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Event
from uuid import UUID

import pytest
from sqlalchemy import Engine

from app.database.transaction import OpenTransaction, Transaction, open_transactions
from app.jobs.records import ALL, JobChanges, JobFilter, Position, changes_id
from app.jobs.repository import JobChangeRepository, JobRepository, renew_epochs
from relevance_bayes.records.errors import NotFoundError
from tests import samples
from tests.doubles.queue import ListedQueue

START = Position()


def changes(
    transaction: OpenTransaction, after: Position = START, *, limit: int = 100, which: JobFilter = ALL
) -> JobChanges:
    with transaction() as tx:
        return JobChangeRepository(tx).after(samples.OWNER, after, limit=limit, which=which)


def ids(found: JobChanges) -> list[UUID]:
    return [job.id for job in found.jobs]


def progress(transaction: OpenTransaction, job_id: UUID) -> None:
    with transaction() as tx:
        assert JobRepository(tx).progress(job_id, 1, samples.PROGRESS)


def test_each_change_of_a_job_has_the_next_number_and_a_job_that_of_its_last(transaction: OpenTransaction) -> None:
    first = samples.running_job(transaction)
    second = samples.running_job(transaction)
    found = changes(transaction)
    assert ids(found) == [first, second]
    assert ([job.change for job in found.jobs], found.last.number) == ([2, 4], 4)
    progress(transaction, first)
    found = changes(transaction, found.last)
    assert (ids(found), found.last.number) == ([first], 5)
    assert found.jobs[0].progress == samples.PROGRESS
    with transaction() as tx:
        JobRepository(tx).request_cancel(samples.OWNER, second)
    found = changes(transaction, found.last)
    assert (ids(found), found.last.number) == ([second], 6)
    assert found.jobs[0].cancel_requested_at is not None
    with transaction() as tx:
        JobRepository(tx).request_cancel(samples.OWNER, second)
        assert JobRepository(tx).fail(first, 1, samples.PROBLEM)
    found = changes(transaction, found.last)
    assert [(job.id, job.state) for job in found.jobs] == [(first, "failed")]
    assert [move.state for move in found.jobs[0].transitions] == ["queued", "running", "failed"]
    assert (changes(transaction, found.last).jobs, found.last.number) == ((), 7)


def test_a_summary_has_what_the_job_has_but_its_documents(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        whole = JobRepository(tx).get(samples.OWNER, job_id)
    (summary,) = changes(transaction).jobs
    assert (summary.request, summary.plan, summary.result) == ("", "", None)
    assert whole.request
    assert whole.plan
    assert {**vars(summary), "request": whole.request, "plan": whole.plan} == vars(whole)


def test_other_owners_and_what_a_filter_leaves_out_do_not_show(transaction: OpenTransaction) -> None:
    samples.running_job(transaction, owner="another")
    mine = samples.running_job(transaction)
    assert ids(changes(transaction)) == [mine]
    other = JobFilter("evaluation")
    found = changes(transaction, which=other)
    assert (found.jobs, found.last.number) == ((), 2)


def test_a_full_part_ends_at_its_last_job(transaction: OpenTransaction) -> None:
    jobs = [samples.queued_job(transaction) for _ in range(5)]
    seen, last = [], START
    while (found := changes(transaction, last, limit=2)).jobs:
        seen += ids(found)
        last = found.last
    assert (seen, last.number) == (jobs, 5)


def test_no_reader_misses_a_change_that_commits_late(transaction: OpenTransaction) -> None:
    """One transaction changes a job first and commits last."""
    slow, fast = samples.running_job(transaction), samples.running_job(transaction)
    last = changes(transaction).last
    changed, may_commit = Event(), Event()

    def late() -> None:
        with transaction() as tx:
            assert JobRepository(tx).progress(slow, 1, samples.PROGRESS)
            changed.set()
            if not is_file(tx):
                assert may_commit.wait(10)

    with ThreadPoolExecutor() as pool:
        running = pool.submit(late)
        assert changed.wait(10)
        progress(transaction, fast)
        between = changes(transaction, last)
        assert fast in ids(between)
        may_commit.set()
        running.result(10)
    assert slow in ids(between) + ids(changes(transaction, between.last))


def is_file(tx: Transaction) -> bool:
    return tx.session.connection().dialect.name == "sqlite"


def test_many_writers_take_each_number_once(transaction: OpenTransaction) -> None:
    jobs = [samples.running_job(transaction) for _ in range(4)]
    before = changes(transaction).last

    def write(job_id: UUID) -> None:
        for _ in range(10):
            progress(transaction, job_id)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, jobs))
    found = changes(transaction, before)
    assert found.last == replace(before, number=before.number + 40)
    assert len({job.change for job in found.jobs}) == 4


def test_numbers_are_found_by_the_ids_that_listeners_know(transaction: OpenTransaction) -> None:
    samples.running_job(transaction)
    with transaction() as tx:
        found = JobChangeRepository(tx).numbers([changes_id(samples.OWNER), changes_id("nobody")])
    assert found == {changes_id(samples.OWNER): 2}


def test_what_is_rolled_back_takes_no_number(transaction: OpenTransaction) -> None:
    job_id = samples.running_job(transaction)

    def fail_after_a_change() -> None:
        with transaction() as tx:
            assert JobRepository(tx).progress(job_id, 1, samples.PROGRESS)
            raise TimeoutError

    with pytest.raises(TimeoutError):
        fail_after_a_change()
    assert changes(transaction).last.number == 2


def test_positions_are_refused_ahead_of_the_last_change_and_in_another_epoch(
    transaction: OpenTransaction, engine: Engine
) -> None:
    assert changes(transaction) == JobChanges((), START)
    samples.running_job(transaction)
    last = changes(transaction).last
    assert changes(transaction, last).last == last
    refused = [replace(last, number=3), replace(last, epoch="f" * 16), Position(1)]
    with engine.begin() as connection:
        renew_epochs(connection)
    for _ in range(3):
        samples.running_job(transaction)
    renewed = changes(transaction).last
    assert (renewed.number, renewed.epoch != last.epoch) == (8, True)
    for position in (last, *refused):
        with pytest.raises(NotFoundError, match=f"no change {position} in this database: get the list"):
            changes(transaction, position)
    assert len(changes(transaction, replace(last, epoch=renewed.epoch)).jobs) == 3


def test_a_position_is_text_and_back() -> None:
    for position, text in ((START, "0"), (Position(7), "7"), (Position(41, "8c2fd02e6ab1f735"), "8c2fd02e6ab1f735-41")):
        assert (str(position), Position.parse(text)) == (text, position)


def test_a_transaction_stores_its_audit_before_it_locks_counters_in_the_order_of_owners(engine: Engine) -> None:
    steps: list[object] = []

    def stored(_: Transaction) -> None:
        steps.append("audit")

    transaction = open_transactions(engine, ListedQueue, store_changes=stored)
    with transaction() as tx:
        tx.record("job.cancelled", "one", "/v1/training-jobs/1")
        for key in (("one two", "1"), ("one!", "1"), ("one", "2"), ("one", "1")):
            tx.before_commit(key, partial(steps.append, key))
    assert steps == ["audit", ("one", "1"), ("one", "2"), ("one two", "1"), ("one!", "1")]
