"""The histograms of a version's training data over HTTP."""

from dataclasses import replace

from pydantic import TypeAdapter
from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER
from relevance_bayes.records.json import validate
from relevance_bayes.records.reports import Baseline
from tests.applications import SmallParts
from tests.narrowing import of_kind
from tests.prediction.drifting import baseline_in, with_baseline
from tests.small_models import small_version


def test_a_version_returns_its_histograms_which_a_cache_may_revalidate(client: TestClient, parts: SmallParts) -> None:
    baseline = baseline_in(with_baseline())
    made = small_version(name="kept")
    parts.stored.put_version(BUILT_IN_OWNER, replace(made, report=replace(made.report, baseline=baseline)), number=1)
    response = client.get("/v1/models/kept/versions/1/baseline")
    assert response.status_code == 200
    assert of_kind(Baseline, validate(TypeAdapter(Baseline), response.json())) == baseline
    assert response.json()["inputs"][1]["categories"][0].keys() == {"label", "count"}
    tag = {"If-None-Match": response.headers["ETag"]}
    assert client.get("/v1/models/kept/versions/1/baseline", headers=tag).status_code == 304
    assert "baseline" not in client.get("/v1/models/kept/versions/1").json()


def test_a_version_without_histograms_has_no_such_resource(client: TestClient) -> None:
    response = client.get("/v1/models/small/versions/1/baseline")
    assert response.status_code == 404
    assert response.json()["detail"] == "Version 1 of model 'small' has no histograms of its training data."
    assert client.get("/v1/models/nothing/versions/1/baseline").status_code == 404
