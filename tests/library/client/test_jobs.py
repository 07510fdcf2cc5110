"""Jobs, and their streams of events."""

import json
from collections.abc import Iterator
from itertools import islice

import httpx
import pytest

from relevance_bayes.client import NOT_REACHABLE, ClientError
from relevance_bayes.client import jobs as job_events
from relevance_bayes.client.calls import iterated
from relevance_bayes.client.jobs import PAUSES, follow
from relevance_bayes.records.jobs import JobCounts
from tests.library.client.conftest import Connected

NOW = "2026-01-02T03:04:05Z"
PATH = "/v1/training-jobs/j1/events"


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that a client would have waited, and did not."""
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    return waited


def given(number: int, state: str) -> bytes:
    moved = {"state": state, "at": NOW, "attempt": 1, "reason": None}
    event = {"number": number, "at": NOW, "kind": "transition", "transition": moved, "progress": None}
    return f"id: {number}\nevent: transition\ndata: {json.dumps(event)}\n\n".encode()


def breaking(*chunks: bytes) -> httpx.Response:
    """A stream whose connection breaks after these bytes."""

    def content() -> Iterator[bytes]:
        yield from chunks
        raise httpx.ReadError("connection reset")

    return httpx.Response(200, content=content())


def stream(*chunks: bytes) -> httpx.Response:
    return httpx.Response(200, content=b"".join(chunks))


def test_it_goes_on_after_the_last_event_that_was_whole(connected: Connected, waited: list[float]) -> None:
    responses = [
        breaking(b"retry: 1000\n\n", given(1, "queued"), given(2, "running")[:-9]),
        httpx.Response(503, json={"title": "Out of reach", "detail": "Try later.", "status": 503}),
        stream(),
        breaking(given(2, "running")),
        stream(given(3, "succeeded")),
    ]
    pair = connected({f"GET {PATH}": lambda _: responses.pop(0)})
    numbers = [event.number for event in iterated(follow(pair.client.http, PATH))]
    assert numbers == [1, 2, 3]
    requested = pair.service.requested
    assert [request.headers["Last-Event-ID"] for request in requested] == ["0", "1", "1", "1", "2"]
    assert {request.headers["Accept"] for request in requested} == {"text/event-stream"}
    assert waited == [*PAUSES[:3], PAUSES[0]]


def test_it_ends_where_the_job_has_ended_and_all_was_seen(connected: Connected) -> None:
    pair = connected({f"GET {PATH}": lambda _: httpx.Response(204)})
    assert list(pair.client.trainings.follow("j1", after=7)) == []
    assert pair.service.requested[0].headers["Last-Event-ID"] == "7"


def test_it_gives_up_when_nothing_comes_any_more(connected: Connected, waited: list[float]) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        if len(pair.service.requested) == 1:
            return breaking(given(1, "queued"))
        raise httpx.ConnectError("connection refused")

    pair = connected({f"GET {PATH}": refuse})
    with pytest.raises(ClientError) as error:
        list(iterated(follow(pair.client.http, PATH)))
    assert error.value.problem.type == NOT_REACHABLE
    assert waited == list(PAUSES)


def test_streams_that_end_at_once_are_not_requested_for_ever(connected: Connected, waited: list[float]) -> None:
    pair = connected({f"GET {PATH}": lambda _: stream()})
    with pytest.raises(ClientError):
        list(iterated(follow(pair.client.http, PATH)))
    assert waited == list(PAUSES)


@pytest.mark.parametrize("status", [404, 401, 503])
def test_what_is_refused_at_first_is_stated_at_once(connected: Connected, waited: list[float], status: int) -> None:
    problem = {"title": "No", "detail": "No such thing.", "status": status}
    pair = connected({f"GET {PATH}": lambda _: httpx.Response(status, json=problem)})
    with pytest.raises(ClientError, match="No such thing"):
        list(iterated(follow(pair.client.http, PATH)))
    assert waited == []


def test_what_is_no_event_is_not_understood(connected: Connected, waited: list[float]) -> None:
    pair = connected({f"GET {PATH}": lambda _: stream(b"data: {}\n\n")})
    with pytest.raises(ClientError, match="got another message"):
        list(iterated(follow(pair.client.http, PATH)))
    assert waited == []


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
