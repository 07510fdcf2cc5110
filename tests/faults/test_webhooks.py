"""Whatever a worker dies of, a webhook is notified, by the same id."""

import json
import signal
import socket
import subprocess
from threading import Event
from uuid import UUID

import pytest

from app.database.keyset import PageRequest
from app.identity import BUILT_IN_OWNER
from relevance_bayes.records.webhooks import Delivery, Webhook, WebhookRequest
from tests.faults.conftest import MakePlace, Place, on_sqlite
from tests.jobs.worker import trainers
from tests.receivers import Behaviour, receiving, responses
from tests.waiting import until


@pytest.fixture(autouse=True)
def _receivers_here_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELEVANCE_WEBHOOK_ALLOWED_HOSTS", "127.0.0.0/8")


def kills(worker: subprocess.Popen[bytes]) -> Behaviour:
    """The worker is dead before it hears that its message was taken."""

    def behave(connection: socket.socket, ending: Event) -> None:
        worker.kill()
        worker.wait()
        responses(200)(connection, ending)

    return behave


def deliveries(place: Place, webhook: Webhook) -> tuple[Delivery, ...]:
    return place.parts.webhooks.deliveries(BUILT_IN_OWNER, UUID(webhook.id), PageRequest(9)).items


def test_a_worker_killed_between_request_and_record_delivers_again_by_the_same_id(make_place: MakePlace) -> None:
    place = make_place()
    worker = place.start_worker()
    with receiving(kills(worker), responses(204)) as receiver:
        webhook = place.parts.webhooks.register(BUILT_IN_OWNER, WebhookRequest(receiver.url))
        job = place.submit(trainers.marked)
        place.parts.jobs.cancel(BUILT_IN_OWNER, job.id)
        worker.wait(60)
        place.start_worker()
        until(lambda: [one.state for one in deliveries(place, webhook)] == ["delivered"], seconds=60)
    (delivery,) = deliveries(place, webhook)
    reported = [(request.headers["webhook-id"], request.body) for request in receiver.received]
    assert len(reported) == 2
    assert len(set(reported)) == 1
    assert reported[0][0] == str(delivery.event_id)
    assert json.loads(reported[0][1])["data"]["id"] == str(job.id)
    assert [attempt.status for attempt in delivery.attempts] == [204]


@on_sqlite
def test_an_end_that_its_receiver_could_not_take_is_delivered_again(make_place: MakePlace) -> None:
    place = make_place()
    place.start_worker()
    with receiving(responses(500), responses(200)) as receiver:
        webhook = place.parts.webhooks.register(BUILT_IN_OWNER, WebhookRequest(receiver.url))
        job = place.submit(trainers.marked)
        place.started()
        place.open_the_gate()
        assert place.ended(job).state == "succeeded"
        until(lambda: [one.state for one in deliveries(place, webhook)] == ["delivered"], seconds=60)
        place.workers[0].send_signal(signal.SIGTERM)
        assert place.workers[0].wait(15) == 0
    (delivery,) = deliveries(place, webhook)
    assert [attempt.status for attempt in delivery.attempts] == [500, 200]
    assert json.loads(receiver.received[-1].body)["data"]["version"] == {"model": job.for_model, "version": 1}
