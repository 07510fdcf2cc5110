import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from dbos import DBOSClient

from app.database.transaction import OpenTransaction
from app.jobs.queue.dbos_internals import CHECKED, QUEUE, VERSION, WEBHOOK_QUEUE, PollWaits, claim_fairly

ROOT = Path(__file__).parents[3]
PRIVATE = re.compile(r"dbos\._|\._sys_db\b|\b_partition_worker_concurrency\b")


def test_the_installed_release_is_the_one_that_was_checked() -> None:
    assert version("dbos").split(".")[:2] == CHECKED.split(".")


def test_no_other_file_uses_private_members() -> None:
    users = {path.name for path in (ROOT / "app").rglob("*.py") if PRIVATE.search(path.read_text())}
    assert users == {"dbos_internals.py"}


Claim = Callable[[UUID], list[str]]
"""Claims the entries of a webhook that a worker may start, of which it runs none."""


@pytest.fixture
def waits() -> PollWaits:
    return PollWaits()


@pytest.fixture
def claim(client: DBOSClient, waits: PollWaits) -> Claim:
    client.register_queue(WEBHOOK_QUEUE, worker_concurrency=8, partition_worker_concurrency=2)
    queue = client.retrieve_queue(WEBHOOK_QUEUE)
    assert queue is not None
    claim_fairly(waits)
    return lambda webhook: client._sys_db.start_queued_workflows(queue, "here:1", VERSION, str(webhook), 0, 0)[0]


def test_what_was_claimed_and_has_not_ended_takes_the_share_of_its_partition(
    transaction: OpenTransaction, claim: Claim, waits: PollWaits
) -> None:
    slow, other = uuid4(), uuid4()
    with transaction() as tx:
        for webhook in (slow, slow, slow, other):
            tx.queue.deliver(uuid4(), webhook_id=webhook, delay=0.0)
    first = claim(slow)
    assert len(first) == 2
    assert claim(slow) == []
    assert len(claim(other)) == 1
    waits.start(first[0], WEBHOOK_QUEUE, str(slow))  # after DBOS counted, which states 0 here
    assert claim(slow) == []
    waits.end(WEBHOOK_QUEUE, str(slow))
    assert len(claim(slow)) == 1


def test_of_more_owners_than_slots_with_one_job_each_so_many_are_claimed_as_slots_are_free(
    transaction: OpenTransaction, client: DBOSClient, waits: PollWaits
) -> None:
    client.register_queue(QUEUE, worker_concurrency=2, partition_concurrency=1, partition_worker_concurrency=1)
    queue = client.retrieve_queue(QUEUE)
    assert queue is not None
    claim_fairly(waits)

    def claimed() -> list[str]:
        return client._sys_db.start_queued_partitioned_workflows(queue, "here:1", VERSION, 2)

    with transaction() as tx:
        for owner in ("ada", "bob", "cy", "dan", "eve"):
            tx.queue.submit(uuid4(), owner=owner)
    first = claimed()
    assert len(first) == 2
    assert claimed() == []
    waits.start(first[0], QUEUE, "ada")
    assert claimed() == []
    waits.end(QUEUE, "ada")
    assert len(claimed()) == 1
    waits.start(first[1], QUEUE, "bob")
    waits.end(QUEUE, "bob")
    waits.close()
    assert claimed() == []


def test_nothing_is_claimed_once_polls_have_ended(transaction: OpenTransaction, claim: Claim, waits: PollWaits) -> None:
    webhook = uuid4()
    with transaction() as tx:
        tx.queue.deliver(uuid4(), webhook_id=webhook, delay=0.0)
    waits.close()
    assert claim(webhook) == []
    assert waits.taken(WEBHOOK_QUEUE) == {}
