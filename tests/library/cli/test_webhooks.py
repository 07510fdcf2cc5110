import json

from tests.commands import Run
from tests.library.cli.conftest import Stub

NOW = "2026-01-02T03:04:05Z"
WEBHOOK = {
    "id": "w1",
    "url": "https://hooks.example/",
    "events": ["training_job.failed"],
    "description": "Wakes Ada.",
    "enabled": False,
    "created_at": NOW,
}
ATTEMPT = {"at": NOW, "seconds": 10.0, "status": None, "error": "timeout"}
DELIVERY = {
    "id": "d1",
    "event_id": "e1",
    "type": "training_job.failed",
    "job_id": "j1",
    "created_at": NOW,
    "state": "pending",
    "next_attempt_at": NOW,
    "attempts": [ATTEMPT, {**ATTEMPT, "seconds": 0.5, "status": 503, "error": None}],
}


def page(*items: object) -> tuple[int, object]:
    return 200, {"items": items, "has_more": False, "after": None}


def test_a_webhook_is_added_and_its_secret_shown(run: Run, stub: Stub) -> None:
    url = stub({"POST /v1/webhooks": (201, {**WEBHOOK, "secret": "whsec_abc"})})
    done = run("webhooks", "add", "https://hooks.example/", "--event", "failed", "--url", url)
    assert done.exit_code == 0, done.stderr
    assert "whsec_abc" in done.stdout
    assert "not shown again" in done.stdout


def test_a_webhook_is_changed(run: Run, stub: Stub) -> None:
    url = stub({"PATCH /v1/webhooks/w1": (200, WEBHOOK)})
    changes = ("--address", "https://hooks.example/", "--event", "failed", "--disable")
    done = run("webhooks", "update", "w1", *changes, "--url", url)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == "Webhook w1 is disabled: training_job.failed to https://hooks.example/.\n"
    assert json.loads(run("webhooks", "update", "w1", *changes, "--json", "--url", url).stdout)["id"] == "w1"


def test_webhooks_are_listed(run: Run, stub: Stub) -> None:
    url = stub({"GET /v1/webhooks": page(WEBHOOK)})
    shown = run("webhooks", "list", "--url", url).stdout
    assert all(text in shown for text in ("w1", "https://hooks.example/", "disabled", "Wakes Ada."))
    assert json.loads(run("webhooks", "list", "--json", "--url", url).stdout)[0]["enabled"] is False


def test_deliveries_are_listed_with_what_came_back_last(run: Run, stub: Stub) -> None:
    url = stub({"GET /v1/webhooks/w1/deliveries": page(DELIVERY, {**DELIVERY, "attempts": [ATTEMPT]})})
    shown = run("webhooks", "deliveries", "w1", "--url", url).stdout
    assert "503 after 0.5 s" in shown
    assert "timeout after 10 s" in shown


def test_a_webhook_is_tried(run: Run, stub: Stub) -> None:
    tried = {**DELIVERY, "type": "webhook.test", "job_id": None}
    url = stub({"POST /v1/webhooks/w1/test": (202, tried), "GET /v1/webhooks/w1/deliveries": page(tried)})
    assert run("webhooks", "test", "w1", "--url", url).stdout.startswith("Delivery d1 is made: ")
    assert json.loads(run("webhooks", "test", "w1", "--json", "--url", url).stdout)["job_id"] is None
    assert "webhook.test" in run("webhooks", "deliveries", "w1", "--url", url).stdout


def test_a_delivery_is_made_again(run: Run, stub: Stub) -> None:
    url = stub({"POST /v1/webhooks/w1/deliveries/d1/redeliver": (202, DELIVERY)})
    assert run("webhooks", "redeliver", "w1", "d1", "--url", url).stdout == "Delivery d1 is made again.\n"


def test_a_refusal_is_stated(run: Run, stub: Stub) -> None:
    problem = {"type": "/problems/invalid-request", "title": "No", "status": 422, "detail": "Expected https://."}
    done = run("webhooks", "add", "http://hooks.example/", "--url", stub({"POST /v1/webhooks": (422, problem)}))
    assert (done.exit_code, done.stderr) == (1, "Expected https://.\n")
