"""The Open Inference Protocol, version 2, for every version of every model."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from fastapi import APIRouter, Request, Response
from starlette.types import Receive, Scope, Send

from app import __version__
from app.errors import MalformedBodyError
from app.http.bodies import LargeBody
from app.http.content_encodings import expanded
from app.http.dependencies import Owner, Services, ServicesDependency, content_encoding_of
from app.http.fast_path import FastPath, RawRoute, documented, reference_of
from app.http.health import ReadinessDependency, ShutdownDependency
from app.http.openapi import inference_problems, json_body
from app.http.paths import INFERENCE
from app.http.references import ModelName, VersionName
from app.inference.schemas import (
    IndexedOut,
    InferenceDoneOut,
    InferenceLiveOut,
    InferenceModelOut,
    InferenceOut,
    InferenceReadyOut,
    InferenceServerOut,
    InferenceStatisticsOut,
    ModelReadyOut,
    ModelStatisticsOut,
    TensorKindOut,
)
from app.inference.signature import EXTENSIONS, PLATFORM, SERVER, described
from app.inference.tensor_codec import RenderedTensors, TensorCodec
from app.prediction.runner import Codec, DeferredCodec, PredictionRunner, runner_of
from app.prediction.served_versions import ServedVersions
from app.prediction.usage_counts import Counted
from app.registry.catalogue import Catalogue
from app.registry.records import Version
from relevance_bayes.records.models import Reference

HEADER_LENGTH = b"inference-header-content-length"

_JSON, _BINARY = b"application/json", b"application/octet-stream"

Headers: TypeAlias = list[tuple[bytes, bytes]]

router = APIRouter(prefix=INFERENCE, tags=["Open Inference Protocol"])
inferences = APIRouter(prefix=INFERENCE, tags=["Open Inference Protocol"], route_class=RawRoute)


@router.get("/", include_in_schema=False)
@router.get("", summary="Get the metadata of the server", responses=inference_problems(401))
async def server() -> InferenceServerOut:
    """Return the server's name, version and supported extensions."""
    return InferenceServerOut(name=SERVER, version=__version__, extensions=EXTENSIONS)


@router.get("/health/live", summary="Check liveness of the server")
async def live() -> InferenceLiveOut:
    """Respond with 200 while the process runs."""
    return InferenceLiveOut(live=True)


@router.get(
    "/health/ready",
    summary="Check readiness of the server",
    responses={503: {"model": InferenceReadyOut, "description": "Not ready"}},
)
async def ready(report: ReadinessDependency, shutdown: ShutdownDependency, response: Response) -> InferenceReadyOut:
    """Respond with 200 while the process can predict and does not shut down, else with 503."""
    is_ready = report.can_predict and not shutdown.is_requested
    if not is_ready:
        response.status_code = 503
    return InferenceReadyOut(live=True, ready=is_ready)


@router.get("/models/{name}", summary="Get the metadata of a model", responses=inference_problems(404))
def model(name: ModelName, owner: Owner, services: ServicesDependency) -> InferenceModelOut:
    """Return its versions, including aliases, and the tensors of the newest one, or of the alias in `name@alias`."""
    return _model(services, owner, Reference.read(name))


@router.get(
    "/models/{name}/versions/{version}", summary="Get the metadata of a version", responses=inference_problems(404)
)
def version(name: ModelName, version: VersionName, owner: Owner, services: ServicesDependency) -> InferenceModelOut:
    """Return its tensors."""
    return _model(services, owner, Reference.of(name, version))


@router.get("/models/{name}/ready", summary="Check readiness of a model", responses=inference_problems(404, 503))
def model_ready(name: ModelName, owner: Owner, services: ServicesDependency) -> ModelReadyOut:
    """Respond with 200 for an existing model: all versions are ready."""
    return _ready(services, owner, Reference.read(name))


@router.get(
    "/models/{name}/versions/{version}/ready",
    summary="Check readiness of a version",
    responses=inference_problems(404, 503),
)
def version_ready(name: ModelName, version: VersionName, owner: Owner, services: ServicesDependency) -> ModelReadyOut:
    """Respond with 200 for an existing version: all versions are ready."""
    return _ready(services, owner, Reference.of(name, version))


@router.post("/repository/index", summary="List all versions of all models", responses=inference_problems(401))
def index(owner: Owner, services: ServicesDependency) -> Sequence[IndexedOut]:
    """Return versions by number, and aliases by name. All of them are ready; the body is ignored."""
    return [
        IndexedOut(name=reference.model, version=str(reference.version), state="READY", reason="")
        for reference in services[Catalogue].everything(owner)
    ]


@router.post("/repository/models/{name}/load", summary="Load a model", responses=inference_problems(404))
def load(name: ModelName, owner: Owner, services: ServicesDependency) -> InferenceDoneOut:
    """Load a model into the cache now; otherwise it is loaded by its first request."""
    services[ServedVersions].version(owner, *Reference.read(name))
    return InferenceDoneOut()


@router.post("/repository/models/{name}/unload", summary="Unload a model", responses=inference_problems(404))
def unload(name: ModelName, owner: Owner, services: ServicesDependency) -> InferenceDoneOut:
    """Has no effect: the cache evicts models when necessary."""
    services[Catalogue].version(owner, Reference.read(name))
    return InferenceDoneOut()


def _model(services: Services, owner: str, reference: Reference) -> InferenceModelOut:
    found = described(services, owner, reference)
    return InferenceModelOut(
        name=found.name,
        versions=found.versions,
        platform=PLATFORM,
        inputs=[TensorKindOut.of(kind) for kind in found.inputs],
        outputs=[TensorKindOut.of(kind) for kind in found.outputs],
    )


