import json

import httpx

from tests.library.client.conftest import Connected

NOW = "2026-01-02T03:04:05Z"
WEBHOOK = {
    "id": "w/1",
    "url": "https://hooks.example/",
    "events": ["training_job.failed"],
    "description": None,
    "enabled": True,
    "created_at": NOW,
}
ONE = "/v1/webhooks/w%2F1"


def test_what_is_stated_is_sent_and_nothing_else(connected: Connected) -> None:
    pair = connected(
        {
            "POST /v1/webhooks": lambda _: httpx.Response(201, json={**WEBHOOK, "secret": "whsec_abc"}),
            f"GET {ONE}": lambda _: httpx.Response(200, json=WEBHOOK),
            f"PATCH {ONE}": lambda _: httpx.Response(200, json={**WEBHOOK, "enabled": False}),
            f"DELETE {ONE}": lambda _: httpx.Response(204),
        }
    )
    calls = pair.client.webhooks
    made = calls.create("https://hooks.example/")
    assert (made.secret, made.events) == ("whsec_abc", ("training_job.failed",))
    calls.create("https://hooks.example/", events=["training_job.failed"], description="Wakes Ada.")
    assert calls.get(made.id).enabled
    assert not calls.update(made.id, enabled=False).enabled
    calls.delete(made.id)
    sent = [json.loads(request.content) for request in pair.service.requested if request.content]
    assert sent == [
        {"url": "https://hooks.example/"},
        {"url": "https://hooks.example/", "events": ["training_job.failed"], "description": "Wakes Ada."},
        {"enabled": False},
    ]


def test_lists_are_read_to_their_end(connected: Connected) -> None:
    def page(request: httpx.Request) -> httpx.Response:
        more = "after" not in request.url.params
        return httpx.Response(200, json={"items": [WEBHOOK], "has_more": more, "after": "next" if more else None})

    pair = connected({"GET /v1/webhooks": page})
    assert [webhook.id for webhook in pair.client.webhooks.all()] == ["w/1", "w/1"]
