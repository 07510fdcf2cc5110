"""The documentation: complete, true to the service, and without the internet."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from httpx2 import Response
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from app.http import openapi as guide
from app.http.bodies import checked
from app.http.openapi import CREDENTIALS, Json, recorded
from app.main import SCHEMAS, make_application
from app.prediction.schemas import PREDICT_IN
from app.registry.trainings import TRAINING
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.json import validate
from tests.applications import LIMITS, SmallParts
from tests.doubles.authenticator import OneKey
from tests.problems import assert_problem

Object = dict[str, Json]


@pytest.fixture
def schema(openapi: Response) -> Object:
    document: Object = openapi.json()
    return document


def operations(schema: Object) -> Iterator[tuple[str, Object]]:
    paths = schema["paths"]
    assert isinstance(paths, dict)
    for path, methods in paths.items():
        assert isinstance(methods, dict)
        for method, operation in methods.items():
            assert isinstance(operation, dict)
            yield f"{method.upper()} {path}", operation


def test_the_page_names_every_list_by_age_with_its_filters(schema: Object) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "api.md").read_text()
    given = {
        path: set(re.findall(r"`(\w+)`", filters))
        for path, filters in re.findall(r"^\| `(/.*?)` \|(.*)\|$", page, re.M)
    }
    accepted: dict[str, set[str]] = {}
    for operation, document in operations(schema):
        parameters = document.get("parameters", [])
        assert isinstance(parameters, list)
        names = {str(one["name"]) for one in parameters if isinstance(one, dict) and one.get("in") == "query"}
        if "order" in names:
            accepted[operation.removeprefix("GET ")] = names - {"order", "limit", "after"}
    assert given == accepted


def test_nothing_refers_to_what_is_not_there(schema: Object) -> None:
    assert schema["openapi"] == "3.1.0"
    text = json.dumps(schema)
    components = schema["components"]
    assert isinstance(components, dict)
    schemas = components["schemas"]
    assert isinstance(schemas, dict)
    assert set(re.findall(r'"#/components/schemas/([^"]+)"', text)) <= set(schemas)


def test_no_two_schemas_have_one_title_and_no_default_is_an_object(schema: Object) -> None:
    components = schema["components"]
    assert isinstance(components, dict)
    schemas = components["schemas"]
    assert isinstance(schemas, dict)
    titles = [str(one.get("title", name)) for name, one in schemas.items() if isinstance(one, dict)]
    assert len({title.lower() for title in titles}) == len(schemas) > 300
    assert [title for title in titles if not title.isidentifier()] == []
    assert {"Gaussian", "GaussianInput", "PageAlias", "DiagnosticsLevelCoverage"} <= set(titles)
    assert re.findall(r'"default": \{"type"', json.dumps(schemas)) == []
    assert json.dumps(schemas["SupervisedRequest-Input"]).count('"x-default": {"type": "random"}') == 1


def test_every_operation_states_what_it_is_and_what_its_problems_look_like(schema: Object) -> None:
    for name, operation in operations(schema):
        assert operation["summary"], name
        assert operation["description"], name
        responses = operation["responses"]
        assert isinstance(responses, dict)
        if name.partition(" ")[2].startswith("/v1"):
            assert "application/problem+json" in json.dumps(responses["default"]), name
        assert "HTTPValidationError" not in json.dumps(responses), name


def test_a_stream_of_events_is_documented_beside_its_pages(schema: Object) -> None:
    operation = dict(operations(schema))["GET /v1/training-jobs/{job_id}/events"]
    text = json.dumps(operation["responses"])
    assert '"text/event-stream"' in text
    assert '"application/json"' in text
    assert '"204"' in text
    assert '"Last-Event-ID"' in json.dumps(operation["parameters"])


def test_every_operation_has_an_example_and_every_example_an_operation(schema: Object) -> None:
    assert {str(exchange["operation"]) for exchange in recorded()} == {name for name, _ in operations(schema)}
    for name, operation in operations(schema):
        if body := operation.get("requestBody"):
            assert '"examples"' in json.dumps(body), name


def test_examples_of_one_operation_have_different_names() -> None:
    names = [(exchange["operation"], exchange["summary"]) for exchange in recorded()]
    assert len(set(names)) == len(names)


def test_the_documented_requests_fit_the_documented_schemas() -> None:
    seen = 0
    for exchange in recorded():
        if isinstance(exchange["status"], int) and exchange["status"] < 400 and isinstance(exchange["request"], dict):
            if exchange["operation"] == "POST /v1/training-jobs":
                checked(TRAINING.request.adapter, exchange["request"])
                seen += 1
            if str(exchange["operation"]).endswith("/predict"):
                checked(PREDICT_IN, exchange["request"])
                seen += 1
    assert seen > 5


@pytest.mark.parametrize("page", ["/docs", "/redoc"])
def test_the_pages_come_from_here_alone(client: TestClient, page: str) -> None:
    html = client.get(page).text
    assert "http:" not in html
    assert "https:" not in html
    assets = re.findall(r'(?:src|href)="(/[^"]+)"', html)
    assert any(asset.endswith(".js") for asset in assets)
    for asset in assets:
        response = client.get(asset)
        assert (response.status_code, len(response.content) > 100) == (200, True)


def test_a_key_is_documented_where_one_is_needed(parts: SmallParts) -> None:
    locked = (
        TestClient(make_application(parts, LIMITS, authenticator=OneKey("key")), base_url="http://localhost")
        .get("/openapi.json")
        .json()
    )
    scheme = locked["components"]["securitySchemes"]["key"]
    assert scheme == {"type": "http", "scheme": "bearer", "description": CREDENTIALS}
    cookie = locked["components"]["securitySchemes"]["session"]
    assert (cookie["type"], cookie["in"], cookie["name"]) == ("apiKey", "cookie", "__Host-relevance-session")
    for name, operation in operations(locked):
        scopes = operation.get("security")
        if "/health/" in name or name == "GET /":
            assert scopes is None
        else:
            assert isinstance(scopes, list)
            assert {"key": ["admin"]} in scopes
            assert ({"session": ["admin"]} in scopes) == (name != "POST /v1/session")
            assert {} not in scopes


def test_the_document_is_revalidated_by_its_tag(client: TestClient) -> None:
    tag = client.get("/openapi.json").headers["ETag"]
    assert client.get("/openapi.json", headers={"If-None-Match": tag}).status_code == 304


def test_behind_a_proxy_the_document_names_its_path(parts: SmallParts) -> None:
    app = make_application(parts, LIMITS)
    below = TestClient(app, root_path="/models", base_url="http://localhost").get("/models/openapi.json").json()
    assert below["servers"] == [{"url": "/models"}]
    assert "servers" not in TestClient(app, base_url="http://localhost").get("/openapi.json").json()


def test_the_document_is_not_built_on_the_event_loop(parts: SmallParts, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_application(parts, LIMITS)
    build, loops = app.openapi, list[bool]()

    def built() -> Object:
        try:
            loops.append(asyncio.get_running_loop() is not None)
        except RuntimeError:
            loops.append(False)
        found: Object = build()
        return found

    monkeypatch.setattr(app, "openapi", built)
    assert TestClient(app, base_url="http://localhost").get("/openapi.json").is_success
    assert loops == [False]


def nested(schema: object) -> Iterator[dict[str, object]]:
    """The objects in a schema of pydantic's core."""
    match schema:
        case dict():
            yield schema
            for inner in schema.values():
                yield from nested(inner)
        case list() | tuple():
            for inner in schema:
                yield from nested(inner)