def _ready(services: Services, owner: str, reference: Reference) -> ModelReadyOut:
    services[ServedVersions].version(owner, *reference)
    return ModelReadyOut(name=reference.model, ready=True)


_BODY = json_body("InferenceIn")
_RESPONSES: Mapping[int | str, dict[str, object]] = {
    200: {
        "description": f"The requested tensors, where requested as bytes after the JSON, then with "
        f"`{HEADER_LENGTH.decode().title()}`.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    },
    **inference_problems(400, 404, 413),
}


@inferences.post(
    "/models/{name}/infer",
    summary="Infer with the newest version, or an alias",
    response_model=InferenceOut,
    openapi_extra=documented("name@alias", body=_BODY),
    responses={**_RESPONSES},
)
async def infer(request: Request) -> Response:
    """Tensors in and out, in JSON or binary. New versions and moved aliases take effect within a second."""
    return await _respond(request)


@inferences.post(
    "/models/{name}/versions/{version}/infer",
    summary="Infer with one version",
    response_model=InferenceOut,
    openapi_extra=documented("name", "version", body=_BODY),
    responses={**_RESPONSES},
)
async def infer_by_version(request: Request) -> Response:
    """Tensors in and out, in JSON or binary."""
    return await _respond(request)


def fast_path(runner: PredictionRunner) -> FastPath:
    """Return the fast path of inference; the framework's routes serve an application mounted below another path."""

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        found, headers = await _inferred(scope, receive, runner)
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        *before, last = found.pieces
        for piece in before:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": last})

    return FastPath(f"{INFERENCE}/models", "infer", respond)


async def _respond(request: Request) -> Response:
    found, headers = await _inferred(request.scope, request.receive, runner_of(request))
    return Response(b"".join(found.pieces), headers=dict(_texts(headers)))


async def _inferred(scope: Scope, receive: Receive, runner: PredictionRunner) -> tuple[RenderedTensors, Headers]:
    """Return the rendered response; Content-Type is ignored, since clients send any or none for JSON."""
    reference, length = reference_of(scope), _header_length(scope)
    is_encoded = any(name == b"content-encoding" for name, _ in scope["headers"])
    encoding = content_encoding_of(Request(scope)) if is_encoded else ""
    body = await runner.bodies.receive(receive)
    try:
        served = await runner.served(scope["state"]["principal"].owner, reference)
        (found,), _ = await runner.predict(served, _codec(body, length, encoding, runner), receive)
    finally:
        if not isinstance(body, bytes):
            body.close()
    headers = [(b"content-length", b"%d" % found.length)]
    if found.header_length is None:
        return found, [*headers, (b"content-type", _JSON)]
    return found, [*headers, (b"content-type", _BINARY), (HEADER_LENGTH, b"%d" % found.header_length)]


def _codec(
    body: bytes | LargeBody, header_length: int | None, encoding: str, runner: PredictionRunner
) -> Codec[RenderedTensors]:
    if isinstance(body, bytes) and not encoding:
        return TensorCodec(body, header_length, runner.max_rows)

    def codec_of(content: bytes) -> TensorCodec:
        return TensorCodec(expanded(content, encoding, runner.max_bytes), header_length, runner.max_rows)

    return DeferredCodec(body, codec_of)


def _header_length(scope: Scope) -> int | None:
    """Return the number of first bytes of the body that are JSON, None for all."""
    for name, value in scope["headers"]:
        if name == HEADER_LENGTH:
            if not value.isdigit() or len(value) > 10:
                raise MalformedBodyError(f"{HEADER_LENGTH.decode()}: expected the number of bytes that are JSON.")
            return int(value)
    return None


def _texts(headers: Headers) -> Iterator[tuple[str, str]]:
    return ((name.decode(), value.decode()) for name, value in headers)


statistics_router = APIRouter(prefix=f"{INFERENCE}/models", tags=["Open Inference Protocol"])


@statistics_router.get("/stats", summary="Get the statistics of all models", responses=inference_problems(401))
def statistics(owner: Owner, services: ServicesDependency) -> InferenceStatisticsOut:
    """Return statistics of all versions that this process has loaded. For a model named `stats`, use its versions."""
    return _shown(services[ServedVersions].counters.all(owner))


@statistics_router.get("/{name}/stats", summary="Get the statistics of a model", responses=inference_problems(404))
def model_statistics(name: ModelName, owner: Owner, services: ServicesDependency) -> InferenceStatisticsOut:
    """Return statistics of each version by number, or of the one of the alias in `name@alias`."""
    reference = Reference.read(name)
    if reference.version is None:
        return _of(services, services[Catalogue].every_version(owner, reference.model))
    return _of(services, [services[Catalogue].version(owner, reference)])


@statistics_router.get(
    "/{name}/versions/{version}/stats", summary="Get the statistics of a version", responses=inference_problems(404)
)
def version_statistics(
    name: ModelName, version: VersionName, owner: Owner, services: ServicesDependency
) -> InferenceStatisticsOut:
    """Return the requests and rows of this process since it started; each API process counts its own."""
    return _of(services, [services[Catalogue].version(owner, Reference.of(name, version))])


def _of(services: Services, versions: Iterable[Version]) -> InferenceStatisticsOut:
    counters = services[ServedVersions].counters
    return _shown((Reference(one.model, one.number), counters.until_now(one)) for one in versions)


def _shown(counted: Iterable[tuple[Reference, Counted]]) -> InferenceStatisticsOut:
    return InferenceStatisticsOut(model_stats=[ModelStatisticsOut.of(*one) for one in counted])
