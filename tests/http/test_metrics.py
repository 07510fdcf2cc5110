"""The metrics over HTTP: what counts where, bounded labels, and who may read them."""

from collections.abc import Iterator
from threading import Event, Thread

import pytest
from starlette.testclient import TestClient

from app.accounts.authenticator import KeyAuthenticator
from app.database.engine import Reachability
from app.errors import UnavailableError
from app.http.metrics import CACHE_SECONDS, MAX_RUNNING, DatabaseMetrics, Metrics, TimedCalls
from app.http.paths import TEMPLATE
from app.http.telemetry import DURATIONS, METHODS, REQUESTS, STATUSES, RequestMetrics
from app.jobs.metrics import job_metrics
from app.main import make_application
from app.metrics import MetricSample, Numbers, OwnNumbers
from app.prediction.drift import ROWS as MONITORED
from relevance_bayes.records.accounts import KEY_SCOPES
from tests.applications import LIMITS, SUBMIT, SmallParts
from tests.expositions import Scrape, scrape
from tests.keys import share


def test_what_a_call_returns_or_raises_comes_back() -> None:
    calls = TimedCalls()
    assert calls.call(lambda: 3, seconds=5.0) == 3
    with pytest.raises(ZeroDivisionError):
        calls.call(lambda: 1 // 0, seconds=5.0)


def test_nobody_waits_longer_and_too_many_that_hang_are_refused() -> None:
    calls, end = TimedCalls(), Event()
    for _ in range(MAX_RUNNING):
        with pytest.raises(UnavailableError, match="did not respond within"):
            calls.call(end.wait, seconds=0.01)
    with pytest.raises(UnavailableError, match="earlier requests"):
        calls.call(end.wait, seconds=0.01)
    end.set()


def test_a_thread_that_cannot_be_started_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = TimedCalls()

    def refuse(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(Thread, "start", refuse)
        for _ in range(MAX_RUNNING + 1):
            with pytest.raises(UnavailableError, match="can't start more threads"):
                calls.call(lambda: 3, seconds=5.0)
    assert calls.call(lambda: 3, seconds=5.0) == 3


ROWS = {"rows": [{"x": 0.5, "colour": "red"}, {"x": 1.5, "colour": "red"}]}


def scraped(client: TestClient) -> Scrape:
    response = client.get("/metrics")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert response.headers["Cache-Control"] == "no-store"
    return scrape(response.text)


def requests(found: Scrape, route: str, status: str, method: str = "GET") -> float:
    return found.total(REQUESTS.name, method=method, route=route, status=status)


def test_requests_count_by_method_template_and_class_of_status(client: TestClient) -> None:
    for path in ("/v1/models/small", "/v1/models/classes", "/v1/models/nothing"):
        client.get(path)
    client.head("/v1/models/small")
    client.delete("/v1/models")
    found = scraped(client)
    assert (requests(found, "/v1/models/{name}", "2xx"), requests(found, "/v1/models/{name}", "4xx")) == (2, 1)
    assert requests(found, "/v1/models/{name}", "2xx", "HEAD") == 1
    assert requests(found, "/v1/models", "4xx", "DELETE") == 1
    assert found.total(f"{DURATIONS.name}_count", route="/v1/models/{name}") == 4
    assert 0 < found.total(f"{DURATIONS.name}_sum", route="/v1/models/{name}") < 60
    assert requests(scraped(client), "/metrics", "2xx") == 1


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/v1/models/small/predict", "/v1/models/{name}/predict"),
        ("/v1/models/small/versions/1/predict", "/v1/models/{name}/versions/{version}/predict"),
    ],
)
def test_a_prediction_counts_by_its_template_too(client: TestClient, path: str, route: str) -> None:
    for rows in (ROWS, ROWS, {"rows": [{"x": "a word"}]}):
        client.post(path, json=rows)
    found = scraped(client)
    assert (requests(found, route, "2xx", "POST"), requests(found, route, "4xx", "POST")) == (2, 1)
    assert found.value("relevance_predictions_total", outcome="succeeded") == 2
    assert found.value("relevance_predictions_total", outcome="failed") == 1
    assert found.value("relevance_predicted_rows_total") == 4


def test_whatever_clients_send_the_labels_stay_the_same_few(client: TestClient) -> None:
    def send(names: str) -> set[str]:
        for name in names:
            for path in (f"/{name}", f"/v1/{name}", f"/v1/models/{name}", f"/v2/models/{name}/infer", f"/guide/{name}"):
                for method in ("GET", "POST", f"WORD{name}"):
                    client.request(method, path)
        return {text for text in scraped(client).values if "http_request" in text}

    send("a")
    assert send("b") == send("cdefgh")
    found = scraped(client)
    assert requests(found, "unmatched", "4xx") == 8 * 2
    assert requests(found, "unmatched", "4xx", "other") > 0


