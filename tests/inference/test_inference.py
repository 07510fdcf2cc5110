"""The Open Inference Protocol over HTTP: every call of it, JSON and bytes, and what is refused."""

import gzip
import json
import math
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import httpx2
import numpy as np
import pytest
from pytest import approx  # noqa: PT013
from starlette.testclient import TestClient
from starlette.types import Receive

from app import __version__
from app.inference.tensor_codec import RenderedTensors
from app.main import make_application
from app.prediction import ServedVersion
from app.prediction.runner import Codec, PredictionRunner
from app.prediction.usage_counts import AnsweredRows
from tests.applications import LIMITS, Report, SmallParts
from tests.doubles.authenticator import OneKey
from tests.tasks.supervised.test_one_row import NAMES

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"

LENGTH = "Inference-Header-Content-Length"
PATH = "/v2/models/small/infer"
X: Mapping[str, Json] = {"name": "x", "datatype": "FP64", "shape": [2], "data": [0.5, 3.0]}
COLOUR: Mapping[str, Json] = {"name": "colour", "datatype": "BYTES", "shape": [2, 1], "data": [["red"], ["blue"]]}
TENSORS: Json = [X, COLOUR]
ROWS: Json = [{"x": 0.5, "colour": "red"}, {"x": 3.0, "colour": "blue"}]
MATRIX = np.array([[0.5, -1.0, 2.0, 0.0, 1.0], [3.0, 0.25, -2.0, 1.0, 0.0]])


@pytest.fixture
def client(parts: SmallParts) -> Iterator[TestClient]:
    with TestClient(
        make_application(parts, LIMITS), raise_server_exceptions=False, base_url="http://localhost"
    ) as client:
        yield client


def outputs(response: httpx2.Response) -> dict[str, list[float]]:
    assert response.status_code == 200, response.text
    return {output["name"]: output["data"] for output in response.json()["outputs"]}


def refused(response: httpx2.Response, status: int) -> str:
    """Errors for clients of the protocol, which read nothing but `error`, beside those for all others."""
    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/json"
    problem = response.json()
    assert problem["error"] == problem["detail"]
    assert problem["status"] == status
    assert problem["request_id"] == response.headers["X-Request-ID"]
    return str(problem["error"])


def split(response: httpx2.Response) -> tuple[dict[str, Json], bytes]:
    """JSON and bytes of an answer."""
    length = int(response.headers[LENGTH])
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert int(response.headers["Content-Length"]) == len(response.content)
    return json.loads(response.content[:length]), response.content[length:]


@pytest.mark.parametrize("path", ["/v2", "/v2/"])
def test_the_server_states_who_it_is(client: TestClient, path: str) -> None:
    assert client.get(path).json() == {
        "name": "relevance",
        "version": __version__,
        "extensions": ["binary_tensor_data", "model_repository", "statistics", "parameters"],
    }


def test_probes_need_no_key_and_all_else_does(parts: SmallParts) -> None:
    with TestClient(
        make_application(parts, LIMITS, authenticator=OneKey("secret")), base_url="http://localhost"
    ) as client:
        assert client.get("/v2/health/live").json() == {"live": True}
        assert client.get("/v2/health/ready").json() == {"live": True, "ready": True}
        assert refused(client.get("/v2/models/small"), 401)
        assert refused(client.post(PATH, json={"inputs": TENSORS}), 401)
        assert refused(client.post("/v2/repository/index"), 401)
        assert client.get("/v2/models/small", headers={"Authorization": "Bearer secret"}).status_code == 200


def test_without_its_database_the_server_is_alive_and_not_ready(client: TestClient, parts: SmallParts) -> None:
    parts.report = Report(database=False)
    response = client.get("/v2/health/ready")
    assert (response.status_code, response.json()) == (503, {"live": True, "ready": False})
    assert client.get("/v2/health/live").status_code == 200


