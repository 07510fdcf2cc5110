"""Whose turn it is: owners by chance, an owner's jobs by priority and then in their order, each owner so many."""

import time
from collections import Counter
from queue import SimpleQueue
from threading import Event
from uuid import UUID

import pytest
from dbos import DBOSClient
from sqlalchemy import Engine as Database

from app.database.transaction import OpenTransaction
from app.identity import uuid7
from app.jobs.queue.client import Control
from tests.jobs.queue.test_engine import Ran, running
from tests.waiting import until

FEW_STARTS = 20
"""Two owners take turns by the toss of a coin: one in a million runs of a test would see more."""


def submitted(transaction: OpenTransaction, owner: str, *priorities: int) -> list[UUID]:
    """Jobs of one owner, in this order."""
    jobs = [uuid7() for _ in priorities]
    with transaction() as tx:
        for job, priority in zip(jobs, priorities, strict=True):
            tx.queue.submit(job, owner=owner, priority=priority)
    return jobs


def test_a_thousand_jobs_of_one_owner_do_not_starve_one_of_another(
    engine: Database, client: DBOSClient, transaction: OpenTransaction
) -> None:
    for _ in range(10):
        submitted(transaction, "ada", *[100] * 100)
    (lone,) = submitted(transaction, "bob", -100)
    ran = Ran()
    with running(engine, client, ran):
        starts = [ran.jobs.get(timeout=10)]
        while starts[-1] != lone:
            assert len(starts) < FEW_STARTS
            starts.append(ran.jobs.get(timeout=10))


def test_an_owners_jobs_begin_by_priority_and_then_in_their_order(
    engine: Database, client: DBOSClient, transaction: OpenTransaction
) -> None:
    jobs: list[UUID] = []
    for priority in (-100, 0, 0, 100):
        jobs += submitted(transaction, "ada", priority)
        time.sleep(0.002)  # ids are in order of milliseconds, and on SQLite the engine's own times are whole seconds
    late, first, second, soon = jobs
    ran = Ran()
    with running(engine, client, ran):
        order = [ran.jobs.get(timeout=10) for _ in range(4)]
    assert order == [soon, first, second, late]


def test_a_worker_with_many_free_slots_gives_them_to_owners_in_turn(
    engine: Database, client: DBOSClient, transaction: OpenTransaction
) -> None:
    begun: SimpleQueue[UUID] = SimpleQueue()
    ended = Event()

    def run(job: UUID) -> bool:
        begun.put(job)
        return ended.wait(30)

    owners = {job: owner for owner in ("ada", "bob") for job in submitted(transaction, owner, *[0] * 6)}
    with running(engine, client, run, slots=6):
        first = [begun.get(timeout=10) for _ in range(6)]
        ended.set()
    assert Counter(owners[job] for job in first) == {"ada": 3, "bob": 3}


@pytest.mark.parametrize("maximum", [1, 2])
def test_an_owner_has_so_many_jobs_running_and_others_have_the_rest(
    engine: Database, client: DBOSClient, transaction: OpenTransaction, control: Control, maximum: int
) -> None:
    begun: SimpleQueue[UUID] = SimpleQueue()
    ended = Event()

    def run(job: UUID) -> bool:
        begun.put(job)
        return ended.wait(30)

    owners = {job: owner for owner in ("ada", "bob") for job in submitted(transaction, owner, 0, 0, 0)}
    with running(engine, client, run, slots=6, max_of_one_owner=maximum):
        first = [begun.get(timeout=10) for _ in range(2 * maximum)]
        assert Counter(owners[job] for job in first) == {"ada": maximum, "bob": maximum}
        waiting = [job for job in owners if job not in first]
        assert {control.state(job) for job in waiting} == {"waiting"}
        assert begun.empty()
        ended.set()
        until(lambda: len(control.endings(list(owners))) == 6)
