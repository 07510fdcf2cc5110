"""The Open Inference Protocol over gRPC: every call of it, and what is refused."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from threading import Event
from typing import TypeVar

import grpc
import numpy as np
import pytest
from google.protobuf.message import Message

from app import __version__
from app.accounts.authenticator import KeyAuthenticator
from app.accounts.rate_limiter import OwnerRates
from app.accounts.tokens import Issuer, IssuerKeys, TokenAuthenticator, TokenRules
from app.audit.records import AuditFilter
from app.database.keyset import PageRequest
from app.errors import UnavailableError
from app.http.authentication import AllowAny
from app.http.dependencies import Services
from app.http.health import ReadinessProbe, Shutdown
from app.identity import BUILT_IN_OWNER as OWNER
from app.identity import Principal
from app.inference.rpc.generated import open_inference_pb2 as messages
from app.inference.rpc.service import NAME, CantListen, RpcRules, serving
from app.prediction import PredictRequest, predict
from app.prediction.runner import PredictionRunner
from relevance_bayes.records.accounts import KeyScope, OwnerLimits
from relevance_bayes.tables.columns import NumberBlock
from relevance_bayes.tasks.supervised.predictions import RegressionPrediction
from tests.applications import Report, SmallParts
from tests.doubles.authenticator import OneKey
from tests.issuers import AUDIENCE, refused_tokens
from tests.issuers import serving as serving_tokens

T = TypeVar("T")
A = TypeVar("A", bound=Message)

MATRIX = np.array([[0.5, -1.0, 2.0, 0.0, 1.0], [3.0, 0.25, -2.0, 1.0, 0.0]])
RULES = RpcRules("127.0.0.1", 0, AllowAny(), 4096, log=False)
Tensor = messages.ModelInferRequest.InferInputTensor
Contents = messages.InferTensorContents
RequestedOutput = messages.ModelInferRequest.InferRequestedOutputTensor
Parameter = messages.InferParameter
Infer = messages.ModelInferRequest


class Client:
    """Calls by their names."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel

    async def call_method(self, call: str, requested: Message, response_type: type[A], *authorization: str) -> A:
        return await self.send(call, requested, response_type, [("authorization", one) for one in authorization])

    async def send(
        self, call: str, requested: Message, response_type: type[A], metadata: Sequence[tuple[str, str]]
    ) -> A:
        return await self.begin(call, requested, response_type, metadata)

    def begin(
        self, call: str, requested: Message, response_type: type[A], metadata: Sequence[tuple[str, str]]
    ) -> "grpc.aio.UnaryUnaryCall[Message, A]":
        stub: grpc.aio.UnaryUnaryMultiCallable[Message, A] = self._channel.unary_unary(
            f"/{NAME}/{call}", request_serializer=_bytes, response_deserializer=response_type.FromString
        )
        return stub(requested, metadata=tuple(metadata))

    async def infer(self, requested: messages.ModelInferRequest) -> messages.ModelInferResponse:
        return await self.call_method("ModelInfer", requested, messages.ModelInferResponse)


def _bytes(requested: Message) -> bytes:
    return requested.SerializeToString()


@asynccontextmanager
async def connected(
    parts: SmallParts, rules: RpcRules, shutdown: Shutdown | None = None, *, authority: str | None = None
) -> AsyncIterator[Client]:
    options = () if authority is None else (("grpc.default_authority", authority),)
    services = Services(
        parts.prediction,
        parts.refusals,
        parts.catalogue,
        ReadinessProbe(parts.ready),
        PredictionRunner(parts.prediction, 5, rules.max_bytes),
        shutdown or Shutdown(lambda: None),
    )
    async with (
        serving(services, rules) as port,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel,
    ):
        yield Client(channel)


def run(parts: SmallParts, call: Callable[[Client], Coroutine[None, None, T]], rules: RpcRules = RULES) -> T:
    async def all_of_it() -> T:
        async with connected(parts, rules) as client:
            return await call(client)

    return asyncio.run(all_of_it())


def infer(parts: SmallParts, requested: messages.ModelInferRequest) -> messages.ModelInferResponse:
    return run(parts, lambda client: client.infer(requested))


def refused(parts: SmallParts, requested: messages.ModelInferRequest) -> tuple[str, str]:
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        infer(parts, requested)
    return refusal.value.code().name, refusal.value.details() or ""


def raw(*, rows: int = 2) -> messages.ModelInferRequest:
    tensor = Tensor(name="input", datatype="FP64", shape=[rows, 5])
    return Infer(model_name="numbers", inputs=[tensor], raw_input_contents=[np.resize(MATRIX, (rows, 5)).tobytes()])


