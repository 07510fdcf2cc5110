"""tritonclient on this service: each check is a test, run by test_clients in an environment of its own."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from tritonclient.http import InferenceServerClient, InferInput, InferRequestedOutput, InferResult
from tritonclient.utils import InferenceServerException

from tests.foreign.service import AUTHORIZATION, NUMBERS, URL, Json, exchange, means, predictions

Values: TypeAlias = NDArray[np.float64] | NDArray[np.object_]

LENGTH = "Inference-Header-Content-Length"
MATRIX = np.array([[0.5, -1.0, 2.0, 0.0, 1.0], [3.0, 0.25, -2.0, 1.0, 0.0]])
MIXED: Sequence[dict[str, float | str]] = [{"x": 0.5, "colour": "red"}, {"x": 3.0, "colour": "blue"}]
FORMS = [(False, False), (False, True), (True, False), (True, True)]
"""True if what is sent, and what comes, is bytes."""


class _Requested:
    """The arguments of the client's plugins."""

    headers: dict[str, str]


def _with_key(request: _Requested) -> None:
    request.headers["Authorization"] = AUTHORIZATION


@pytest.fixture(scope="module")
def client() -> Iterator[InferenceServerClient]:
    with InferenceServerClient(URL.removeprefix("http://")) as client:
        client.register_plugin(_with_key)
        yield client


def tensor(name: str, values: Values, datatype: str = "FP64", *, binary: bool = True) -> InferInput:
    made = InferInput(name, list(values.shape), datatype)
    made.set_data_from_numpy(values, binary_data=binary)
    return made


def matrix(*, binary: bool = True) -> InferInput:
    return tensor("input", MATRIX, binary=binary)


def mixed(*, binary: bool = True) -> list[InferInput]:
    colours = np.array([row["colour"] for row in MIXED], np.object_)
    return [
        tensor("x", np.array([row["x"] for row in MIXED], np.float64), binary=binary),
        tensor("colour", colours, "BYTES", binary=binary),
    ]


def required(*names: str, binary: bool = True) -> list[InferRequestedOutput]:
    return [InferRequestedOutput(name, binary_data=binary) for name in names]


def inferred(result: InferResult, name: str = "mean") -> list[Json]:
    found: list[Json] = result.as_numpy(name).tolist()
    return found


def test_the_server_is_live(client: InferenceServerClient) -> None:
    assert client.is_server_live()


def test_the_server_is_ready(client: InferenceServerClient) -> None:
    assert client.is_server_ready()


def test_the_server_states_what_it_is(client: InferenceServerClient) -> None:
    reported = client.get_server_metadata()
    assert reported["name"] == "relevance"
    assert {"binary_tensor_data", "model_repository", "statistics", "parameters"} <= {*reported["extensions"]}


@pytest.mark.parametrize("version", ["", "1", "2", "champion"])
def test_a_model_is_ready(client: InferenceServerClient, version: str) -> None:
    assert client.is_model_ready("numbers", version)


@pytest.mark.parametrize(("model", "version"), [("nothing", ""), ("numbers", "3"), ("numbers", "challenger")])
def test_what_is_not_there_is_not_ready(client: InferenceServerClient, model: str, version: str) -> None:
    assert not client.is_model_ready(model, version)


@pytest.mark.parametrize("version", ["", "1", "champion"])
def test_a_model_states_what_it_reads(client: InferenceServerClient, version: str) -> None:
    reported = client.get_model_metadata("numbers", version)
    assert (reported["name"], reported["versions"]) == ("numbers", ["2", "1", "champion"])
    assert [(one["name"], one["datatype"], one["shape"]) for one in reported["inputs"]] == [("input", "FP64", [-1, 5])]
    assert reported["outputs"][0] == {"name": "mean", "datatype": "FP64", "shape": [-1], "parameters": {}}


def test_the_registry_is_listed(client: InferenceServerClient) -> None:
    index = client.get_model_repository_index()
    assert {(one["name"], one["version"]) for one in index if one["state"] == "READY"} >= {
        ("numbers", "1"),
        ("numbers", "2"),
        ("numbers", "champion"),
        ("states", "1"),
    }


def test_models_are_loaded_and_unloaded(client: InferenceServerClient) -> None:
    client.load_model("mixed")
    client.unload_model("mixed")
    assert client.is_model_ready("mixed")


@pytest.mark.parametrize(("sent", "came"), FORMS)
def test_a_matrix_is_inferred_from(client: InferenceServerClient, sent: bool, came: bool) -> None:
    outputs = required("mean", "sd", binary=came)
    result = client.infer("numbers", [matrix(binary=sent)], outputs=outputs)
    assert inferred(result) == means("numbers", MATRIX.tolist())
    assert ("data" in result.get_output("mean")) != came


