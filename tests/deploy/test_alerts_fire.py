"""Each alert fires and clears in a real Prometheus, whose times are shortened in their order."""

import http.server
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.deploy.prometheus_server import ALERTS, awaited, scraping
from tests.end_to_end.deployment import TIMEOUT

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
NAMES = frozenset(re.findall(r"alert: (\w+)", ALERTS.read_text()))
UNITS = {"m": 60, "h": 3600}

GOOD = """\
relevance_database_up 1
relevance_http_requests_total{status="2xx"} [100]
relevance_http_requests_total{status="5xx"} 0
relevance_http_request_duration_seconds_bucket{route="/v1/models/{name}/predict",le="0.5"} [100]
relevance_http_request_duration_seconds_bucket{route="/v1/models/{name}/predict",le="1"} [100]
relevance_http_request_duration_seconds_bucket{route="/v1/models/{name}/predict",le="+Inf"} [100]
relevance_queue_oldest_job_age_seconds{queue="training"} 10
relevance_workers{state="busy"} 1
relevance_workers{state="idle"} 1
relevance_workers{state="silent"} 0
relevance_jobs_ended_total{kind="training",outcome="failed"} 0
relevance_jobs_ended_total{kind="training",outcome="succeeded"} [1]
process_start_time_seconds 1
relevance_database_connection_waits_total 0
relevance_model_alarms{owner="acme",model="m",statistic="coverage"} 0
process_open_fds 100
process_max_fds 1000
relevance_outside_support_ratio{owner="acme",model="m",version="1"} 0.1
relevance_input_drift_psi{owner="acme",model="m",version="1",input="x"} 0.1
relevance_prediction_drift_psi{owner="acme",model="m",version="1"} 0.1
"""

BAD = """\
relevance_database_up 0
relevance_http_requests_total{status="2xx"} [100]
relevance_http_requests_total{status="5xx"} [100]
relevance_http_request_duration_seconds_bucket{route="/v1/models/{name}/predict",le="0.5"} [50]
relevance_http_request_duration_seconds_bucket{route="/v1/models/{name}/predict",le="1"} [100]
relevance_http_request_duration_seconds_bucket{route="/v1/models/{name}/predict",le="+Inf"} [100]
relevance_queue_oldest_job_age_seconds{queue="training"} 1000
relevance_workers{state="busy"} 0
relevance_workers{state="idle"} 0
relevance_workers{state="silent"} 1
relevance_jobs_ended_total{kind="training",outcome="failed"} [5]
relevance_jobs_ended_total{kind="training",outcome="succeeded"} [1]
process_start_time_seconds [1]
relevance_database_connection_waits_total [5]
relevance_model_alarms{owner="acme",model="m",statistic="coverage"} 1
process_open_fds 950
process_max_fds 1000
relevance_outside_support_ratio{owner="acme",model="m",version="1"} 0.5
relevance_input_drift_psi{owner="acme",model="m",version="1",input="x"} 0.5
relevance_prediction_drift_psi{owner="acme",model="m",version="1"} 0.5
"""


class Exporter(http.server.BaseHTTPRequestHandler):
    """Metrics of a state of the service, in which [n] is a counter that grows by n with each scrape."""

    state, is_down, counts = GOOD, False, dict[str, int]()

    def do_GET(self) -> None:
        """Respond to a scrape."""
        if Exporter.is_down:
            self.send_error(503)
            return
        body = "".join(map(self._line, Exporter.state.splitlines())).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _line(self, line: str) -> str:
        series, _, value = line.rpartition(" ")
        step = int(value[1:-1]) if value.startswith("[") else None
        if step is None:
            return f"{series} {max(float(value), Exporter.counts.get(series, 0))}\n"
        Exporter.counts[series] = Exporter.counts.get(series, 1) + step
        return f"{series} {Exporter.counts[series]}\n"

    def log_message(self, *_: object) -> None:
        """Write no log."""


def seconds_of(text: str) -> int:
    """The seconds of a duration such as 30m."""
    return int(text[:-1]) * UNITS[text[-1]]


def shortened(rules: str) -> str:
    """The rules with each duration replaced by its rank among those of its kind, so that their order is kept."""
    kinds = (r"(?<=for: )\d+[mh]", r"(?<=\[)\d+[mh](?=\])")
    for pattern, shortest in zip(kinds, (1, 4), strict=True):
        found = sorted({*re.findall(pattern, rules)}, key=seconds_of)
        for rank, text in enumerate(found):
            rules = re.sub(pattern.replace(r"\d+[mh]", text), f"{shortest + 2 * rank}s", rules)
    return rules.replace("[1h:1m]", "[30s:1s]")


@contextmanager
def exporting() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Exporter)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def prometheus(tmp_path: Path) -> Iterator[httpx2.Client]:
    rules = tmp_path / "alerts.yml"
    rules.write_text(shortened(ALERTS.read_text()))
    with exporting() as target, scraping(target, tmp_path, rules=rules) as client:
        yield client


def firing(prometheus: httpx2.Client) -> set[str]:
    try:
        response = prometheus.get("/api/v1/alerts")
    except httpx2.TransportError:
        return set()
    if response.status_code != 200:  # it starts
        return set()
    alerts = response.json()["data"]["alerts"]
    return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}


def test_shortened_times_keep_their_order() -> None:
    rules, short = ALERTS.read_text(), shortened(ALERTS.read_text())
    before, after = (re.findall(r"for: (\d+[a-z])", text) for text in (rules, short))
    order = [seconds_of(text) for text in before]
    ranks = [int(text[:-1]) for text in after]
    pairs = list(zip(order, ranks, strict=True))
    assert all((a[0] < b[0]) == (a[1] < b[1]) for a in pairs for b in pairs)
    assert not re.search(r"\d[mh]\b", "".join(re.findall(r"for: .*|\[[^\]]*\]", short)))


def test_each_alert_fires_and_clears(prometheus: httpx2.Client) -> None:
    fired, deadline = set[str](), time.monotonic() + TIMEOUT
    awaited(prometheus, "count_over_time(up[1m]) > 3")
    assert firing(prometheus) == set()
    Exporter.state = BAD
    while fired != NAMES - {"RelevanceDown"}:
        assert time.monotonic() < deadline, NAMES - fired
        fired |= firing(prometheus)
        time.sleep(0.3)
    Exporter.is_down = True
    while "RelevanceDown" not in firing(prometheus):
        assert time.monotonic() < deadline
        time.sleep(0.3)
    Exporter.is_down, Exporter.state = False, GOOD
    deadline = time.monotonic() + TIMEOUT
    while found := firing(prometheus):
        assert time.monotonic() < deadline, found
        time.sleep(0.3)


def test_each_series_of_the_rules_is_one_that_the_service_has() -> None:
    listed = dict(re.findall(r"^\| `(\w+)` \| \w+ \| (.*?) \|", PAGE.read_text(), re.M))
    series = re.findall(r"(max|sum) by \(([^)]*)\) \((relevance_\w+)", ALERTS.read_text())
    assert len(series) > 5
    for _, labels, name in series:
        for label in set(labels.split(", ")) - {"instance"}:
            assert f"`{label}`" in listed[name], (name, label)