def mixed(model: str = "small") -> messages.ModelInferRequest:
    return Infer(
        model_name=model,
        inputs=[
            Tensor(name="x", datatype="FP64", shape=[2], contents=Contents(fp64_contents=[0.5, 3.0])),
            Tensor(name="colour", datatype="BYTES", shape=[2], contents=Contents(bytes_contents=[b"red", b"blue"])),
        ],
    )


def values(response: messages.ModelInferResponse, name: str) -> Sequence[float]:
    place = [output.name for output in response.outputs].index(name)
    found: list[float] = np.frombuffer(response.raw_output_contents[place]).tolist()
    return found


def test_the_server_states_who_it_is_and_how_it_is(parts: SmallParts) -> None:
    async def call_method(client: Client) -> tuple[bool, bool, messages.ServerMetadataResponse]:
        live = await client.call_method("ServerLive", messages.ServerLiveRequest(), messages.ServerLiveResponse)
        ready = await client.call_method("ServerReady", messages.ServerReadyRequest(), messages.ServerReadyResponse)
        reported = await client.call_method(
            "ServerMetadata", messages.ServerMetadataRequest(), messages.ServerMetadataResponse
        )
        return live.live, ready.ready, reported

    live, ready, reported = run(parts, call_method)
    assert (live, ready, reported.name, reported.version) == (True, True, "relevance", __version__)
    parts.report = Report(database=False)
    assert run(parts, call_method)[:2] == (True, False)


@pytest.mark.parametrize("version", ["", "1", "champion"])
def test_a_model_states_what_it_reads_and_returns(parts: SmallParts, version: str) -> None:
    async def call_method(client: Client) -> tuple[bool, messages.ModelMetadataResponse]:
        requested = messages.ModelReadyRequest(name="small", version=version)
        ready = await client.call_method("ModelReady", requested, messages.ModelReadyResponse)
        described = messages.ModelMetadataRequest(name="small", version=version)
        return ready.ready, await client.call_method("ModelMetadata", described, messages.ModelMetadataResponse)

    ready, reported = run(parts, call_method)
    assert ready
    assert (reported.name, [*reported.versions], reported.platform) == (
        "small",
        ["2", "1", "champion"],
        "relevance_sparse_bayes",
    )
    assert [(one.name, one.datatype, [*one.shape]) for one in reported.inputs] == [
        ("x", "FP64", [-1]),
        ("colour", "BYTES", [-1]),
    ]
    assert reported.outputs[0].name == "mean"


def test_raw_and_typed_contents_get_the_same_predictions_as_rows(parts: SmallParts) -> None:
    typed = Tensor(
        name="input", datatype="FP64", shape=[2, 5], contents=Contents(fp64_contents=MATRIX.ravel().tolist())
    )
    response = infer(parts, raw())
    assert response == infer(parts, Infer(model_name="numbers", inputs=[typed]))
    served = parts.prediction.version(OWNER, "numbers")
    known = predict(served, PredictRequest(NumberBlock(served.number_names, MATRIX)))
    assert isinstance(known, RegressionPrediction)
    assert (values(response, "mean"), values(response, "sd")) == (known.mean.tolist(), known.sd.tolist())
    assert [[*output.shape] for output in response.outputs] == [[2]] * len(response.outputs)


def test_versions_ids_outputs_and_parameters_are_heeded(parts: SmallParts) -> None:
    requested = mixed()
    requested.model_version, requested.id = "champion", "mine"
    requested.outputs.extend([RequestedOutput(name="upper"), RequestedOutput(name="mean")])
    usual = infer(parts, requested)
    assert (usual.model_name, usual.model_version, usual.id) == ("small", "1", "mine")
    assert [output.name for output in usual.outputs] == ["upper", "mean"]
    requested.parameters["interval"].CopyFrom(Parameter(double_param=0.5))
    narrow = infer(parts, requested)
    assert values(narrow, "mean") == values(usual, "mean")
    assert values(narrow, "upper")[0] < values(usual, "upper")[0]
    requested.model_name, requested.model_version = "small@champion", ""
    assert infer(parts, requested).model_version == "1"


