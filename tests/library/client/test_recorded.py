"""The client reads what services of this release and of later ones respond."""

import asyncio
import inspect
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path

import httpx
import pytest

from relevance_bayes.client import AsyncClient, Client, ClientError
from relevance_bayes.client.http import Http
from relevance_bayes.client.registry import AnnotationChange
from relevance_bayes.client.responses import Job, Json, VersionBase

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "app" / "http" / "examples.json"

MAPS = frozenset({"tags", "aliases", "metrics", "inputs"})
"""Members whose own members are not the API's: a later release adds none."""

TABLE: Mapping[str, Json] = {"columns": {"x": [1.0]}}
CHANGE = AnnotationChange(description="changed")


@dataclass(frozen=True)
class Exchange:
    """A recorded response; `response` is JSON."""

    operation: str
    status: int
    response: object


Call = Callable[[Client], object]

CALLS: Mapping[str, Call] = {
    "GET /v1/datasets": lambda client: client.datasets(),
    "GET /v1/datasets/{dataset_id}": lambda client: client.dataset("d"),
    "POST /v1/datasets": lambda client: client.create_dataset({"x": [1]}, name="n"),
    "DELETE /v1/datasets/{dataset_id}": lambda client: client.delete_dataset("d"),
    "GET /v1/training-jobs": lambda client: client.trainings.all(),
    "GET /v1/training-jobs/{job_id}": lambda client: client.trainings.get("j", of=Job),
    "GET /v1/training-jobs/{job_id}/events": lambda client: client.trainings.events("j"),
    "POST /v1/training-jobs": lambda client: client.trainings.submit({}, of=Job),
    "POST /v1/training-jobs/{job_id}/cancel": lambda client: client.trainings.cancel("j"),
    "POST /v1/training-jobs/{job_id}/retry": lambda client: client.trainings.retry("j"),
    "GET /v1/jobs": lambda client: client.jobs.page(),
    "GET /v1/models": lambda client: client.models(),
    "GET /v1/models/{name}": lambda client: client.model("m"),
    "PATCH /v1/models/{name}": lambda client: client.registry.annotate("m", CHANGE),
    "DELETE /v1/models/{name}": lambda client: client.delete_model("m"),
    "GET /v1/models/{name}/versions": lambda client: client.versions("m"),
    "GET /v1/models/{name}/versions/{version}": lambda client: client.version("m", 1, of=VersionBase),
    "PATCH /v1/models/{name}/versions/{version}": lambda client: client.registry.annotate_version("m@1", CHANGE),
    "DELETE /v1/models/{name}/versions/{version}": lambda client: client.delete_version("m", 1),
    "GET /v1/models/{name}/versions/{version}/relevance-vectors": lambda client: client.relevance_vectors("m", 1),
    "GET /v1/models/{name}/versions/{version}/statistics": lambda client: client.registry.statistics("m", 1),
    "GET /v1/models/{name}/versions/{version}/lineage": lambda client: client.registry.lineage("m", 1),
    "GET /v1/models/{name}/versions/{version}/baseline": lambda client: client.registry.baseline("m", 1),
    "GET /v1/models/{name}/versions/{version}/evaluations": lambda client: client.evaluations.of("m", 1),
    "POST /v1/models/{name}/versions/{version}/compare": lambda client: client.registry.compare("m@1", "m@2", TABLE),
    "POST /v1/models/{name}/versions/{version}/profile": lambda client: client.registry.profile("m@1", ["x"], TABLE),
    "POST /v1/models/{name}/predict": lambda client: client.predict("m", TABLE),
    "POST /v1/models/{name}/versions/{version}/predict": lambda client: client.predict("m@1", TABLE),
    "GET /v1/models/{name}/aliases": lambda client: client.aliases.all("m"),
    "GET /v1/models/{name}/aliases/{alias}": lambda client: client.aliases.get("m", "a"),
    "GET /v1/models/{name}/aliases/{alias}/history": lambda client: client.aliases.history("m", "a"),
    "PUT /v1/models/{name}/aliases/{alias}": lambda client: client.aliases.move("m", "a", 1),
    "DELETE /v1/models/{name}/aliases/{alias}": lambda client: client.aliases.delete("m", "a"),
    "GET /v1/models/{name}/outcomes": lambda client: client.outcomes.over_time("m"),
    "POST /v1/models/{name}/outcomes": lambda client: client.outcomes.send("m", {"r": 1.0}),
    "GET /v1/models/{name}/alarms": lambda client: client.outcomes.alarms("m"),
    "GET /v1/evaluations": lambda client: client.evaluations.all(),
    "GET /v1/evaluations/{job_id}": lambda client: client.evaluations.get("j"),
    "GET /v1/evaluations/{job_id}/events": lambda client: client.evaluations.events("j"),
    "POST /v1/evaluations": lambda client: client.evaluations.submit("m", "d"),
    "POST /v1/evaluations/{job_id}/retry": lambda client: client.evaluations.retry("j"),
    "GET /v1/promotions": lambda client: client.promotions.all(),
    "GET /v1/promotions/{job_id}": lambda client: client.promotions.get("j"),
    "GET /v1/promotions/{job_id}/events": lambda client: client.promotions.events("j"),
    "POST /v1/models/{name}/aliases/{alias}/promotions": lambda client: client.promotions.submit("m", "a", 1, "d"),
    "GET /v1/batch-predictions": lambda client: client.batch_predictions.all(),
    "GET /v1/batch-predictions/{job_id}": lambda client: client.batch_predictions.get("j"),
    "GET /v1/batch-predictions/{job_id}/events": lambda client: client.batch_predictions.events("j"),
    "POST /v1/batch-predictions": lambda client: client.batch_predictions.submit("m", "d"),
    "POST /v1/batch-predictions/{job_id}/retry": lambda client: client.batch_predictions.retry("j"),
    "DELETE /v1/batch-predictions/{job_id}": lambda client: client.batch_predictions.delete("j"),
    "GET /v1/webhooks": lambda client: client.webhooks.all(),
    "GET /v1/webhooks/{webhook_id}": lambda client: client.webhooks.get("w"),
    "GET /v1/webhooks/{webhook_id}/deliveries": lambda client: client.webhooks.deliveries("w"),
    "POST /v1/webhooks": lambda client: client.webhooks.create("https://example.com"),
    "POST /v1/webhooks/{webhook_id}/test": lambda client: client.webhooks.test("w"),
    "PATCH /v1/webhooks/{webhook_id}": lambda client: client.webhooks.update("w", enabled=False),
    "DELETE /v1/webhooks/{webhook_id}": lambda client: client.webhooks.delete("w"),
    "GET /v1/members": lambda client: client.members.all(),
    "GET /v1/members/{subject}": lambda client: client.members.get("s"),
    "PUT /v1/members/{subject}": lambda client: client.members.put("s", "viewer"),
    "DELETE /v1/members/{subject}": lambda client: client.members.delete("s"),
    "PUT /v1/projects/{name}": lambda client: client.members.accept("p"),
    "DELETE /v1/projects/{name}": lambda client: client.members.leave("p"),
    "GET /v1/projects": lambda client: client.projects(),
}
"""The call of the client for each operation."""


