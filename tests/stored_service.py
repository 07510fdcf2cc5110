"""A database with what a service stores, and what the service responds from it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from starlette.testclient import TestClient

from app.identity import BUILT_IN_OWNER
from app.main import create_app
from app.services import build
from app.settings import Settings
from tests.applications import DATASET, SUBMIT, TABLE, closing_engine
from tests.small_approximation import version_of_a_term
from tests.small_components import version_of_components
from tests.small_database import SmallDatabase
from tests.small_image import version_of_an_image
from tests.small_models import small_version, version_of_known_noise, version_of_numbers, version_of_three_classes

VERSIONS = (
    small_version(),
    small_version("classification", name="classes"),
    version_of_three_classes(),
    version_of_known_noise(),
    version_of_numbers(),
    version_of_a_term(),
    version_of_components(),
    version_of_an_image(),
)
"""Versions of every task."""

LISTS = (
    *("models", "datasets", "training-jobs", "webhooks", "keys", "models/small/aliases", "models/small/versions"),
    f"datasets/{DATASET.id}",
    "audit",
)


def fill(url: str) -> str:
    """Store a dataset, versions of every task, an alias, tags, a webhook, a job that is queued, and an API key.

    The result is the key.
    """
    with closing_engine(url) as engine:
        stored = SmallDatabase(engine)
        stored.put_dataset(replace(DATASET, owner=BUILT_IN_OWNER), TABLE)
        for version in VERSIONS:
            stored.put_version(BUILT_IN_OWNER, version, number=1)
    parts = build(Settings(database_url=url))
    _, key = parts.keys.create(BUILT_IN_OWNER, "operator", scopes=("admin",), expires_at=None)
    parts.close()
    with client_of(url, key) as client:
        for response in (
            client.put("/v1/models/small/aliases/champion", json={"version": 1, "reason": "größer"}),
            client.patch("/v1/models/small", json={"tags": {"team": "ice"}}),
            client.post("/v1/webhooks", json={"url": "https://hooks.example/relevance"}),
            client.post("/v1/training-jobs", json=SUBMIT, headers={"Idempotency-Key": "one"}),
        ):
            assert response.is_success, response.text
    return key


@contextmanager
def client_of(url: str, key: str) -> Iterator[TestClient]:
    """A client of the service over a database."""
    with TestClient(create_app(Settings(database_url=url, log_requests=False)), base_url="http://localhost") as client:
        client.headers["Authorization"] = f"Bearer {key}"
        yield client


def responses(url: str, key: str) -> dict[str, bytes]:
    """The bodies of lists, exported versions, and predictions by each version."""
    found: dict[str, bytes] = {}
    with client_of(url, key) as client:
        for path in LISTS:
            found[path] = body(client, f"/v1/{path}")
        for version in client.get("/v1/models").json()["items"]:
            path = f"/v1/models/{version['name']}/versions/1"
            content = "image?format=npy" if version["task"] == "image" else "export?format=npz"
            found[f"{path}/{content}"] = body(client, f"{path}/{content}")
            row = {name: "red" if name == "colour" else 0.75 for name in version["inputs"]}
            predicted = client.post(f"{path}/predict", json={"rows": [row]})
            assert predicted.status_code == 200, predicted.text
            found[path] = predicted.content
    return found


def body(client: TestClient, path: str) -> bytes:
    response = client.get(path, headers={"Accept": "*/*"})
    assert response.status_code == 200, response.text
    return response.content
