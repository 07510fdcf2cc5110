"""When the queues are polled: the intervals, as the engine reads them from the database, and what ends a wait."""

from dataclasses import replace
from uuid import UUID

import pytest
from dbos import DBOSClient
from sqlalchemy import Engine as Database

from app.identity import uuid7
from app.jobs.queue.names import QUEUE, SCORING_QUEUE, WEBHOOK_QUEUE
from app.jobs.queue.polling import QUIET_SECONDS, REWRITE_SECONDS, AdaptivePolling, PollWaits, intervals
from app.jobs.records import JobActivity

NONE = JobActivity(None, is_waiting=False, is_unfinished=False)
BUSY, IDLE = 0.1, 1.0


def with_newest(job: UUID) -> JobActivity:
    return replace(NONE, newest=job)


def stored(client: DBOSClient) -> dict[str, float]:
    return {queue.name: queue.polling_interval_sec for queue in client.list_queues()}


@pytest.fixture
def polling(client: DBOSClient, engine: Database) -> AdaptivePolling:
    for name, seconds in intervals(BUSY).items():
        client.register_queue(name, polling_interval_sec=seconds)
    return AdaptivePolling(client, busy=BUSY, idle=IDLE)


def test_polls_become_rare_when_nothing_has_come_for_a_while(client: DBOSClient, polling: AdaptivePolling) -> None:
    polling.adapt(NONE, now=100.0)
    polling.adapt(NONE, now=100.0 + QUIET_SECONDS - 1.0)
    assert stored(client) == {QUEUE: 0.1, SCORING_QUEUE: 0.1, WEBHOOK_QUEUE: 0.5}
    polling.adapt(NONE, now=100.0 + QUIET_SECONDS)
    assert stored(client) == {QUEUE: 1.0, SCORING_QUEUE: 1.0, WEBHOOK_QUEUE: 5.0}


def test_a_new_job_makes_polls_frequent_also_where_it_has_ended_already(
    client: DBOSClient, polling: AdaptivePolling
) -> None:
    polling.adapt(with_newest(uuid7()), now=100.0)
    polling.adapt(with_newest(uuid7()), now=200.0)
    assert stored(client)[QUEUE] == BUSY


def test_polls_stay_frequent_while_a_job_waits(client: DBOSClient, polling: AdaptivePolling) -> None:
    waiting = JobActivity(uuid7(), is_waiting=True, is_unfinished=True)
    polling.adapt(waiting, now=100.0)
    polling.adapt(waiting, now=5000.0)
    assert stored(client)[QUEUE] == BUSY
    # One that runs alone waits for nothing.
    polling.adapt(replace(waiting, is_waiting=False), now=5000.0 + QUIET_SECONDS)
    assert stored(client)[QUEUE] == IDLE


def test_an_interval_of_a_worker_that_left_does_not_stay(client: DBOSClient, polling: AdaptivePolling) -> None:
    polling.adapt(NONE, now=100.0)
    polling.adapt(NONE, now=200.0)
    for name, seconds in intervals(BUSY).items():  # as a worker's launch does
        client.register_queue(name, polling_interval_sec=seconds)
    polling.adapt(NONE, now=201.0)
    assert stored(client)[QUEUE] == BUSY
    polling.adapt(NONE, now=200.0 + REWRITE_SECONDS)
    assert stored(client)[QUEUE] == IDLE


def test_idle_polls_are_never_the_more_frequent(client: DBOSClient, engine: Database) -> None:
    client.register_queue(QUEUE, polling_interval_sec=3.0)
    polling = AdaptivePolling(client, busy=3.0, idle=IDLE)
    polling.adapt(NONE, now=100.0)
    polling.adapt(NONE, now=200.0)
    assert stored(client) == {QUEUE: 3.0}


def test_a_claimed_entry_counts_until_it_starts_which_ends_a_wait() -> None:
    waits = PollWaits()
    waits.claim("training", ["a", "b"])
    waits.claim("webhooks", ["c"])
    assert (waits.claimed("training"), waits.claimed("webhooks")) == (2, 1)
    waits.start("a")
    waits.wait(60.0)
    assert (waits.claimed("training"), waits.claimed("webhooks")) == (1, 1)


def test_an_entry_that_does_not_start_leaves_its_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.jobs.queue.polling.CLAIM_SECONDS", 0.0)
    waits = PollWaits()
    waits.claim("training", ["a"])
    assert waits.claimed("training") == 0
