from uuid import UUID, uuid4
from zlib import decompress

import pytest
from httpx2 import Response
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from app.http.tables import RequestKeyRow
from app.identity import BUILT_IN_OWNER, uuid7
from app.registry.trainings import TRAINING
from app.webhooks.records import MAX_WEBHOOKS
from app.webhooks.repository import WebhookRepository
from app.webhooks.tables import WebhookAttemptRow, WebhookDeliveryRow
from relevance_bayes.records.webhooks import EVENT_TYPES, TEST, Attempt, Delivery, WebhookChange
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from tests.applications import DATASET, NOW, SmallParts
from tests.problems import assert_problem
from tests.small_models import small_version

URL = "https://hooks.example/relevance"


def add(client: TestClient, **members: object) -> dict[str, object]:
    response = client.post("/v1/webhooks", json={"url": URL, **members})
    assert response.status_code == 201, response.text
    made: dict[str, object] = response.json()
    return made


def delivery_of(parts: SmallParts, webhook_id: object) -> Delivery:
    failed = Attempt(NOW, 10.0, error="timeout")
    job = TRAINING.queued(BUILT_IN_OWNER, SupervisedRequest(DATASET.id, "y"), small_version().report.plan, at=NOW)
    parts.stored.put_job(job)
    delivery = Delivery(str(uuid7()), str(uuid7()), EVENT_TYPES[0], str(job.id), NOW, "failed", None, (failed,))
    with Session(parts.stored.engine) as session, session.begin():
        row = WebhookDeliveryRow(
            id=UUID(delivery.id),
            webhook_id=UUID(str(webhook_id)),
            event_id=UUID(delivery.event_id),
            type=delivery.type,
            job_id=job.id,
            created_at=NOW,
            state=delivery.state,
            entry=uuid7(),
            queued_at=NOW,
            delay=0.0,
            tries=1,
            attempts=1,
        )
        session.add(row)
        session.flush()
        session.add(
            WebhookAttemptRow(delivery_id=row.id, number=1, at=NOW, seconds=10.0, status=None, error=failed.error)
        )
    return delivery


def test_a_secret_is_shown_once(client: TestClient, parts: SmallParts) -> None:
    response = client.post("/v1/webhooks", json={"url": URL})
    made = response.json()
    assert response.headers["Location"] == f"/v1/webhooks/{made['id']}"
    assert response.headers["Cache-Control"] == "no-store"
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    with parts.stored.transaction() as tx:
        assert WebhookRepository(tx).secret(BUILT_IN_OWNER, UUID(made["id"])) == secret
    assert made == {
        "id": made["id"],
        "url": URL,
        "events": list(EVENT_TYPES),
        "description": None,
        "enabled": True,
        "created_at": "2024-05-01T13:00:00Z",
    }
    assert client.get(response.headers["Location"]).json() == made
    assert client.get("/v1/webhooks").json() == {"items": [made], "has_more": False, "after": None}
    changed = client.patch(response.headers["Location"], json={"enabled": False})
    assert changed.json() == {**made, "enabled": False}


def test_a_lost_response_is_given_again_with_its_secret_to_the_holder_of_its_key(client: TestClient) -> None:
    first, again = (
        client.post("/v1/webhooks", json={"url": URL}, headers={"Idempotency-Key": "one"}) for _ in range(2)
    )
    assert first.content == again.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(client.get("/v1/webhooks").json()["items"]) == 1
    other = client.post("/v1/webhooks", json={"url": f"{URL}/2"}, headers={"Idempotency-Key": "one"})
    assert other.status_code == 422


def test_a_secret_is_kept_with_its_webhook_alone_and_removed_with_it(client: TestClient, parts: SmallParts) -> None:
    key = {"Idempotency-Key": "one"}
    made = client.post("/v1/webhooks", json={"url": URL}, headers=key).json()
    with Session(parts.stored.engine) as session:
        (content,) = session.scalars(select(RequestKeyRow.content))
    assert content is not None
    assert b"whsec_" not in decompress(content)
    client.delete(f"/v1/webhooks/{made['id']}")
    again = client.post("/v1/webhooks", json={"url": URL}, headers=key)
    assert_problem(again, "conflict", "The webhook that this request made was removed, and its secret with it.")


