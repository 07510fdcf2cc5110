"""A service with models for clients that others wrote."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from app.domain.exports import ExportedVersion
from app.domain.models import NewSupervisedVersion
from app.exports.formats import RENDERINGS
from app.sparse_bayes.priors import GaussianProcess, Independent
from tests.end_to_end.deployment import deployed
from tests.services.small_models import small_version, version_of_three_classes
from tests.services.test_one_row import version_of_numbers

KEY = "a-key-of-the-tests"


@dataclass(frozen=True)
class Service:
    """Where it is, and the key that it asks for."""

    url: str
    key: str


@pytest.fixture(scope="session")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One of two versions of `numbers`, the first called `champion`, and one of `mixed` columns and `states`."""
    directory = tmp_path_factory.mktemp("foreign")
    shutil.copyfile(sqlite_template, directory / "relevance.db")
    with deployed(f"sqlite:///{directory / 'relevance.db'}", directory) as deployment:
        api = deployment.api(RELEVANCE_API_KEY=KEY, RELEVANCE_MAX_PREDICTION_ROWS="5000")
        api.http.headers["Authorization"] = f"Bearer {KEY}"
        _add(api.http, "numbers", version_of_numbers(Independent()))
        _add(api.http, "numbers", version_of_numbers(GaussianProcess()))
        _add(api.http, "mixed", small_version())
        _add(api.http, "states", version_of_three_classes())
        _put(api.http, "/v1/models/numbers/aliases/champion", {"version": 1})
        yield Service(str(api.http.base_url).rstrip("/"), KEY)


def _add(http: httpx2.Client, name: str, made: NewSupervisedVersion) -> None:
    exported = ExportedVersion(name, 1, datetime(2024, 5, 1, tzinfo=UTC), made.report, made.predictor)
    content = RENDERINGS["json"].render(exported)
    response = http.post(f"/v1/models/{name}/versions", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 201, response.text


def _put(http: httpx2.Client, path: str, body: dict[str, int]) -> None:
    response = http.put(path, json=body)
    assert response.status_code in {200, 201}, response.text