@pytest.mark.parametrize(("sent", "came"), FORMS)
def test_columns_of_several_kinds_are_inferred_from(client: InferenceServerClient, sent: bool, came: bool) -> None:
    result = client.infer("mixed", mixed(binary=sent), outputs=required("mean", binary=came))
    assert inferred(result) == [row["mean"] for row in predictions("mixed", MIXED)]


@pytest.mark.parametrize(("sent", "came"), FORMS)
def test_classes_are_inferred(client: InferenceServerClient, sent: bool, came: bool) -> None:
    result = client.infer("states", mixed(binary=sent), outputs=required("label", "probabilities", binary=came))
    rows = predictions("states", MIXED)
    labels = [one.decode() if isinstance(one, bytes) else one for one in result.as_numpy("label").tolist()]
    assert labels == [row["label"] for row in rows]
    classes = result.get_output("probabilities")["parameters"]["classes"]
    for row, shares in zip(rows, result.as_numpy("probabilities").tolist(), strict=True):
        named = zip(classes, shares, strict=True)
        assert row["probabilities"] == [{"label": label, "probability": share} for label, share in named]


def test_all_outputs_come_where_none_is_named(client: InferenceServerClient) -> None:
    result = client.infer("numbers", [matrix()])
    reported = [one["name"] for one in client.get_model_metadata("numbers")["outputs"]]
    assert [one["name"] for one in result.get_response()["outputs"]] == reported
    assert all(result.as_numpy(name).shape == (2,) for name in reported)


def test_outputs_come_in_the_order_in_which_they_are_named(client: InferenceServerClient) -> None:
    outputs = [*required("upper", binary=False), *required("mean", "lower")]
    result = client.infer("numbers", [matrix()], outputs=outputs)
    assert [one["name"] for one in result.get_response()["outputs"]] == ["upper", "mean", "lower"]
    assert (result.as_numpy("lower") < result.as_numpy("mean")).all()
    assert (result.as_numpy("mean") < result.as_numpy("upper")).all()


@pytest.mark.parametrize(
    ("model", "version", "expected_version"),
    [
        ("numbers", "", "2"),
        ("numbers", "1", "1"),
        ("numbers", "2", "2"),
        ("numbers", "champion", "1"),
        ("numbers@champion", "", "1"),
    ],
)
def test_versions_and_aliases_are_inferred_with(
    client: InferenceServerClient, model: str, version: str, expected_version: str
) -> None:
    result = client.infer(model, [matrix()], model_version=version)
    assert result.get_response()["model_name"] == "numbers"
    assert result.get_response()["model_version"] == expected_version


def test_statistics_count_what_was_requested(client: InferenceServerClient) -> None:
    def counted(version: str) -> Mapping[str, int]:
        (reported,) = client.get_inference_statistics("numbers", version)["model_stats"]
        stats: Mapping[str, Mapping[str, int]] = reported["inference_stats"]
        return {
            "rows": reported["inference_count"],
            "answered": stats["success"]["count"],
            "failed": stats["fail"]["count"],
        }

    before = counted("1")
    client.infer("numbers", [matrix()], model_version="champion")
    with pytest.raises(InferenceServerException):
        client.infer("numbers", [tensor("other", MATRIX)], model_version="1")
    assert {name: number - before[name] for name, number in counted("1").items()} == {
        "rows": 2,
        "answered": 1,
        "failed": 1,
    }
    every = client.get_inference_statistics()["model_stats"]
    assert ("numbers", "1") in {(one["name"], one["version"]) for one in every}
    assert [one["version"] for one in client.get_inference_statistics("numbers")["model_stats"]] == ["2", "1"]


def test_ids_come_back(client: InferenceServerClient) -> None:
    assert client.infer("numbers", [matrix()], request_id="mine ✓").get_response()["id"] == "mine ✓"
    assert "id" not in client.infer("numbers", [matrix()]).get_response()


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_bodies_may_be_packed(client: InferenceServerClient, encoding: str, binary: bool) -> None:
    result = client.infer(
        "numbers",
        [matrix(binary=binary)],
        request_compression_algorithm=encoding,
        response_compression_algorithm=encoding,
    )
    assert inferred(result) == means("numbers", MATRIX.tolist())


@pytest.mark.parametrize("binary", [False, True])
def test_long_bodies_are_inferred_from(client: InferenceServerClient, binary: bool) -> None:
    rows = np.random.default_rng(5).normal(size=(5_000, 5))
    result = client.infer("numbers", [tensor("input", rows, binary=binary)], outputs=required("mean", binary=binary))
    assert inferred(result) == means("numbers", rows.tolist())


def test_columns_of_a_matrix_may_come_one_by_one(client: InferenceServerClient) -> None:
    columns = [tensor(name, MATRIX[:, [place]]) for place, name in enumerate(NUMBERS)]
    assert inferred(client.infer("numbers", columns)) == means("numbers", MATRIX.tolist())


