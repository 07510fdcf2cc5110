"""From a job's end to its webhook's receiver: real sockets, real databases, the real engine."""

import base64
import hashlib
import hmac
import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate
from threading import Event
from uuid import UUID

import pytest
from dbos import DBOSClient
from pydantic import TypeAdapter
from sqlalchemy import Engine as Database
from sqlalchemy import text

from app.addresses import Allowance, Target
from app.database.keyset import PageRequest
from app.database.transaction import OpenTransaction, now, open_transactions
from app.http.negotiation import to_json
from app.identity import uuid7
from app.jobs.queue.client import Control, Submitter, make_client
from app.jobs.queue.engine import WEBHOOK_SHARE, Engine
from app.jobs.records import Job
from app.jobs.repository import JobRepository
from app.jobs.worker.attempts import Interrupted
from app.tasks.responses import training_job
from app.tasks.service import finish_training
from app.webhooks import deliverer as deliverer_module
from app.webhooks.deliverer import Deadline, Deliverer, Finder, NotSent
from app.webhooks.messages import MessageOut, job_message
from app.webhooks.messages import TestMessageOut as WebhookTest
from app.webhooks.records import PAUSES, new_secret, signature
from app.webhooks.repository import SUBSCRIBERS, DeliveryRepository, WebhookRepository
from relevance_bayes.records.webhooks import EVENT_TYPES, Attempt, Delivery, Webhook
from tests import samples
from tests.receivers import Receiver, hangs, receiving, responses
from tests.waiting import until


def hmac_sha256(key: bytes, content: bytes) -> bytes:
    """RFC 2104, by its definition."""
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded) + content).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in padded) + inner).digest()


def test_a_signature_is_that_of_the_specification() -> None:
    """The example of the specification's own libraries."""
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    signed = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_signature_is_hmac_of_id_time_and_body() -> None:
    secret, body = new_secret(), '{"a":"ä😀"}'.encode()
    key = base64.b64decode(secret.removeprefix("whsec_"))
    version, _, found = signature(secret, "one", 1700000000, body).partition(",")
    assert version == "v1"
    assert base64.b64decode(found) == hmac_sha256(key, b"one.1700000000." + body)


def test_secrets_are_256_bits_and_no_two_are_alike() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert {len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) for secret in secrets} == {32}


def test_attempts_are_spread_as_the_specification_has_them() -> None:
    hours = [seconds / 3600 for seconds in accumulate(PAUSES)]
    assert [round(hour, 2) for hour in hours] == [0.0, 0.08, 0.58, 2.58, 7.58, 17.58, 31.58, 51.58, 75.58]


HERE = Allowance.of("127.0.0.0/8")
ONE_DATABASE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@dataclass
class Place:
    """A database with its engine, and what is on its way."""

    database: Database
    client: DBOSClient
    transaction: OpenTransaction
    stopping: Event

    def deliverer(self, *pauses: float) -> Deliverer:
        return Deliverer(self.transaction, HERE, now, self.stopping, pauses)

    def engine(self, deliverer: Deliverer, *, executor: str = "here:1") -> Engine:
        return Engine(
            self.database,
            self.client,
            run=lambda _: True,
            deliver=deliverer,
            executor=executor,
            slots=1,
            poll_seconds=0.05,
        )

    def hook(self, url: str) -> tuple[Webhook, str]:
        webhook, secret = Webhook(str(uuid7()), url, EVENT_TYPES, None, enabled=True, created_at=now()), new_secret()
        with self.transaction() as tx:
            WebhookRepository(tx).add(samples.OWNER, webhook, secret)
        return webhook, secret

    def end(self) -> Job:
        """A job that ends by its owner's wish, before it began."""
        job_id = samples.queued_job(self.transaction)
        with self.transaction() as tx:
            return JobRepository(tx).request_cancel(samples.OWNER, job_id)

    def deliveries(self, webhook: Webhook) -> tuple[Delivery, ...]:
        with self.transaction() as tx:
            return DeliveryRepository(tx).page(samples.OWNER, UUID(webhook.id), PageRequest(100)).items

    def entry(self) -> UUID:
        with self.database.connect() as connection:
            return UUID(str(connection.execute(text("SELECT entry FROM webhook_deliveries")).scalar_one()))


@pytest.fixture
def place(engine: Database) -> Place:
    client = make_client(engine)
    return Place(engine, client, open_transactions(engine, Submitter(client), subscribers=SUBSCRIBERS), Event())


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving(responses(200)) as receiver:
        yield receiver


