"""Rows are monitored whatever the protocol and the format they come in, and those of refused requests are not."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER
from app.main import make_application
from app.prediction.drift import ROWS, DriftMonitors
from app.prediction.served_versions import ServedVersions
from tests.applications import LIMITS, SmallParts
from tests.prediction.drifting import baseline_in, with_baseline
from tests.small_models import small_version

CSV = "x,colour\n0.5,red\n1.5,blue\n"
LINES = '{"x": 0.5, "colour": "red"}\n{"x": 1.5, "colour": "blue"}\n'
COLUMNS = {"x": [0.5, 1.5], "colour": ["red", "blue"]}
TENSORS = {
    "inputs": [
        {"name": "x", "shape": [2], "datatype": "FP64", "data": COLUMNS["x"]},
        {"name": "colour", "shape": [2], "datatype": "BYTES", "data": COLUMNS["colour"]},
    ]
}
PREDICT, INFER = "/v1/models/kept/predict", "/v2/models/kept/infer"


@pytest.fixture
def monitors(parts: SmallParts) -> Iterator[DriftMonitors]:
    """Monitors of the versions that the parts predict with, among them `kept`, which has histograms."""
    made = small_version(name="kept")
    report = replace(made.report, baseline=baseline_in(with_baseline()))
    parts.stored.put_version(BUILT_IN_OWNER, replace(made, report=report), number=1)
    monitors = DriftMonitors()
    parts.prediction = ServedVersions(parts.transaction, 10**6, monitors=monitors)
    yield monitors
    parts.prediction.close()


def monitored(monitors: DriftMonitors) -> float:
    return sum(one.numbers[0] for one in monitors.samples(BUILT_IN_OWNER) if one.family is ROWS)


def test_rows_count_in_every_format_and_protocol(parts: SmallParts, monitors: DriftMonitors) -> None:
    with TestClient(make_application(parts, LIMITS), base_url="http://localhost") as client:
        csv, lines = {"Content-Type": "text/csv"}, {"Content-Type": "application/x-ndjson"}
        responses = [
            client.post(PREDICT, json={"columns": COLUMNS}),
            client.post("/v1/models/kept/versions/1/predict", json={"columns": COLUMNS}),
            client.post(PREDICT, content=CSV, headers=csv),
            client.post(PREDICT, content=LINES, headers={**lines, "Accept": "application/x-ndjson"}),
            client.post(INFER, json=TENSORS),
        ]
        assert [response.status_code for response in responses] == [200] * 5, [one.text for one in responses]
        assert monitored(monitors) == 10


def test_rows_of_a_refused_request_do_not_count_and_faulty_rows_of_others_do(
    parts: SmallParts, monitors: DriftMonitors
) -> None:
    unknown = {"columns": {**COLUMNS, "colour": ["red", "green"]}, "unknown_categories": "error"}
    with TestClient(make_application(parts, LIMITS), base_url="http://localhost") as client:
        assert client.post(PREDICT, json=unknown).status_code == 422
        assert monitored(monitors) == 0
        assert client.post(PREDICT, json={**unknown, "on_error": "per_row"}).status_code == 200
        assert monitored(monitors) == 2