def test_a_model_states_what_it_reads_and_returns(client: TestClient) -> None:
    reported = client.get("/v2/models/small").json()
    assert (reported["name"], reported["versions"], reported["platform"]) == (
        "small",
        ["2", "1", "champion"],
        "relevance_sparse_bayes",
    )
    assert reported["inputs"] == [
        {"name": "x", "datatype": "FP64", "shape": [-1], "parameters": {}},
        {"name": "colour", "datatype": "BYTES", "shape": [-1], "parameters": {}},
    ]
    assert [output["name"] for output in reported["outputs"]] == [
        "mean",
        "sd",
        "variance_total",
        "variance_noise",
        "variance_weights",
        "variance_residual",
        "lower",
        "upper",
    ]
    assert {(output["datatype"], *output["shape"]) for output in reported["outputs"]} == {("FP64", -1)}


def test_a_model_of_numbers_reads_one_matrix(client: TestClient) -> None:
    (reported,) = client.get("/v2/models/numbers").json()["inputs"]
    assert reported == {"name": "input", "datatype": "FP64", "shape": [-1, 5], "parameters": {"columns": list(NAMES)}}
    assert "support" in [output["name"] for output in client.get("/v2/models/numbers").json()["outputs"]]


def test_classes_are_reported_with_their_probabilities(client: TestClient) -> None:
    reported = {output["name"]: output for output in client.get("/v2/models/states").json()["outputs"]}
    assert reported["label"]["datatype"] == "BYTES"
    assert reported["probabilities"]["shape"] == [-1, 3]
    assert reported["probabilities"]["parameters"] == {"classes": ["gas", "liquid", "solid"]}
    assert client.get("/v2/models/classes").json()["outputs"][0]["datatype"] == "BOOL"


@pytest.mark.parametrize("version", ["1", "champion"])
def test_versions_are_numbers_and_aliases(client: TestClient, version: str) -> None:
    assert client.get(f"/v2/models/small/versions/{version}").json()["name"] == "small"
    ready = client.get(f"/v2/models/small/versions/{version}/ready")
    assert ready.json() == {"name": "small", "ready": True}
    response = client.post(f"/v2/models/small/versions/{version}/infer", json={"inputs": TENSORS})
    assert response.json()["model_version"] == "1"
    assert client.post(f"/v2/models/small@{version}/infer", json={"inputs": TENSORS}).json() == response.json()
    assert client.post(PATH, json={"inputs": TENSORS}).json()["model_version"] == "2"


@pytest.mark.parametrize("path", ["nothing", "small/versions/3", "small/versions/challenger", "small/versions/-1"])
def test_what_is_not_there_is_404(client: TestClient, path: str) -> None:
    for suffix in ("", "/ready"):
        assert refused(client.get(f"/v2/models/{path}{suffix}"), 404)
    assert refused(client.post(f"/v2/models/{path}/infer", json={"inputs": TENSORS}), 404)
    assert refused(client.get("/v2/elsewhere"), 404) == "There is no resource at /v2/elsewhere."
    assert refused(client.get(PATH), 405)


def test_the_registry_is_all_there(client: TestClient) -> None:
    index = client.post("/v2/repository/index").json()
    assert {"name": "small", "version": "champion", "state": "READY", "reason": ""} in index
    assert {(one["name"], one["version"]) for one in index} >= {("small", "1"), ("small", "2"), ("states", "1")}
    assert client.post("/v2/repository/index", json={"ready": True}).json() == index
    for verb in ("load", "unload"):
        assert client.post(f"/v2/repository/models/small/{verb}").status_code == 200
        assert refused(client.post(f"/v2/repository/models/nothing/{verb}"), 404)


def test_tensors_get_the_predictions_that_rows_get(client: TestClient) -> None:
    found = outputs(client.post(PATH, json={"inputs": TENSORS}))
    rows = client.post("/v1/models/small/predict", json={"rows": ROWS}).json()["predictions"]
    assert found["mean"] == [row["mean"] for row in rows]
    assert found["sd"] == [row["sd"] for row in rows]
    assert found["lower"] == [row["lower"] for row in rows]
    assert found["upper"] == [row["upper"] for row in rows]
    assert found["variance_total"] == [row["variance"]["total"] for row in rows]
    for part in ("noise", "weights", "residual"):
        assert found[f"variance_{part}"] == [row["variance"][part] for row in rows]