def verified(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """As the specification states it, and not as the service does it."""
    signed = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    expected = hmac.new(base64.b64decode(secret[6:]), signed, hashlib.sha256).digest()
    sent = [one.split(",", 1) for one in headers["webhook-signature"].split(" ")]
    return any(kind == "v1" and hmac.compare_digest(base64.b64decode(value), expected) for kind, value in sent)


def test_webhooks_are_notified_by_the_engine_and_again_where_that_failed(place: Place) -> None:
    with receiving(responses(500), responses(204)) as receiver:
        webhook, secret = place.hook(receiver.url)
        engine = place.engine(place.deliverer(0.2, 60.0))
        engine.launch()
        try:
            job = place.end()
            until(lambda: place.deliveries(webhook)[0].state == "delivered", seconds=20)
        finally:
            engine.shutdown(5.0)
    first, second = receiver.received
    (delivery,) = place.deliveries(webhook)
    assert [attempt.status for attempt in delivery.attempts] == [500, 204]
    assert first.body == second.body == job_message("training_job.cancelled", job)
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == delivery.event_id
    for request in (first, second):
        headers = {name.lower(): str(value) for name, value in request.headers.items()}
        assert verified(secret, headers, request.body)
        assert not verified(secret, headers, request.body + b" ")
        assert not verified(new_secret(), headers, request.body)
        assert abs(int(headers["webhook-timestamp"]) - now().timestamp()) < 60


def test_a_webhook_is_tried_on_the_path_of_all_its_deliveries(place: Place, receiver: Receiver) -> None:
    webhook, secret = place.hook(receiver.url)
    with place.transaction() as tx:
        made = DeliveryRepository(tx).test(samples.OWNER, UUID(webhook.id))
    assert place.deliverer()(place.entry())
    (request,), (delivery,) = receiver.received, place.deliveries(webhook)
    assert (delivery.id, delivery.state) == (made.id, "delivered")
    headers = {name.lower(): str(value) for name, value in request.headers.items()}
    assert headers["webhook-id"] == made.event_id
    assert verified(secret, headers, request.body)
    given = TypeAdapter(WebhookTest).validate_json(request.body)
    assert (given.type, given.data.webhook_id, given.timestamp) == ("webhook.test", UUID(webhook.id), made.created_at)


def test_a_redelivery_is_made_at_once(place: Place, receiver: Receiver) -> None:
    webhook, _ = place.hook(receiver.url)
    engine = place.engine(place.deliverer())
    engine.launch()
    try:
        place.end()
        until(lambda: place.deliveries(webhook)[0].state == "delivered", seconds=20)
        (before,) = place.deliveries(webhook)
        with place.transaction() as tx:
            DeliveryRepository(tx).redeliver(samples.OWNER, UUID(webhook.id), UUID(before.id))
        until(lambda: len(place.deliveries(webhook)[0].attempts) == 2, seconds=20)
    finally:
        engine.shutdown(5.0)
    assert len({request.headers["webhook-id"] for request in receiver.received}) == 1


@pytest.mark.thorough
@ONE_DATABASE
def test_a_receiver_that_hangs_keeps_nobody_elses_news_back(place: Place, receiver: Receiver) -> None:
    with receiving(hangs) as hanging:
        place.hook(hanging.url)
        webhook, _ = place.hook(receiver.url)
        engine = place.engine(place.deliverer(60.0))
        engine.launch()
        try:
            for _ in range(2 * WEBHOOK_SHARE):
                place.end()
            until(lambda: all(one.state == "delivered" for one in place.deliveries(webhook)), seconds=8)
            assert hanging.connections <= WEBHOOK_SHARE
            place.stopping.set()
        finally:
            engine.shutdown(5.0)


@pytest.mark.thorough
@ONE_DATABASE
def test_what_is_cut_off_by_a_workers_end_is_delivered_by_the_next_one(place: Place) -> None:
    with receiving(hangs, responses(200)) as receiver:
        webhook, _ = place.hook(receiver.url)
        engine = place.engine(place.deliverer(60.0))
        engine.launch()
        try:
            place.end()
            until(lambda: len(receiver.received) == 1, seconds=20)
            place.stopping.set()
        finally:
            engine.shutdown(5.0)
        assert place.deliveries(webhook)[0].attempts == ()
        place.stopping.clear()
        Control(place.client).recover(["here:1"])
        engine = place.engine(place.deliverer(60.0), executor="there:2")
        engine.launch()
        try:
            until(lambda: place.deliveries(webhook)[0].state == "delivered", seconds=20)
        finally:
            engine.shutdown(5.0)
    assert len({request.headers["webhook-id"] for request in receiver.received}) == 1


class Handler:
    """In the network's place: answers, or raises, the same each time."""

    def __init__(self, response: int | Exception) -> None:
        self.response = response
        self.sent = 0

    def __call__(
        self, target: Target, headers: Mapping[str, str], body: bytes, *, allowed: Allowance, deadline: Deadline
    ) -> int:
        self.sent += 1
        if isinstance(self.response, Exception):
            raise self.response
        return self.response


def test_a_receiver_that_is_removed_gets_no_more(place: Place) -> None:
    webhook, _ = place.hook("https://hooks.example/")
    place.end()
    first, post = place.entry(), Handler(410)
    assert replace(place.deliverer(*PAUSES), post=post)(first)
    (delivery,) = place.deliveries(webhook)
    assert (delivery.state, [attempt.status for attempt in delivery.attempts]) == ("failed", [410])
    with place.transaction() as tx:
        assert not WebhookRepository(tx).get(samples.OWNER, UUID(webhook.id)).enabled
    place.end()
    assert len(place.deliveries(webhook)) == 1


@ONE_DATABASE
def test_what_waits_for_a_webhook_that_was_disabled_is_not_sent(place: Place) -> None:
    webhook, _ = place.hook("https://hooks.example/")
    place.end()
    with place.transaction() as tx:
        WebhookRepository(tx).disable(UUID(webhook.id))
    post = Handler(200)
    assert replace(place.deliverer(*PAUSES), post=post)(place.entry())
    (delivery,) = place.deliveries(webhook)
    assert (delivery.state, [one.error for one in delivery.attempts]) == ("failed", ["disabled"])
    assert post.sent == 0


@ONE_DATABASE
def test_after_ten_attempts_it_has_failed(place: Place) -> None:
    webhook, _ = place.hook("https://hooks.example/?token=abc")
    place.end()
    deliverer = replace(place.deliverer(*PAUSES), post=Handler(NotSent("timeout")))
    pauses: list[float] = []
    while (delivery := place.deliveries(webhook)[0]).state == "pending":
        assert deliverer(place.entry())
        with place.database.connect() as connection:
            pauses.append(connection.execute(text("SELECT delay FROM webhook_deliveries")).scalar_one())
    assert [one.error for one in delivery.attempts] == 10 * ["timeout"]
    assert all(minimum <= pause <= 1.1 * minimum for minimum, pause in zip(PAUSES, pauses[:9], strict=True))


@ONE_DATABASE
def test_no_log_has_a_secret_or_a_url(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    _, secret = place.hook("https://hooks.example/?token=abc")
    place.end()
    with caplog.at_level(logging.DEBUG):
        replace(place.deliverer(*PAUSES), post=Handler(503))(place.entry())
    given = " ".join(str(record.__dict__) for record in caplog.records)
    assert "webhook delivery attempt failed" in given
    assert secret not in given
    assert "token=abc" not in given


def test_an_entry_that_is_no_longer_the_newest_is_not_made_again(place: Place) -> None:
    webhook, _ = place.hook("https://hooks.example/")
    place.end()
    entry, post = place.entry(), Handler(500)
    deliverer = replace(place.deliverer(60.0), post=post)
    assert deliverer(entry)
    assert deliverer(entry)
    assert post.sent == 1
    assert len(place.deliveries(webhook)[0].attempts) == 1


@ONE_DATABASE
def test_a_worker_that_is_to_end_leaves_attempts_to_others(place: Place) -> None:
    webhook, _ = place.hook("https://hooks.example/")
    place.end()
    post = Handler(Interrupted())
    deliverer = replace(place.deliverer(60.0), post=post)
    assert not deliverer(place.entry())
    place.stopping.set()
    assert not deliverer(place.entry())
    assert post.sent == 1
    assert place.deliveries(webhook)[0].attempts == ()


def test_attempts_that_the_engine_lost_are_found_and_made_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliverer_module, "OVERDUE_SECONDS", -1.0)
    webhook, _ = place.hook("https://hooks.example/")
    place.end()
    control, deliverer = Control(place.client), place.deliverer(60.0, 60.0)
    Finder(deliverer, control).find()
    assert place.deliveries(webhook)[0].attempts == ()  # it waits its turn
    control.cancel(place.entry())
    Finder(deliverer, control).find()
    (delivery,) = place.deliveries(webhook)
    assert (delivery.state, [one.error for one in delivery.attempts]) == ("pending", ["interrupted"])
    assert control.state(place.entry()) == "waiting"


@ONE_DATABASE
@pytest.mark.parametrize("ended", ["succeeded", "failed", "cancelled"])
def test_a_message_states_what_the_job_states_of_itself(place: Place, ended: str) -> None:
    job_id = samples.running_job(place.transaction)
    with place.transaction() as tx:
        match ended:
            case "succeeded":
                finish_training(tx, job_id, 1, samples.new_version())
            case "failed":
                JobRepository(tx).fail(job_id, 1, samples.PROBLEM)
            case _:
                JobRepository(tx).cancelled(job_id, 1)
        job = JobRepository(tx).get(samples.OWNER, job_id)
    (event,) = (one for one in EVENT_TYPES if one == f"training_job.{ended}")
    reported = json.loads(job_message(event, job))
    assert TypeAdapter(MessageOut).validate_json(json.dumps(reported), strict=True).data.id == job_id
    shown = json.loads(to_json(training_job(job)))
    assert (reported["type"], reported["timestamp"]) == (event, shown["finished_at"])
    for name, value in reported["data"].items():
        seen = shown[name]
        assert value == ({key: seen[key] for key in value} if isinstance(value, dict) else seen), name


def test_attempts_succeed_by_their_status_alone() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    good = {status for status in range(100, 600) if Attempt(at, 0.0, status).has_succeeded}
    assert good == set(range(200, 300))
    assert not Attempt(at, 0.0, error="timeout").has_succeeded