def test_rows_with_unknown_categories_are_predicted_with_a_note_or_refused_by_a_parameter(parts: SmallParts) -> None:
    requested = mixed()
    assert "unknown_categories" not in infer(parts, requested).parameters
    requested.inputs[1].contents.CopyFrom(Contents(bytes_contents=[b"red", b"green"]))
    response = infer(parts, requested)
    assert np.isfinite(values(response, "mean")).all()
    note = json.loads(response.parameters["unknown_categories"].string_param)
    assert note == [{"row": 1, "column": "colour", "value": "green"}]
    requested.parameters["unknown_categories"].CopyFrom(Parameter(string_param="error"))
    status, detail = refused(parts, requested)
    assert status == "INVALID_ARGUMENT"
    assert "`colour` is 'green', which did not occur in training" in detail
    requested.parameters["unknown_categories"].CopyFrom(Parameter(double_param=1.0))
    assert "The parameter `unknown_categories`: expected a string." in refused(parts, requested)[1]


def test_classes_are_texts_with_their_probabilities(parts: SmallParts) -> None:
    response = infer(parts, mixed("states"))
    reported = {output.name: output for output in response.outputs}
    assert reported["label"].datatype == "BYTES"
    assert [*reported["probabilities"].shape] == [2, 3]
    assert reported["probabilities"].parameters["classes"].string_param == '["gas","liquid","solid"]'


@pytest.mark.parametrize(
    ("datatype", "contents"),
    [
        ("FP32", Contents(fp32_contents=[1.0, 3.0])),
        ("INT8", Contents(int_contents=[1, 3])),
        ("INT64", Contents(int64_contents=[1, 3])),
        ("UINT16", Contents(uint_contents=[1, 3])),
        ("UINT64", Contents(uint64_contents=[1, 3])),
    ],
)
def test_numbers_of_any_type_do(parts: SmallParts, datatype: str, contents: messages.InferTensorContents) -> None:
    requested, usual = mixed(), mixed()
    requested.inputs[0].CopyFrom(Tensor(name="x", datatype=datatype, shape=[2], contents=contents))
    usual.inputs[0].contents.fp64_contents[:] = [1.0, 3.0]
    assert infer(parts, requested) == infer(parts, usual)


def _changed(change: Callable[[messages.ModelInferRequest], object]) -> messages.ModelInferRequest:
    requested = mixed()
    change(requested)
    return requested


@pytest.mark.parametrize(
    ("requested", "code", "expected"),
    [
        (Infer(model_name="nothing"), "NOT_FOUND", "There is no model 'nothing'."),
        (_changed(lambda one: setattr(one, "model_version", "7")), "NOT_FOUND", "no version 7"),
        (_changed(lambda one: one.inputs.pop()), "INVALID_ARGUMENT", "colour"),
        (_changed(lambda one: one.inputs.append(one.inputs[0])), "INVALID_ARGUMENT", "got one twice"),
        (_changed(lambda one: one.inputs[0].shape.__setitem__(0, 3)), "INVALID_ARGUMENT", "expected 3 values"),
        (_changed(lambda one: setattr(one.inputs[0], "datatype", "FP32")), "INVALID_ARGUMENT", "fp32_contents"),
        (_changed(lambda one: setattr(one.inputs[0], "datatype", "FP16")), "INVALID_ARGUMENT", "data type"),
        (_changed(lambda one: one.outputs.add(name="median")), "INVALID_ARGUMENT", "got 'median'"),
        (_changed(lambda one: one.raw_input_contents.append(b"")), "INVALID_ARGUMENT", "raw contents of 2 inputs"),
        (
            _changed(lambda one: one.raw_input_contents.extend([b"", b""])),
            "INVALID_ARGUMENT",
            "either typed or raw contents, got both",
        ),
        (
            _changed(lambda one: one.inputs[1].contents.bytes_contents.__setitem__(0, b"\xff")),
            "INVALID_ARGUMENT",
            "not UTF-8",
        ),
        (
            _changed(lambda one: one.parameters["sequence_id"].MergeFrom(Parameter(int64_param=1))),
            "INVALID_ARGUMENT",
            "`sequence_id` is of an unsupported extension",
        ),
        (
            _changed(lambda one: one.parameters["interval"].MergeFrom(Parameter(double_param=2.0))),
            "INVALID_ARGUMENT",
            "between 0 and 1",
        ),
        (
            _changed(lambda one: one.parameters["interval"].MergeFrom(Parameter(bool_param=True))),
            "INVALID_ARGUMENT",
            "expected a double",
        ),
        (_changed(lambda one: setattr(one, "model_name", "sm\0all")), "NOT_FOUND", "no model"),
        (
            _changed(lambda one: one.inputs[1].contents.bytes_contents.__setitem__(0, b"re\0d")),
            "INVALID_ARGUMENT",
            "contains NUL",
        ),
        (raw(rows=6), "RESOURCE_EXHAUSTED", "split the request"),
        (raw(rows=200), "RESOURCE_EXHAUSTED", ""),
    ],
)
def test_what_can_not_be_done_is_stated(
    parts: SmallParts, requested: messages.ModelInferRequest, code: str, expected: str
) -> None:
    given, detail = refused(parts, requested)
    assert given == code, detail
    assert expected in detail


