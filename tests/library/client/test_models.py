"""Versions of a service as estimators."""

import sys
from collections.abc import Callable

import httpx
import numpy as np
import pytest

from relevance_bayes.client import ClientError
from relevance_bayes.client.registry import ModelHandle
from relevance_bayes.estimators import RelevanceClassifier, RelevanceRegressor, SparseKernelPCA
from relevance_bayes.records.json import encode
from tests.library.client.conftest import Connected, Handler
from tests.library.client.test_async_client import MODEL, run

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (40, 2))
Y = np.sin(2 * X[:, 0]) + RNG.normal(0, 0.1, 40)

FITTED: dict[str, Callable[[], RelevanceRegressor | RelevanceClassifier | SparseKernelPCA]] = {
    "regression": lambda: RelevanceRegressor(effort="quick").fit(X, Y),
    "classification": lambda: RelevanceClassifier(effort="quick").fit(X, Y > 0),
    "components": lambda: SparseKernelPCA().fit(X),
}


def service(task: str, document: bytes, vectors: object) -> dict[str, Handler]:
    """The responses for a model `m` with version 2, the newest, and version 1, which has an alias."""
    model = {**MODEL, "task": task, "versions": 2, "latest": 2, "aliases": {"champion": 1}}
    page = {"items": vectors, "has_more": False, "after": None}
    return {"GET /v1/models/m": lambda _: httpx.Response(200, json=model)} | {
        f"GET /v1/models/m/versions/{number}/{path}": respond
        for number in (1, 2)
        for path, respond in {
            "export": lambda _: httpx.Response(200, content=document),
            "relevance-vectors": lambda _: httpx.Response(200, json=page),
        }.items()
    }


def predicted(model: object) -> object:
    if isinstance(model, RelevanceRegressor):
        return model.predict(X)
    if isinstance(model, RelevanceClassifier):
        return model.predict_proba(X)
    assert isinstance(model, SparseKernelPCA)
    return model.transform(X)


@pytest.mark.parametrize("task", FITTED)
def test_a_version_is_pulled_as_the_estimator_of_its_task_with_the_same_bytes(connected: Connected, task: str) -> None:
    model = FITTED[task]()
    pair = connected(service(task, model.document_, encode(model.relevance_vectors_)))
    pulled = pair.client.models["m"].pull()
    assert type(pulled) is type(model)
    assert pulled.document_ == model.document_
    assert pulled.relevance_vectors_ == model.relevance_vectors_
    np.testing.assert_array_equal(predicted(pulled), predicted(model))


def test_an_asynchronous_client_pulls_the_same() -> None:
    model = FITTED["regression"]()
    responses = service("regression", model.document_, encode(model.relevance_vectors_))
    pulled, _ = run(responses, lambda client: client.models["m"].pull(of=RelevanceRegressor))
    assert pulled.document_ == model.document_
    np.testing.assert_array_equal(pulled.predict(X), model.predict(X))


def test_an_alias_is_read_once(connected: Connected) -> None:
    model = FITTED["regression"]()
    responses = service("regression", model.document_, encode(model.relevance_vectors_))
    for pull in (
        lambda client: client.models["m@champion"].pull(),
        lambda client: client.models["m"].pull("champion"),
        lambda client: client.models["m"].pull(1),
        lambda client: RelevanceRegressor.pull(client, "m", "champion"),
    ):
        pair = connected(responses)
        pull(pair.client)
        assert [request.url.path for request in pair.service.requested] == [
            "/v1/models/m",
            "/v1/models/m/versions/1/export",
            "/v1/models/m/versions/1/relevance-vectors",
        ]


def test_a_version_of_another_task_is_refused(connected: Connected) -> None:
    model = FITTED["regression"]()
    responses = service("regression", model.document_, encode(model.relevance_vectors_))
    with pytest.raises(ClientError, match="Expected a RelevanceClassifier, got a RelevanceRegressor"):
        connected(responses).client.models["m"].pull(of=RelevanceClassifier)
    with pytest.raises(ClientError, match="task image, which has no estimator"):
        connected(service("image", b"", [])).client.models["m"].pull()


def test_a_model_without_versions_is_refused(connected: Connected) -> None:
    empty = connected({"GET /v1/models/m": lambda _: httpx.Response(200, json={**MODEL, "latest": None})})
    with pytest.raises(ClientError, match="The model m has no version"):
        empty.client.models["m"].pull()
    with pytest.raises(ClientError, match="The model m has no version"):
        RelevanceRegressor.pull(empty.client, "m")
    with pytest.raises(ClientError, match="The model m has no alias champion"):
        empty.client.models["m@champion"].pull()


def test_the_extra_is_named_where_scikit_learn_is_missing(
    connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = connected(service("regression", b"", []))
    monkeypatch.setitem(sys.modules, "relevance_bayes.estimators", None)
    with pytest.raises(ClientError, match=r"install relevance-bayes\[sklearn\]"):
        pair.client.models["m"].pull()


def test_a_model_is_read_by_its_name(connected: Connected) -> None:
    handle = connected({"GET /v1/models/m": lambda _: httpx.Response(200, json=MODEL)}).client.models["m"]
    assert isinstance(handle, ModelHandle)
    assert handle.get().task == "regression"