EXCHANGES = [
    Exchange(one["operation"], one["status"], one["response"])
    for one in json.loads(RECORDED.read_text())
    if one["operation"] in CALLS
]


def with_more(value: object, name: str = "") -> object:
    """A response of a later release: each object has another member."""
    match value:
        case dict() if name in MAPS:
            return value
        case dict():
            return {key: with_more(inner, key) for key, inner in value.items()} | {"added_later": {"a": [None]}}
        case list():
            return [with_more(inner) for inner in value]
        case _:
            return value


def read(exchange: Exchange, response: object) -> object:
    """The records of a response; those of a list as a list."""
    sent = httpx.Response(exchange.status) if exchange.status == 204 else httpx.Response(exchange.status, json=response)
    transport = httpx.MockTransport(lambda _: sent)
    with Client(Http.to("http://service", api_key=None, max_retries=0, transport=transport)) as client:
        found = CALLS[exchange.operation](client)
        return [*one_page(found)] if isinstance(found, Iterator) else found


def one_page(found: Iterator[object]) -> Iterator[object]:
    """The items of the first page: the recorded one has a next page, which is the same."""
    for number, item in enumerate(found):
        if number == 20:
            return
        yield item


def check(exchange: Exchange, response: object) -> object:
    if exchange.status < 400:
        return read(exchange, response)
    with pytest.raises(ClientError) as refused:
        read(exchange, response)
    problem = refused.value.problem
    assert isinstance(exchange.response, dict)
    assert (problem.status, problem.type) == (exchange.status, exchange.response["type"])
    assert problem.detail == exchange.response["detail"]
    return None