def test_there_is_memory_for_every_method_of_every_route(client: TestClient) -> None:
    numbers = Numbers()
    metrics = RequestMetrics(numbers)
    templates = [*client.get("/openapi.json").json()["paths"], "unmatched"]
    for template in templates:
        for method in (*METHODS, "WORD"):
            metrics.count({"method": method, TEMPLATE: template}, 200, 0)
    counted = [one for one in numbers.samples() if one.family.name == REQUESTS.name]
    assert len(counted) == len(templates) * (len(METHODS) + 1) * len(STATUSES) > 2_000
    filled = [one.numbers for one in counted if one.labels[-1] == "2xx"]
    assert set(filled) == {(1,)}


def test_the_cache_of_versions_is_counted(client: TestClient) -> None:
    for _ in range(3):
        client.post("/v1/models/small/predict", json=ROWS)
    found = scraped(client)
    assert found.value("relevance_version_cache_misses_total") == 1
    assert found.value("relevance_version_cache_hits_total") == 2
    assert found.value("relevance_version_cache_versions") == 1
    assert 0 < (found.value("relevance_version_cache_bytes") or 0) < 10**6
    assert found.value("relevance_version_cache_max_bytes") == 10**6


def test_jobs_that_wait_are_counted_by_kind_and_queue(client: TestClient) -> None:
    assert client.post("/v1/training-jobs", json=SUBMIT).status_code == 202
    found = scraped(client)
    assert found.value("relevance_jobs", kind="training", state="queued") == 1
    assert found.value("relevance_queue_jobs", queue="training") == 1
    assert (found.value("relevance_queue_oldest_job_age_seconds", queue="training") or 0) > 0
    assert found.value("relevance_queue_jobs", queue="scoring") == 0
    assert found.total("relevance_workers") == 0


def test_without_the_database_its_metrics_are_left_out(client: TestClient, parts: SmallParts) -> None:
    parts.stored.reachable = False
    found = scraped(client)
    assert found.value("relevance_database_up") == 0
    assert found.total("relevance_api_processes") == 1
    assert not {family.name for family in found.families} & {
        "relevance_jobs",
        "relevance_workers",
        "relevance_queue_jobs",
    }


def test_the_database_is_queried_at_most_once_a_second_and_not_while_it_is_away(parts: SmallParts) -> None:
    time, reachability = [0.0], Reachability()
    metrics = DatabaseMetrics(parts.transaction, (job_metrics(7.0),), reachability=reachability, now=lambda: time[0])
    opened = parts.stored.opened
    for _ in range(10):
        assert len(metrics.samples()) > 10
    assert parts.stored.opened == opened + 1
    time[0] += CACHE_SECONDS
    metrics.samples()
    assert parts.stored.opened == opened + 2
    time[0] += CACHE_SECONDS
    reachability.lost()
    assert [one.numbers for one in metrics.samples()] == [(0,)]
    assert parts.stored.opened == opened + 2


def test_metrics_need_a_key_that_may_read_where_requests_need_keys(parts: SmallParts) -> None:
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    secrets = {scope: parts.keys.create("local", "of a test", scopes=(scope,))[1] for scope in KEY_SCOPES}
    with TestClient(
        make_application(parts, LIMITS, authenticator=authenticator), base_url="http://localhost"
    ) as client:
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 401
        for scope, secret in secrets.items():
            response = client.get("/metrics", headers={"Authorization": f"Bearer {secret}"})
            assert response.status_code == (200 if scope in {"read", "admin"} else 403), scope
            assert "acme" not in response.text


def test_the_metrics_of_models_are_those_of_the_owner_of_the_key(parts: SmallParts) -> None:
    def of_owner(owner: str | None) -> Iterator[MetricSample]:
        yield MetricSample(MONITORED, (str(owner), f"model-of-{owner}", "1"), (7,))

    parts.metrics = Metrics(OwnNumbers(), DatabaseMetrics(parts.transaction, ()), of_owner)
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    secrets = {owner: parts.keys.create(owner, "of a test", scopes=("read",))[1] for owner in ("acme", "other")}
    with TestClient(
        make_application(parts, LIMITS, authenticator=authenticator), base_url="http://localhost"
    ) as client:
        for owner, secret in secrets.items():
            text = client.get("/metrics", headers={"Authorization": f"Bearer {secret}"}).text
            assert scrape(text).value(MONITORED.name, owner=owner, model=f"model-of-{owner}", version="1") == 7
            assert text.count("model-of-") == 1


def test_metrics_of_all_owners_are_shown_in_the_project_of_the_operator_alone(parts: SmallParts) -> None:
    headers = {"Authorization": f"Bearer {parts.keys.create('acme', 'of a test', scopes=('admin',))[1]}"}
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    share(parts.members, "local", "acme", "viewer")
    with TestClient(
        make_application(parts, LIMITS, authenticator=authenticator), base_url="http://localhost"
    ) as client:
        client.get("/v1/models", headers=headers)
        own = client.get("/metrics", headers=headers).text
        shared = client.get("/metrics", headers=headers | {"Relevance-Project": "local"}).text
    assert (REQUESTS.name in own, REQUESTS.name in shared) == (False, True)


def test_openapi_leaves_metrics_out(client: TestClient) -> None:
    assert "/metrics" not in client.get("/openapi.json").json()["paths"]
