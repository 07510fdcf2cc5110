"""Models that record all predictions, over a database of either kind."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from app.exports.formats import RENDERINGS
from app.http.openapi import Json
from app.main import make_application
from relevance_bayes.documents.reports import ExportedSupervised
from tests.applications import LIMITS, NOW, StoredParts
from tests.small_models import small_version, version_of_known_noise, version_of_numbers, version_of_three_classes

JSON = {"Content-Type": "application/json"}
VERSIONS = {
    "small": small_version(),
    "numbers": version_of_numbers(),
    "classes": small_version("classification", name="classes"),
    "states": version_of_three_classes(),
    "measured": version_of_known_noise(),
}


class Service:
    """The API over a database, whose recorder stores rows when a test requests it."""

    def __init__(self, client: TestClient, parts: StoredParts) -> None:
        self.client = client
        self.parts = parts

    def predict(
        self, model: str, rows: Sequence[Mapping[str, Json]], row_ids: Sequence[str], **options: Json
    ) -> list[dict[str, float]]:
        body = {"rows": [*rows], "row_ids": [*row_ids], **options}
        response = self.client.post(f"/v1/models/{model}/predict", json=body)
        assert response.status_code == 200, response.text
        self.parts.recorder.flush()
        predictions: list[dict[str, float]] = response.json()["predictions"]
        return predictions

    def send(self, model: str, outcomes: Mapping[str, Json]) -> dict[str, object]:
        body = {"row_ids": [*outcomes], "outcomes": [*outcomes.values()]}
        response = self.client.post(f"/v1/models/{model}/outcomes", json=body)
        assert response.status_code == 200, response.text
        received: dict[str, object] = response.json()
        return received

    def items(self, path: str) -> list[dict[str, object]]:
        response = self.client.get(path)
        assert response.status_code == 200, response.text
        items: list[dict[str, object]] = response.json()["items"]
        return items


@pytest.fixture
def service(live_parts: StoredParts) -> Iterator[Service]:
    limits = replace(LIMITS, max_body_bytes=10**7, max_prediction_rows=20_000)
    with TestClient(
        make_application(live_parts, limits), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        for name, version in VERSIONS.items():
            content = RENDERINGS["json"].render(ExportedSupervised(name, 1, NOW, version.report, version.predictor))
            added = client.post(f"/v1/models/{name}/versions", content=content, headers=JSON)
            assert added.status_code == 201, added.text
            recorded = client.patch(f"/v1/models/{name}", json={"record": 1})
            assert recorded.json()["record"] == 1.0
        yield Service(client, live_parts)
    live_parts.recorder.close()
