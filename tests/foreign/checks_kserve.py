"""KServe's client on this service: each check is a test, run by test_clients in an environment of its own."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

import httpx
import numpy as np
import pytest
from kserve import InferenceRESTClient, InferInput, InferOutput, InferRequest, InferResponse
from kserve.inference_client import RESTConfig
from kserve.protocol.infer_type import RequestedOutput

from tests.foreign.service import AUTHORIZATION, URL, Json, means, predictions

T = TypeVar("T")

MATRIX = np.array([[0.5, -1.0, 2.0, 0.0, 1.0], [3.0, 0.25, -2.0, 1.0, 0.0]])
HEADERS = {"Authorization": AUTHORIZATION}


def with_client(call: Callable[[InferenceRESTClient], Coroutine[None, None, T]]) -> T:
    async def run() -> T:
        async with InferenceRESTClient(RESTConfig(protocol="v2", retries=0)) as client:
            return await call(client)

    return asyncio.run(run())


def infer(model: str, request: InferRequest | dict[str, Json]) -> InferResponse:
    return with_client(lambda client: client.infer(URL, request, model_name=model, headers=dict(HEADERS)))


def matrix(*, binary: bool) -> InferInput:
    made = InferInput("input", list(MATRIX.shape), "FP64")
    made.set_data_from_numpy(MATRIX, binary_data=binary)
    return made


def mixed(*, binary: bool) -> list[InferInput]:
    x, colour = InferInput("x", [2], "FP64"), InferInput("colour", [2], "BYTES")
    x.set_data_from_numpy(np.array([0.5, 3.0]), binary_data=binary)
    colour.set_data_from_numpy(np.array(["red", "blue"], np.object_), binary_data=binary)
    return [x, colour]


def output(response: InferResponse, name: str) -> InferOutput:
    return next(one for one in response.outputs if one.name == name)


def test_the_server_is_live() -> None:
    assert with_client(lambda client: client.is_server_live(URL)) is True


def test_the_server_is_ready() -> None:
    assert with_client(lambda client: client.is_server_ready(URL)) is True


def test_a_model_is_ready() -> None:
    assert with_client(lambda client: client.is_model_ready(URL, "numbers", headers=HEADERS)) is True


def test_what_is_not_there_is_not_ready() -> None:
    assert with_client(lambda client: client.is_model_ready(URL, "nothing", headers=HEADERS)) is False


@pytest.mark.parametrize("binary", [False, True])
def test_a_matrix_is_inferred_from(binary: bool) -> None:
    response = infer("numbers", InferRequest("numbers", [matrix(binary=binary)], request_id="mine"))
    assert (response.model_name, response.id) == ("numbers", "mine")
    assert output(response, "mean").as_numpy().tolist() == means("numbers", MATRIX.tolist())


@pytest.mark.parametrize("binary", [False, True])
def test_outputs_may_be_named_and_come_as_bytes(binary: bool) -> None:
    outputs = [RequestedOutput(name, {"binary_data": binary}) for name in ("sd", "mean")]
    response = infer("numbers", InferRequest("numbers", [matrix(binary=False)], request_outputs=outputs))
    assert [one.name for one in response.outputs] == ["sd", "mean"]
    assert output(response, "mean").as_numpy().tolist() == means("numbers", MATRIX.tolist())


@pytest.mark.parametrize("binary", [False, True])
def test_classes_are_inferred_from_columns_of_several_kinds(binary: bool) -> None:
    response = infer("states", InferRequest("states", mixed(binary=binary)))
    rows = predictions("states", [{"x": 0.5, "colour": "red"}, {"x": 3.0, "colour": "blue"}])
    assert output(response, "label").as_numpy().tolist() == [row["label"] for row in rows]
    assert output(response, "probabilities").shape == [2, 3]


def test_plain_json_is_inferred_from() -> None:
    requested: dict[str, Json] = {
        "inputs": [{"name": "input", "datatype": "FP64", "shape": [2, 5], "data": MATRIX.ravel().tolist()}]
    }
    assert output(infer("numbers@champion", requested), "mean").as_numpy().shape == (2,)


@pytest.mark.parametrize(
    ("model", "inputs", "given"),
    [
        ("nothing", [matrix(binary=False)], "There is no model 'nothing'., '404 Not Found'"),
        ("mixed", mixed(binary=True)[:1], "colour.*'400 Bad Request'"),
        ("numbers", mixed(binary=False), "'400 Bad Request'"),
    ],
)
def test_what_can_not_be_done_is_stated(model: str, inputs: list[InferInput], given: str) -> None:
    with pytest.raises(httpx.HTTPStatusError, match=given):
        infer(model, InferRequest(model, inputs))


def test_nobody_infers_without_the_key() -> None:
    request = InferRequest("numbers", [matrix(binary=True)])
    with pytest.raises(httpx.HTTPStatusError, match="Send a valid API key"):
        with_client(lambda client: client.infer(URL, request, model_name="numbers"))