def test_events_and_a_description_may_be_given(client: TestClient) -> None:
    made = add(client, events=["training_job.failed", "training_job.failed"], description="Wakes Ada.")
    assert (made["events"], made["description"]) == (["training_job.failed"], "Wakes Ada.")


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        ({}, "/url"),
        ({"url": 7}, "/url"),
        ({"url": "http://hooks.example/"}, "/url"),
        ({"url": "https://127.0.0.1/"}, "/url"),
        ({"url": "https://169.254.169.254/latest/meta-data"}, "/url"),
        ({"url": "https://[::ffff:10.0.0.1]/"}, "/url"),
        ({"url": "https://localhost:9000/"}, "/url"),
        ({"url": "https://ada:secret@hooks.example/"}, "/url"),
        ({"url": URL, "events": []}, "/events"),
        ({"url": URL, "events": ["training_job.queued"]}, "/events/0"),
        ({"url": URL, "secret": "whsec_mine"}, "/secret"),
        ({"url": URL, "description": "a" * 201}, "/description"),
    ],
)
def test_what_makes_no_webhook_is_stated_with_its_place(
    client: TestClient, sent: dict[str, object], pointer: str
) -> None:
    response = client.post("/v1/webhooks", json=sent)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
    assert client.get("/v1/webhooks").json()["items"] == []


@pytest.mark.parametrize("sent", [{"url": "http://10.0.0.1/"}, {"events": []}, {"enabled": "no"}, {"secret": "mine"}])
def test_what_would_make_no_webhook_changes_none(client: TestClient, sent: dict[str, object]) -> None:
    made = add(client)
    assert client.patch(f"/v1/webhooks/{made['id']}", json=sent).status_code == 422
    assert client.get(f"/v1/webhooks/{made['id']}").json()["url"] == URL


def test_a_webhook_is_changed(client: TestClient) -> None:
    made = add(client)
    changes = {"url": "https://other.example/", "events": ["training_job.cancelled"], "enabled": False}
    changed = client.patch(f"/v1/webhooks/{made['id']}", json=changes).json()
    assert {name: changed[name] for name in changes} == changes


def test_there_may_be_only_so_many(client: TestClient) -> None:
    for _ in range(MAX_WEBHOOKS):
        add(client)
    assert_problem(
        client.post("/v1/webhooks", json={"url": URL}),
        "conflict",
        "There are 20 webhooks, the maximum: remove one first.",
    )


def test_a_removed_webhook_is_not_found(client: TestClient) -> None:
    path = f"/v1/webhooks/{add(client)['id']}"
    assert client.delete(path).status_code == 204
    for response in (client.get(path), client.delete(path), client.get(f"{path}/deliveries")):
        assert response.status_code == 404


def test_what_is_no_webhook_is_not_found(client: TestClient) -> None:
    assert_problem(client.get("/v1/webhooks/one"), "not-found", "There is no webhook 'one'.")
    assert client.patch(f"/v1/webhooks/{uuid4()}", json={}).status_code == 404
    response = client.post(f"/v1/webhooks/{add(client)['id']}/deliveries/{uuid4()}/redeliver")
    assert response.status_code == 404


def test_deliveries_are_listed_with_their_attempts_and_made_again(client: TestClient, parts: SmallParts) -> None:
    made = add(client)
    delivery = delivery_of(parts, made["id"])
    path = f"/v1/webhooks/{made['id']}/deliveries"
    shown = {
        "id": delivery.id,
        "event_id": delivery.event_id,
        "type": "training_job.succeeded",
        "job_id": delivery.job_id,
        "created_at": "2024-05-01T13:00:00Z",
        "state": "failed",
        "next_attempt_at": None,
        "attempts": [{"at": "2024-05-01T13:00:00Z", "seconds": 10.0, "status": None, "error": "timeout"}],
    }
    assert client.get(path).json() == {"items": [shown], "has_more": False, "after": None}
    again = client.post(f"{path}/{delivery.id}/redeliver")
    assert again.status_code == 202
    assert again.json()["state"] == "pending"
    with parts.stored.transaction() as tx:
        WebhookRepository(tx).change(BUILT_IN_OWNER, UUID(str(made["id"])), WebhookChange(enabled=False))
    refused = client.post(f"{path}/{delivery.id}/redeliver")
    assert_problem(refused, "conflict", "The webhook is disabled: enable it first.")


def test_a_webhook_is_tried(client: TestClient) -> None:
    path = f"/v1/webhooks/{add(client, events=['training_job.failed'])['id']}"
    tried = client.post(f"{path}/test")
    assert tried.status_code == 202
    assert (tried.json()["type"], tried.json()["job_id"], tried.json()["state"]) == ("webhook.test", None, "pending")
    assert client.get(f"{path}/deliveries").json()["items"] == [tried.json()]
    client.patch(path, json={"enabled": False})
    assert_problem(client.post(f"{path}/test"), "conflict", "The webhook is disabled: enable it first.")
    assert client.post(f"/v1/webhooks/{uuid4()}/test").status_code == 404


def test_what_is_sent_is_documented(openapi: Response) -> None:
    schema = openapi.json()
    assert set(schema["webhooks"]) == {*EVENT_TYPES, TEST}
    operation = schema["webhooks"]["training_job.failed"]["post"]
    assert {one["name"] for one in operation["parameters"]} == {
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
    }
    body = operation["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"$ref": "#/components/schemas/MessageOut"}