def test_who_does_not_know_the_key_may_only_probe(parts: SmallParts) -> None:
    rules = replace(RULES, authenticator=OneKey("secret"))
    metadata, response_type = messages.ServerMetadataRequest(), messages.ServerMetadataResponse

    def call_method(*authorization: str) -> Callable[[Client], Coroutine[None, None, messages.ServerMetadataResponse]]:
        return lambda client: client.call_method("ServerMetadata", metadata, response_type, *authorization)

    async def probe(client: Client) -> bool:
        return (await client.call_method("ServerLive", messages.ServerLiveRequest(), messages.ServerLiveResponse)).live

    assert run(parts, probe, rules)
    assert run(parts, call_method("bearer secret"), rules).name == "relevance"
    for wrong in ((), ("Bearer other",), ("Bearer secret", "Bearer secret")):
        with pytest.raises(grpc.aio.AioRpcError, match="Send a valid API key") as refusal:
            run(parts, call_method(*wrong), rules)
        assert refusal.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_calls_accept_tokens_of_an_issuer_and_refuse_all_others(parts: SmallParts) -> None:
    metadata, response_type = messages.ServerMetadataRequest(), messages.ServerMetadataResponse
    with serving_tokens() as issuer:
        authenticator = TokenAuthenticator(
            KeyAuthenticator(parts.transaction, needs_keys=True),
            IssuerKeys(Issuer(issuer.url)),
            TokenRules(issuer.url, AUDIENCE),
        )
        rules = replace(RULES, authenticator=authenticator)

        def call(token: str) -> Callable[[Client], Coroutine[None, None, messages.ServerMetadataResponse]]:
            return lambda client: client.call_method("ServerMetadata", metadata, response_type, f"Bearer {token}")

        assert run(parts, call(issuer.token()), rules).name == "relevance"
        for token in refused_tokens(issuer):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                run(parts, call(token), rules)
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_calls_need_the_scope_predict_and_metadata_either(parts: SmallParts) -> None:
    async def metadata(client: Client) -> str:
        requested = messages.ModelMetadataRequest(name="numbers")
        return (
            await client.call_method("ModelMetadata", requested, messages.ModelMetadataResponse, "Bearer secret")
        ).name

    async def infer(client: Client) -> str:
        return (await client.call_method("ModelInfer", raw(), messages.ModelInferResponse, "Bearer secret")).model_name

    def rules(*scopes: KeyScope, owner: str = OWNER) -> RpcRules:
        return replace(RULES, authenticator=OneKey("secret", Principal(owner, frozenset(scopes))))

    assert run(parts, metadata, rules("read")) == run(parts, metadata, rules("predict")) == "numbers"
    assert run(parts, infer, rules("predict")) == run(parts, infer, rules("admin")) == "numbers"
    with pytest.raises(grpc.aio.AioRpcError, match="needs the scope predict; it has read, train") as refusal:
        run(parts, infer, rules("read", "train"))
    assert refusal.value.code() is grpc.StatusCode.PERMISSION_DENIED
    (entry,) = parts.audit.page(OWNER, PageRequest(10), AuditFilter("request.refused")).items
    assert (entry.resource, entry.details["status"]) == ("/inference.GRPCInferenceService/ModelInfer", 403)
    assert (entry.actor.kind, entry.address) == ("anonymous", "127.0.0.1")
    for call in (metadata, infer):
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            run(parts, call, rules("admin", owner="acme"))
        assert refusal.value.code() is grpc.StatusCode.NOT_FOUND