def test_the_recordings_have_each_operation_of_the_client() -> None:
    assert {one.operation for one in EXCHANGES} == CALLS.keys()


def test_responses_are_read() -> None:
    assert sum(check(exchange, exchange.response) is not None for exchange in EXCHANGES) > 60


def test_members_that_are_added_later_are_ignored() -> None:
    for exchange in EXCHANGES:
        read_before = check(exchange, exchange.response)
        read_later = check(exchange, with_more(exchange.response))
        assert known(read_later) == known(read_before)


def known(found: object) -> str:
    """A record without what was added: free JSON, such as a kernel, keeps it."""
    return repr(found).replace(", 'added_later': {'a': [None]}", "").replace("{'added_later': {'a': [None]}}", "{}")


def test_members_with_a_default_may_be_left_out() -> None:
    left_out = 0
    for exchange in EXCHANGES:
        found = check(exchange, exchange.response)
        if not (is_dataclass(found) and isinstance(exchange.response, dict)):
            continue
        for field in fields(found):
            if (field.default, field.default_factory) != (MISSING, MISSING) and field.name in exchange.response:
                if field.name == "task":
                    continue  # the discriminator of the union
                fewer = {name: value for name, value in exchange.response.items() if name != field.name}
                assert isinstance(read(exchange, fewer), type(found))
                left_out += 1
    assert left_out > 100


def test_an_unknown_task_and_state_of_a_later_release_are_read_as_far_as_they_are_known() -> None:
    exchange = next(one for one in EXCHANGES if one.operation == "GET /v1/training-jobs/{job_id}")
    assert isinstance(exchange.response, dict)
    found = read(exchange, exchange.response | {"task": "of a later release"})
    assert type(found) is Job


def test_both_clients_read_the_same() -> None:
    def responding(exchange: Exchange) -> httpx.MockTransport:
        async def respond(_: httpx.Request) -> httpx.Response:
            return httpx.Response(exchange.status, json=exchange.response)

        return httpx.MockTransport(respond)

    async def read_async(exchange: Exchange) -> object:
        async with AsyncClient(Http.to_async("http://s", api_key=None, transport=responding(exchange))) as client:
            found = CALLS[exchange.operation](client)  # type: ignore[arg-type]  # the calls have the same names
            if isinstance(found, AsyncGenerator):
                return [item async for item in first_items(found)]
            assert isinstance(found, Coroutine)
            assert inspect.iscoroutine(found)
            return await found

    async def first_items(found: AsyncGenerator[object, None]) -> AsyncGenerator[object, None]:
        number = 0
        async for item in found:
            if number == 20:
                return
            number += 1
            yield item

    once = {one.operation: one for one in EXCHANGES if one.status in {200, 201, 202}}
    assert len(once) > 50
    for exchange in once.values():
        assert repr(asyncio.run(read_async(exchange))) == repr(check(exchange, exchange.response))


def test_every_record_has_a_form_for_notebooks_that_does_not_fail() -> None:
    shown = 0
    for exchange in EXCHANGES:
        found = check(exchange, exchange.response)
        for one in found if isinstance(found, list) else [found]:
            if hasattr(one, "_repr_html_"):
                html = one._repr_html_()
                assert html.startswith("<p><b>")
                shown += 1
    assert shown > 60