@pytest.mark.parametrize("datatype", ["FP16", "FP32", "INT8", "UINT64"])
def test_numbers_of_any_type_do(client: InferenceServerClient, datatype: str) -> None:
    kinds = {"FP16": "f2", "FP32": "f4", "INT8": "i1", "UINT64": "u8"}
    made = InferInput("input", [1, 5], datatype)
    made.set_data_from_numpy(np.ones((1, 5), kinds[datatype]))
    assert inferred(client.infer("numbers", [made])) == means("numbers", [[1.0] * 5])


def test_the_interval_is_a_parameter(client: InferenceServerClient) -> None:
    usual = client.infer("numbers", [matrix()])
    narrow = client.infer("numbers", [matrix()], parameters={"interval": 0.5})
    assert (narrow.as_numpy("lower") > usual.as_numpy("lower")).all()
    assert inferred(narrow) == inferred(usual)


def test_what_may_be_passed_over_is(client: InferenceServerClient) -> None:
    assert inferred(client.infer("numbers", [matrix()], priority=1, timeout=1_000_000))


def test_several_requests_are_under_way_at_once() -> None:
    with InferenceServerClient(URL.removeprefix("http://"), concurrency=4) as client:
        client.register_plugin(_with_key)
        shifted = [tensor("input", MATRIX + shift) for shift in range(12)]
        requested = [client.async_infer("numbers", [one], request_id=str(n)) for n, one in enumerate(shifted)]
        for number, one in enumerate(requested):
            result = one.get_result()
            assert result.get_response()["id"] == str(number)
            assert inferred(result) == means("numbers", (MATRIX + number).tolist())


def test_bodies_that_the_client_only_makes_get_a_response() -> None:
    body, length = InferenceServerClient.generate_request_body([matrix()], request_id="apart")
    content, headers = exchange("/v2/models/numbers/infer", body, {LENGTH: str(length)})
    result = InferenceServerClient.parse_response_body(content, header_length=int(headers[LENGTH]))
    assert inferred(result) == means("numbers", MATRIX.tolist())


@pytest.mark.parametrize(
    ("model", "version", "inputs", "outputs", "given"),
    [
        ("nothing", "", [matrix()], None, "There is no model 'nothing'."),
        ("numbers", "7", [matrix()], None, "no version 7"),
        ("numbers", "challenger", [matrix()], None, "no alias 'challenger'"),
        ("numbers", "", [tensor("other", MATRIX)], None, "other"),
        ("numbers", "", [tensor("input", MATRIX[:, :4])], None, r"expected shape \[-1, 5\], got \[2, 4\]"),
        ("numbers", "", [tensor("input", MATRIX[:0])], None, "no rows"),
        ("numbers", "", [matrix()], required("median"), "Expected outputs among mean, .*; got 'median'"),
        ("mixed", "", mixed()[:1], None, "colour"),
        ("mixed", "", [mixed()[0], tensor("colour", MATRIX[:, 0])], None, "expected BYTES, got FP64"),
        ("numbers", "", [tensor("input", np.zeros((5_001, 5)))], None, "split the request"),
    ],
)
def test_what_can_not_be_done_is_stated(
    client: InferenceServerClient,
    model: str,
    version: str,
    inputs: Sequence[InferInput],
    outputs: Sequence[InferRequestedOutput] | None,
    given: str,
) -> None:
    with pytest.raises(InferenceServerException, match=given):
        client.infer(model, inputs, model_version=version, outputs=outputs)


@pytest.mark.parametrize("requested", [{"sequence_id": 7}, {"sequence_id": "seven"}])
def test_sequences_are_refused(client: InferenceServerClient, requested: Mapping[str, Json]) -> None:
    with pytest.raises(InferenceServerException, match="`sequence_id` is of an unsupported extension"):
        client.infer("numbers", [matrix()], **requested)


def test_classification_is_refused(client: InferenceServerClient) -> None:
    with pytest.raises(InferenceServerException, match="`classification` is of an unsupported extension"):
        client.infer("numbers", [matrix()], outputs=[InferRequestedOutput("mean", class_count=2)])


def test_shared_memory_is_refused(client: InferenceServerClient) -> None:
    with pytest.raises(InferenceServerException, match="There is no resource at"):
        client.register_system_shared_memory("region", "/region", 64)
    shared = InferInput("input", [2, 5], "FP64")
    shared.set_shared_memory("region", 80)
    with pytest.raises(InferenceServerException, match="unsupported extension"):
        client.infer("numbers", [shared])


def test_what_is_not_configured_here_is_stated_not_to_be_there(client: InferenceServerClient) -> None:
    for call in (lambda: client.get_model_config("numbers"), client.get_trace_settings, client.get_log_settings):
        with pytest.raises(InferenceServerException, match="There is no resource at"):
            call()


def test_nobody_infers_without_the_key() -> None:
    with InferenceServerClient(URL.removeprefix("http://")) as client:
        assert client.is_server_live()
        assert client.is_server_ready()
        assert not client.is_model_ready("numbers")
        with pytest.raises(InferenceServerException, match="Send a valid API key"):
            client.infer("numbers", [matrix()])