@pytest.mark.parametrize("name", ["TrainingRequest", "EvaluationRequest", "PromotionOptions"])
def test_no_record_of_a_request_takes_unknown_members(name: str) -> None:
    adapter = SCHEMAS[name]
    assert isinstance(adapter, TypeAdapter)
    records = [one for one in nested(adapter.core_schema) if one.get("type") == "dataclass"]
    assert records
    for record in records:
        config = record.get("config")
        assert isinstance(config, dict), record["cls"]
        assert config.get("extra_fields_behavior") == "forbid", record["cls"]


@pytest.mark.parametrize("task", [[], {}, 3, "clustering"])
def test_an_unknown_task_is_refused_at_its_place(task: object) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        validate(TRAINING.request.adapter, {"dataset_id": str(UUID(int=0)), "target": "y", "task": task})
    assert [fault.pointer for fault in caught.value.faults] == ["/task"]


PAGE = "<html><script>var theme = 1;</script><form></form></html>"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "guide"
    (folder / "how-to").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "how-to" / "deploy.html").write_text(PAGE)
    (folder / "searchtools.js").write_text("var search = 1;")
    (tmp_path / "secret.txt").write_text("not of the site")
    monkeypatch.setattr(guide, "PLACES", (tmp_path / "nowhere", folder))
    return folder


def test_the_guide_opens_at_its_first_page(client: TestClient, site: Path) -> None:
    response = client.get("/guide")
    assert (str(response.url.path), response.text) == ("/guide/", PAGE)
    assert client.get("/guide/how-to/deploy.html").text == PAGE


def test_a_page_runs_its_own_scripts_alone(client: TestClient, site: Path) -> None:
    response = client.get("/guide/")
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'self' 'sha256-" in policy
    assert "default-src 'none'" in policy
    assert "form-action 'self'" in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    script = client.get("/guide/searchtools.js")
    assert script.headers["Content-Type"].startswith("text/javascript")


@pytest.mark.parametrize("name", ["no.html", "how-to", "../secret.txt", "%2e%2e/secret.txt", "/etc/passwd"])
def test_what_is_no_file_of_the_site_is_not_there(client: TestClient, site: Path, name: str) -> None:
    response = client.get(f"/guide/{name}")
    assert response.status_code == 404
    assert "not of the site" not in response.text


def test_without_a_site_the_response_states_how_to_build_it(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guide, "PLACES", ())
    missing = "The guide is not installed here: `make docs` builds it from a checkout."
    assert_problem(client.get("/guide/"), "not-found", missing)