def test_a_matrix_columns_and_bytes_get_the_same_to_the_bit(client: TestClient) -> None:
    path = "/v2/models/numbers/infer"
    matrix: Json = {"name": "input", "datatype": "FP64", "shape": [2, 5], "data": MATRIX.ravel().tolist()}
    columns: Json = [
        {"name": name, "datatype": "FP64", "shape": [2, 1], "data": MATRIX[:, place].tolist()}
        for place, name in enumerate(NAMES)
    ]
    found = outputs(client.post(path, json={"inputs": [matrix]}))
    assert outputs(client.post(path, json={"inputs": columns})) == found
    head = json.dumps(
        {"inputs": [{"name": "input", "datatype": "FP64", "shape": [2, 5], "parameters": {"binary_data_size": 80}}]}
    ).encode()
    binary = client.post(path, content=head + MATRIX.tobytes(), headers={LENGTH: str(len(head))})
    assert outputs(binary) == found
    rows = [dict(zip(NAMES, row, strict=True)) for row in MATRIX.tolist()]
    predicted = client.post("/v1/models/numbers/predict", json={"rows": rows}).json()["predictions"]
    assert found["mean"] == [row["mean"] for row in predicted]
    assert found["support"] == [row["support"] for row in predicted]


def test_a_body_without_json_is_the_one_input_and_gets_bytes(client: TestClient) -> None:
    response = client.post("/v2/models/numbers/infer", content=MATRIX.tobytes(), headers={LENGTH: "0"})
    reported, content = split(response)
    assert isinstance(reported["outputs"], list)
    sizes = [output["parameters"]["binary_data_size"] for output in reported["outputs"] if isinstance(output, dict)]
    assert sum(map(int, sizes)) == len(content)
    matrix: Json = {"name": "input", "datatype": "FP64", "shape": [2, 5], "data": MATRIX.tolist()}
    mean = outputs(client.post("/v2/models/numbers/infer", json={"inputs": [matrix]}))["mean"]
    assert struct.unpack("<dd", content[:16]) == tuple(mean)
    assert "columns" not in refused(client.post(PATH, content=b"", headers={LENGTH: "0"}), 400)


def test_json_and_bytes_may_mix_both_ways(client: TestClient) -> None:
    texts = struct.pack("<I3sI4s", 3, b"red", 4, b"blue")
    requested: Json = {
        "id": "mine",
        "inputs": [
            X,
            {"name": "colour", "datatype": "BYTES", "shape": [2], "parameters": {"binary_data_size": len(texts)}},
        ],
        "parameters": {"binary_data_output": True},
        "outputs": [{"name": "sd", "parameters": {"binary_data": False}}, {"name": "mean"}],
    }
    head = json.dumps(requested).encode()
    response = client.post(PATH, content=head + texts, headers={LENGTH: str(len(head))})
    reported, content = split(response)
    expected = outputs(client.post(PATH, json={"inputs": TENSORS}))
    assert reported == {
        "model_name": "small",
        "model_version": "2",
        "id": "mine",
        "outputs": [
            {"name": "sd", "datatype": "FP64", "shape": [2], "data": expected["sd"]},
            {"name": "mean", "datatype": "FP64", "shape": [2], "parameters": {"binary_data_size": 16}},
        ],
    }
    assert struct.unpack("<dd", content) == tuple(expected["mean"])