def test_without_its_database_the_service_is_unavailable(parts: SmallParts, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise UnavailableError("The database does not answer.")

    monkeypatch.setattr(parts.prediction, "version", away)
    assert refused(parts, mixed()) == ("UNAVAILABLE", "The database does not answer.")


def test_calls_are_counted(parts: SmallParts) -> None:
    async def call_method(client: Client) -> None:
        await client.infer(raw())
        with pytest.raises(grpc.aio.AioRpcError):
            await client.infer(Infer(model_name="numbers"))

    run(parts, call_method)
    version = parts.prediction.version(OWNER, "numbers").version
    counted = parts.prediction.counters.until_now(version)
    assert (counted.requests, counted.failed, counted.rows) == (2, 1, 2)


def test_what_nobody_foresaw_is_not_reported_but_logged(
    parts: SmallParts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr(parts.prediction, "version", broken)
    assert refused(parts, mixed()) == ("INTERNAL", "The service failed unexpectedly.")
    assert "a secret of the inside" in capsys.readouterr().out


def test_a_port_that_is_taken_is_stated_to_be(parts: SmallParts) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        rules = replace(RULES, port=listening.getsockname()[1])
        with pytest.raises(CantListen, match=f"127.0.0.1:{rules.port}"):
            run(parts, lambda client: client.infer(raw()), rules)


def test_a_stop_ends_open_calls_in_order_and_then_takes_no_more(
    parts: SmallParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutdown, has_begun, may_end = Shutdown(lambda: None, drains=True), Event(), Event()
    may_end.set()

    def ready() -> Report:
        has_begun.set()
        assert may_end.wait(10)
        return Report()

    monkeypatch.setattr(parts, "ready", ready)

    async def is_ready(client: Client) -> bool:
        return (
            await client.call_method("ServerReady", messages.ServerReadyRequest(), messages.ServerReadyResponse)
        ).ready

    async def stop() -> None:
        async with connected(parts, RULES, shutdown) as client:
            assert await is_ready(client)
            shutdown.request()
            assert not await is_ready(client)
            has_begun.clear()
            may_end.clear()
            open_call = asyncio.create_task(is_ready(client))
            assert await asyncio.to_thread(has_begun.wait, 10)
            shutdown.close()
            await asyncio.sleep(0.2)
            with pytest.raises(grpc.aio.AioRpcError) as refusal:
                await is_ready(client)
            assert refusal.value.code() is grpc.StatusCode.UNAVAILABLE
            assert not open_call.done()
            may_end.set()
            assert not await open_call

    asyncio.run(asyncio.wait_for(stop(), 20))


def test_calls_above_the_rates_of_their_owner_are_refused(parts: SmallParts) -> None:
    rates = OwnerRates(OwnerLimits(requests_per_second=3, rows_per_second=2), 1, lambda: 0.0)
    rules = replace(RULES, rate_limits=Limits(rates))

    async def call_method(client: Client) -> tuple[str, str, object]:
        live = [await client.call_method("ServerLive", messages.ServerLiveRequest(), messages.ServerLiveResponse)]
        assert live[0].live
        await client.infer(raw(rows=2))
        refusals = []
        for _ in range(3):
            with pytest.raises(grpc.aio.AioRpcError) as refusal:
                await client.infer(raw(rows=2))
            assert refusal.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            refusals.append(refusal.value)
        first, _, last = refusals
        return first.details() or "", last.details() or "", dict(last.trailing_metadata() or ()).get("retry-after")

    assert run(parts, call_method, rules) == (
        "Expected at most 2 predicted rows per second of this owner, got more: retry after 1 s.",
        "Expected at most 3 requests per second of this owner, got more: retry after 1 s.",
        "1",
    )


def test_rows_that_are_averages_are_charged_what_they_cost_and_bounded(
    parts: SmallParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.prediction.runner.MIN_MAX_AVERAGED", 1)
    rates = OwnerRates(OwnerLimits(rows_per_second=1_000), 1, lambda: 0.0)

    async def call_method(client: Client) -> str:
        unknown = mixed()
        unknown.inputs[1].contents.bytes_contents[0] = b"green"
        await client.infer(unknown)
        assert rates.buckets["rows"].tokens == 1_000 - 65
        unknown.inputs[1].contents.bytes_contents[1] = b"green"
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await client.infer(unknown)
        assert rates.buckets["rows"].tokens == 1_000 - 65
        return f"{refusal.value.code().name}: {refusal.value.details()}"

    found = run(parts, call_method, replace(RULES, rate_limits=Limits(rates)))
    expected = "at most 1 rows with missing values or unknown categories, each of which is predicted as 64 rows, got 2"
    assert found == f"RESOURCE_EXHAUSTED: Expected {expected}; split the request."


class Limits:
    """The same rates for every owner."""

    def __init__(self, rates: OwnerRates) -> None:
        self._rates = rates

    def of(self, owner: str) -> OwnerRates:
        return self._rates
