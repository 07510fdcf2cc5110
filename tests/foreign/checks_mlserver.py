"""MLServer's types and codecs on our responses: each check is a test, run by test_clients in an environment of
its own."""

from urllib.error import HTTPError

import numpy as np
import pandas as pd
import pytest
from mlserver.codecs import NumpyCodec, NumpyRequestCodec, PandasCodec, StringCodec
from mlserver.types import (
    InferenceErrorResponse,
    InferenceRequest,
    InferenceResponse,
    MetadataModelResponse,
    MetadataServerResponse,
    Parameters,
    RepositoryIndexRequest,
    RepositoryIndexResponse,
    RequestOutput,
)

from tests.foreign.service import get, means, predictions

MATRIX = np.array([[0.5, -1.0, 2.0, 0.0, 1.0], [3.0, 0.25, -2.0, 1.0, 0.0]])


def mixed(x: list[float], colours: list[str]) -> pd.DataFrame:
    """Its codecs don't know of the type that pandas has for texts by now."""
    return pd.DataFrame({"x": x, "colour": np.array(colours, np.object_)}, dtype=np.object_).astype({"x": np.float64})


def infer(model: str, request: InferenceRequest) -> InferenceResponse:
    return InferenceResponse.model_validate_json(get(f"/v2/models/{model}/infer", request.model_dump_json()))


def output(response: InferenceResponse, name: str) -> list[float]:
    found: list[float] = next(NumpyCodec.decode_output(one) for one in response.outputs if one.name == name).tolist()
    return found


def test_the_server_states_what_it_is() -> None:
    assert MetadataServerResponse.model_validate_json(get("/v2")).name == "relevance"


def test_a_model_states_what_it_reads() -> None:
    reported = MetadataModelResponse.model_validate_json(get("/v2/models/states/versions/1"))
    assert reported.inputs is not None
    assert [(one.name, one.datatype, one.shape) for one in reported.inputs] == [
        ("x", "FP64", [-1]),
        ("colour", "BYTES", [-1]),
    ]


def test_the_registry_is_listed() -> None:
    body = RepositoryIndexRequest(ready=True).model_dump_json()
    reported = RepositoryIndexResponse.model_validate_json(get("/v2/repository/index", body))
    assert ("numbers", "champion", "READY") in {(one.name, one.version, one.state) for one in reported}


def test_an_array_is_inferred_from() -> None:
    request = NumpyRequestCodec.encode_request(MATRIX)
    request.inputs[0].name, request.id = "input", "mine"
    response = infer("numbers", request)
    assert (response.model_name, response.model_version, response.id) == ("numbers", "2", "mine")
    assert output(response, "mean") == means("numbers", MATRIX.tolist())


def test_a_data_frame_is_inferred_from_and_comes_back() -> None:
    frame = mixed([0.5, 3.0], ["red", "blue"])
    request = PandasCodec.encode_request(frame, use_bytes=False)
    request.outputs = [RequestOutput(name="label"), RequestOutput(name="support")]
    response = infer("states", request)
    labels = next(one for one in response.outputs if one.name == "label")
    rows = predictions("states", frame.to_dict("records"))
    assert StringCodec.decode_output(labels) == [row["label"] for row in rows]
    assert [one.name for one in response.outputs] == ["label", "support"]


def test_parameters_are_understood() -> None:
    request = PandasCodec.encode_request(mixed([0.5], ["red"]), use_bytes=False)
    usual = infer("mixed", request)
    request.parameters = Parameters(content_type="pd", headers={"of": "the client"}, interval=0.5)
    narrow = infer("mixed", request)
    assert output(narrow, "lower") > output(usual, "lower")


def test_what_can_not_be_done_is_stated() -> None:
    request = NumpyRequestCodec.encode_request(MATRIX)
    with pytest.raises(HTTPError) as refused:
        infer("mixed", request)
    error = InferenceErrorResponse.model_validate_json(refused.value.read())
    assert refused.value.code == 400
    assert error.error
