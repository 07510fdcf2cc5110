"""tritonclient on this service by gRPC: each check is a test, run by test_clients in an environment of its own."""

from collections.abc import Iterator, Sequence
from queue import Queue

import numpy as np
import pytest
from tritonclient.grpc import InferenceServerClient, InferInput, InferRequestedOutput
from tritonclient.utils import InferenceServerException

from tests.foreign.service import AUTHORIZATION, RPC, means, predictions

MATRIX = np.array([[0.5, -1.0, 2.0, 0.0, 1.0], [3.0, 0.25, -2.0, 1.0, 0.0]])
KEY = {"authorization": AUTHORIZATION}


@pytest.fixture(scope="module")
def client() -> Iterator[InferenceServerClient]:
    with InferenceServerClient(RPC) as client:
        yield client


def matrix(rows: int = 2) -> InferInput:
    made = InferInput("input", [rows, 5], "FP64")
    made.set_data_from_numpy(np.resize(MATRIX, (rows, 5)))
    return made


def mixed() -> list[InferInput]:
    x, colour = InferInput("x", [2], "FP64"), InferInput("colour", [2], "BYTES")
    x.set_data_from_numpy(np.array([0.5, 3.0]))
    colour.set_data_from_numpy(np.array(["red", "blue"], np.object_))
    return [x, colour]


def test_the_server_is_live_and_ready(client: InferenceServerClient) -> None:
    assert client.is_server_live()
    assert client.is_server_ready()


def test_the_server_states_what_it_is(client: InferenceServerClient) -> None:
    assert client.get_server_metadata(headers=KEY).name == "relevance"


@pytest.mark.parametrize("version", ["", "1", "champion"])
def test_a_model_is_ready_and_states_what_it_reads(client: InferenceServerClient, version: str) -> None:
    assert client.is_model_ready("numbers", version, headers=KEY)
    reported = client.get_model_metadata("numbers", version, headers=KEY)
    assert list(reported.versions) == ["2", "1", "champion"]
    assert [(one.name, one.datatype, list(one.shape)) for one in reported.inputs] == [("input", "FP64", [-1, 5])]


@pytest.mark.parametrize("rows", [2, 5_000])
def test_a_matrix_is_inferred_from(client: InferenceServerClient, rows: int) -> None:
    result = client.infer("numbers", [matrix(rows)], request_id="mine", headers=KEY)
    assert result.as_numpy("mean").tolist() == means("numbers", np.resize(MATRIX, (rows, 5)).tolist())
    assert (result.get_response().id, result.get_response().model_version) == ("mine", "2")


@pytest.mark.parametrize("version", ["1", "champion"])
def test_versions_and_outputs_are_chosen(client: InferenceServerClient, version: str) -> None:
    outputs = [InferRequestedOutput("sd"), InferRequestedOutput("mean")]
    result = client.infer("numbers", [matrix()], version, outputs=outputs, headers=KEY)
    assert [output.name for output in result.get_response().outputs] == ["sd", "mean"]
    assert result.get_response().model_version == "1"


def test_classes_are_inferred_from_columns_of_several_kinds(client: InferenceServerClient) -> None:
    result = client.infer("states", mixed(), headers=KEY)
    rows = predictions("states", [{"x": 0.5, "colour": "red"}, {"x": 3.0, "colour": "blue"}])
    assert [label.decode() for label in result.as_numpy("label")] == [row["label"] for row in rows]
    assert result.as_numpy("probabilities").shape == (2, 3)


@pytest.mark.parametrize("algorithm", ["gzip", "deflate"])
def test_messages_may_be_packed(client: InferenceServerClient, algorithm: str) -> None:
    result = client.infer("numbers", [matrix()], compression_algorithm=algorithm, headers=KEY)
    assert result.as_numpy("mean").tolist() == means("numbers", MATRIX.tolist())


def test_several_requests_are_under_way_at_once(client: InferenceServerClient) -> None:
    ended: Queue[InferenceServerException | None] = Queue()
    for _ in range(8):
        client.async_infer("numbers", [matrix()], lambda result, error: ended.put(error), headers=KEY)
    assert [ended.get(timeout=60) for _ in range(8)] == [None] * 8


@pytest.mark.parametrize(
    ("model", "version", "inputs", "given"),
    [
        ("nothing", "", [matrix()], "NOT_FOUND.*There is no model 'nothing'."),
        ("numbers", "7", [matrix()], "NOT_FOUND.*no version 7"),
        ("mixed", "", mixed()[:1], "INVALID_ARGUMENT.*colour"),
        ("numbers", "", [matrix(5_001)], "RESOURCE_EXHAUSTED.*split the request"),
    ],
)
def test_what_can_not_be_done_is_stated(
    client: InferenceServerClient, model: str, version: str, inputs: Sequence[InferInput], given: str
) -> None:
    with pytest.raises(InferenceServerException, match=given):
        client.infer(model, inputs, version, headers=KEY)


def test_what_is_not_spoken_is_stated_not_to_be(client: InferenceServerClient) -> None:
    with pytest.raises(InferenceServerException, match="UNIMPLEMENTED"):
        client.get_model_config("numbers", headers=KEY)


def test_nobody_infers_without_the_key(client: InferenceServerClient) -> None:
    with pytest.raises(InferenceServerException, match=r"UNAUTHENTICATED.*Send a valid API key"):
        client.infer("numbers", [matrix()])