def test_labels_go_out_as_texts_in_bytes_too(client: TestClient) -> None:
    path, inputs = "/v2/models/states/infer", {"inputs": TENSORS}
    requested: Json = {**inputs, "outputs": [{"name": "label", "parameters": {"binary_data": True}}]}
    reported, content = split(client.post(path, json=requested))
    (label,) = outputs(client.post(path, json={**inputs, "outputs": [{"name": "label"}]})).values()
    assert content == b"".join(struct.pack("<I", len(text)) + text.encode() for text in map(str, label))
    assert reported["model_name"] == "states"


@pytest.mark.parametrize("datatype", ["FP32", "INT8", "UINT64", "INT32"])
def test_numbers_of_any_type_do(client: TestClient, datatype: str) -> None:
    x = {**X, "datatype": datatype, "data": [1, 3]}
    assert outputs(client.post(PATH, json={"inputs": [x, COLOUR]})) == outputs(
        client.post(PATH, json={"inputs": [{**X, "data": [1.0, 3.0]}, COLOUR]})
    )


def test_rows_may_bring_their_noise_and_the_interval_may_be_stated(client: TestClient) -> None:
    noise: Json = {"name": "sd", "datatype": "FP64", "shape": [2], "data": [0.5, 0.1]}
    found = outputs(client.post("/v2/models/measured/infer", json={"inputs": [X, COLOUR, noise]}))
    assert found["variance_noise"] == approx([0.25, 0.01])
    requested: Json = {"inputs": TENSORS, "parameters": {"interval": 0.5}}
    half = outputs(client.post(PATH, json=requested))
    assert (np.array(half["upper"]) - half["mean"]) / half["sd"] == approx([0.6744897501960817] * 2)


@pytest.mark.parametrize(
    ("changed", "given"),
    [
        ({"inputs": []}, "column"),
        ({"inputs": [X]}, "colour"),
        ({"inputs": [X, COLOUR, {**X, "name": "z"}]}, "z"),
        ({"inputs": [X, X]}, "got one twice"),
        ({"inputs": [{**X, "shape": [3]}, COLOUR]}, "3 values"),
        ({"inputs": [{**X, "shape": [2, 1, 1]}, COLOUR]}, r"\[-1\]"),
        ({"inputs": [{**X, "datatype": "BYTES", "data": ["1", "2"]}, COLOUR]}, "FP64"),
        ({"inputs": [X, {**X, "name": "colour"}]}, "BYTES"),
        ({"inputs": [{**X, "shape": [1], "data": [0.5]}, COLOUR]}, "first has 1"),
        ({"inputs": [{**X, "shape": [0], "data": []}, {**COLOUR, "shape": [0], "data": []}]}, "no rows"),
        (
            {"inputs": [X, {**COLOUR, "data": ["red", "green"]}], "parameters": {"unknown_categories": "error"}},
            "green",
        ),
        ({"inputs": [{key: X[key] for key in ("name", "datatype", "shape")}, COLOUR]}, "binary_data_size"),
        ({"inputs": [{**X, "parameters": {"shared_memory_region": "r"}}, COLOUR]}, "shared_memory_region"),
        ({"inputs": [{**X, "parameters": {"binary_data_size": "16"}}, COLOUR]}, "binary_data_size"),
        ({"outputs": [{"name": "median"}]}, "median"),
        ({"outputs": [{"name": "mean", "parameters": {"classification": 2}}]}, "classification"),
        ({"parameters": {"interval": 1.5}}, "interval"),
        ({"parameters": {"sequence_id": 7}}, "sequence_id"),
        ({"inputs": "x"}, "parsed"),
    ],
)
def test_what_does_not_fit_is_400_with_what_is_wrong(client: TestClient, changed: dict[str, Json], given: str) -> None:
    response = client.post(PATH, json={"inputs": TENSORS, **changed})
    assert refused(response, 400)
    assert re.search(given, response.text)


