"""Jobs of all kinds by the client: pages, all, and a stream that is resumed."""

import json
from itertools import islice

import httpx
import pytest

from relevance_bayes.client import ClientError, job_events
from relevance_bayes.records.jobs import JobCounts
from tests.library.client.conftest import Connected

NOW = "2026-01-02T03:04:05Z"


def job(name: str, state: str = "running") -> dict[str, object]:
    times = {"created_at": NOW, "started_at": NOW, "finished_at": None, "cancel_requested_at": None}
    rest: dict[str, object] = {
        "attempt": 1,
        "progress": None,
        "version": None,
        "error": None,
        "transitions": [],
        "dataset_id": "d1",
    }
    place = {"kind": "training", "path": f"/v1/training-jobs/{name}"}
    return {"id": name, "state": state, "model": "kiosk", **times, **rest, **place}


def page(*jobs: dict[str, object], after: str | None = None, last_change: str = "e-7") -> httpx.Response:
    counts = {"queued": 0, "running": 3, "succeeded": 1, "failed": 0, "cancelled": 0}
    rest = {"has_more": after is not None, "after": after, "counts": counts, "last_change": last_change}
    return httpx.Response(200, json={"items": jobs, **rest})


def streamed(*messages: tuple[int, dict[str, object]], position: int = 7) -> httpx.Response:
    content = "".join(f"event: job\ndata: {json.dumps(data)}\nid: e-{number}\n\n" for number, data in messages)
    return httpx.Response(200, content=f"retry: 1000\n\n: keep-alive\nid: e-{position}\n\n{content}".encode())


def test_a_page_has_counts_and_the_last_change(connected: Connected) -> None:
    pair = connected({"GET /v1/jobs": lambda _: page(job("j1"))})
    found = pair.client.jobs.page(kind="training", state="running", limit=5, counts=True)
    assert [one.path for one in found.items] == ["/v1/training-jobs/j1"]
    assert (found.counts, found.last_change) == (JobCounts(0, 3, 1, 0, 0), "e-7")
    params = {"kind": "training", "state": "running", "limit": "5", "counts": "true"}
    assert dict(pair.service.requested[0].url.params) == params


def test_all_goes_through_the_pages(connected: Connected) -> None:
    pages = [page(job("j2"), after="c"), page(job("j1"))]
    pair = connected({"GET /v1/jobs": lambda _: pages.pop(0)})
    assert [one.id for one in pair.client.jobs.all(model="kiosk")] == ["j2", "j1"]
    assert [dict(request.url.params) for request in pair.service.requested] == [
        {"model": "kiosk"},
        {"model": "kiosk", "after": "c"},
    ]


def test_a_stream_begins_after_the_list_and_goes_on_after_the_last_message(
    connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_events, "PAUSES", (0.0, 0.0))
    responses = [
        streamed(position=8),
        httpx.Response(503, json={"title": "Out of reach", "detail": "Try later.", "status": 503}),
        streamed((9, job("j1")), (10, job("j2")), position=8),
        streamed((12, job("j1", "succeeded"))),
    ]
    pair = connected({"GET /v1/jobs": lambda _: page(), "GET /v1/jobs/events": lambda _: responses.pop(0)})
    found = list(islice(pair.client.jobs.follow(kind="training"), 3))
    assert [(one.id, one.state) for one in found] == [("j1", "running"), ("j2", "running"), ("j1", "succeeded")]
    assert dict(pair.service.requested[0].url.params) == {"limit": "1"}
    streams = pair.service.requested[1:]
    assert [request.headers["Last-Event-ID"] for request in streams] == ["e-7", "e-8", "e-8", "e-10"]
    assert {request.url.params["kind"] for request in streams} == {"training"}


def test_a_number_that_is_refused_is_an_error_at_once(connected: Connected) -> None:
    problem = {"title": "No", "detail": "Get the list of jobs again.", "status": 422}
    pair = connected({"GET /v1/jobs/events": lambda _: httpx.Response(422, json=problem)})
    with pytest.raises(ClientError, match="Get the list"):
        next(pair.client.jobs.follow(after="e-100"))