@pytest.mark.parametrize(
    ("shape", "given"),
    [
        ([2, 4], "expected shape [-1, 5], got [2, 4]"),
        ([5], "expected shape [-1, 5], got [5]"),
        ([0, 5], "The tensors have no rows."),
    ],
)
def test_a_matrix_that_is_not_rows_of_all_inputs_is_400(client: TestClient, shape: list[int], given: str) -> None:
    matrix: Json = {"name": "input", "datatype": "FP64", "shape": shape, "data": [0.5] * math.prod(shape)}
    assert given in refused(client.post("/v2/models/numbers/infer", json={"inputs": [matrix]}), 400)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]", b"null", b'{"inputs": [', b"[" * 3_000])
def test_what_is_no_request_is_400(client: TestClient, body: bytes) -> None:
    assert refused(client.post(PATH, content=body), 400)


@pytest.mark.parametrize("length", ["-1", "x", "99999", "9" * 40, "3"])
def test_a_length_that_is_not_that_of_the_json_is_400(client: TestClient, length: str) -> None:
    assert refused(client.post(PATH, content=json.dumps({"inputs": TENSORS}), headers={LENGTH: length}), 400)


def test_bytes_that_are_too_few_or_too_many_are_400(client: TestClient) -> None:
    for size, content in ((16, b"\x00" * 15), (16, b"\x00" * 17), (-1, b""), (8, b"\x00" * 8)):
        x = {"name": "x", "datatype": "FP64", "shape": [2], "parameters": {"binary_data_size": size}}
        head = json.dumps({"inputs": [x, COLOUR]}).encode()
        assert refused(client.post(PATH, content=head + content, headers={LENGTH: str(len(head))}), 400)


def test_too_many_rows_and_too_large_bodies_are_413(client: TestClient) -> None:
    rows = LIMITS.max_prediction_rows + 1
    x: Json = {**X, "shape": [rows], "data": [0.5] * rows}
    colour: Json = {**COLOUR, "shape": [rows], "data": ["red"] * rows}
    assert "split the request" in refused(client.post(PATH, json={"inputs": [x, colour]}), 413)
    assert refused(client.post(PATH, content=b" " * (LIMITS.max_body_bytes + 1)), 413)


def test_clients_that_state_nothing_of_the_type_are_understood(client: TestClient) -> None:
    kinds: list[dict[str, str]] = [{}, {"Content-Type": "application/octet-stream"}, {"Content-Type": "text/plain"}]
    for kind in kinds:
        response = client.post(PATH, content=json.dumps({"inputs": TENSORS}).encode(), headers=kind)
        assert response.headers["Content-Type"] == "application/json"
        assert outputs(response)


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_bodies_may_be_packed(client: TestClient, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    body = json.dumps({"inputs": TENSORS}).encode()
    sent = client.post(PATH, content=pack(body), headers={"Content-Encoding": encoding})
    assert outputs(sent) == outputs(client.post(PATH, content=body))
    assert refused(client.post(PATH, content=pack(b" " * 10**6), headers={"Content-Encoding": encoding}), 413)
    assert refused(client.post(PATH, content=body, headers={"Content-Encoding": encoding}), 400)
    assert refused(client.post(PATH, content=body, headers={"Content-Encoding": "br"}), 415)


@pytest.mark.parametrize("bound", ["MAX_QUICK_BYTES", "MAX_QUICK_WORK"])
def test_large_bodies_and_much_work_are_done_in_a_thread_alike(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    inline, handed = client.post(PATH, json={"inputs": TENSORS}).json(), []
    run_for_client = PredictionRunner.run_for_client

    async def noted(
        self: PredictionRunner,
        receive: Receive | None,
        served: ServedVersion,
        codec: Codec[RenderedTensors],
        counted: AnsweredRows,
    ) -> object:
        handed.append(codec)
        return await run_for_client(self, receive, served, codec, counted)

    monkeypatch.setattr(PredictionRunner, "run_for_client", noted)
    assert client.post(PATH, json={"inputs": TENSORS}).json() == inline
    assert handed == []
    monkeypatch.setattr(f"app.prediction.runner.{bound}", 0)
    assert client.post(PATH, json={"inputs": TENSORS}).json() == inline
    assert len(handed) == 1
