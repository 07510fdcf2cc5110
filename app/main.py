"""The API as an ASGI server starts it: `uvicorn --factory app.main:create_app`."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TypeAlias

from fastapi import APIRouter, FastAPI
from fastapi_offline import FastAPIOffline
from pydantic import TypeAdapter

from app import __version__
from app.accounts import limit_routes as limits_of_owners
from app.accounts import routes as accounts
from app.accounts import session_routes as sessions
from app.addresses import Allowance
from app.audit import routes as audit
from app.datasets import routes as datasets
from app.datasets.routes import DATASET_IN
from app.evaluation import promotion_routes as promotions
from app.evaluation import routes as evaluations
from app.evaluation.jobs import EVALUATION, PROMOTION_OPTIONS
from app.evaluation.responses import COMPARE_IN
from app.exports import routes as exports
from app.http import health, metrics, openapi
from app.http.authentication import AllowAny, Authenticator, Reauthentication
from app.http.cross_origin import CrossOrigin
from app.http.dependencies import RequestLimits, Services
from app.http.handlers import add_handlers
from app.http.health import PORT_BESIDE, SHUTDOWN, ReadinessProbe, Shutdown, on_shutdown
from app.http.middleware import Entrance, HeadRequests, Rules
from app.http.openapi import Schema, document
from app.http.origins import Hosts
from app.http.problems import InferenceProblemOut, ProblemOut
from app.http.rate_limits import RateLimits, Unlimited
from app.http.telemetry import RequestMetrics
from app.inference import routes as inference
from app.inference.schemas import INFERENCE_IN
from app.jobs import routes as jobs
from app.jobs.waiter import JobWaiter, WaitingRequests
from app.logs import configure_logging
from app.outcomes import routes as outcomes
from app.outcomes.routes import OUTCOMES_IN
from app.prediction import routes as predictions
from app.prediction.batch_jobs import BATCH_PREDICTION_IN
from app.prediction.routes import PROFILE_IN
from app.prediction.runner import PredictionRunner
from app.prediction.schemas import PREDICT_IN
from app.registry import routes as models
from app.registry.annotations import ANNOTATION_IN, MODEL_CHANGE_IN
from app.registry.routes import ALIAS_IN
from app.registry.trainings import TRAINING
from app.server.server import connections_within, raise_descriptor_limit
from app.services import Parts, ProcessParts, build
from app.settings import Settings, read_settings
from app.tasks import routes as training_jobs
from app.tracing.spans import NO_TRACER, Tracer
from app.web import routes as web
from app.webhooks import routes as webhooks
from relevance_bayes.documents.schema import DOCUMENT

DESCRIPTION = """\
Calibrated predictions from sparse Bayesian models (relevance vector machines).

Upload a table, start a training job, and predict: each prediction is a distribution, not just a number.
Every response that is not a success is a problem (RFC 9457) that states what is wrong, where, and how to correct it.
"""

TAGS = [
    {"name": "Datasets", "description": "Tables to learn from; immutable once uploaded."},
    {"name": "Training jobs", "description": "Jobs that train a version of a model on a dataset."},
    {"name": "Models", "description": "Names with numbered, immutable versions."},
    {"name": "Predictions", "description": "A distribution for each row."},
    {"name": "Outcomes", "description": "What happened, compared with what was predicted."},
    {"name": "Batch predictions", "description": "Jobs that predict a whole dataset and write a file to download."},
    {"name": "Jobs", "description": "Jobs of all kinds in one list, and their changes in one stream."},
    {"name": "Evaluations", "description": "Jobs that compute the metrics of a version on a dataset."},
    {"name": "Promotions", "description": "Jobs that move an alias to a version if it is better on a dataset."},
    {"name": "Open Inference Protocol", "description": "Version 2: tensors in and out, for existing clients."},
    {"name": "Webhooks", "description": "URLs that receive a message when a job has ended."},
    {"name": "API keys", "description": "Keys that authenticate requests, with scopes and a time of expiry."},
    {"name": "Members", "description": "Other owners that may act in a project, each with a role."},
    {"name": "Sessions", "description": "A cookie that authenticates the requests of a page in a browser."},
    {"name": "Limits", "description": "Rates and quotas of owners, and what they use of them."},
    {"name": "Audit", "description": "Changes of the owner's resources: who made them, when and from where."},
    {"name": "Service", "description": "The page for browsers, and links for programs; no API key is needed."},
    {"name": "Health", "description": "Health checks; no API key is needed."},
]

SCHEMAS: Mapping[str, Schema] = {
    "DatasetIn": DATASET_IN,
    "TrainingRequest": TRAINING.request.adapter,
    "EvaluationRequest": EVALUATION.request.adapter,
    "PromotionOptions": PROMOTION_OPTIONS,
    "BatchPredictionIn": BATCH_PREDICTION_IN,
    "PredictIn": PREDICT_IN,
    "CompareIn": COMPARE_IN,
    "ProfileIn": PROFILE_IN,
    "InferenceIn": INFERENCE_IN,
    "OutcomesIn": OUTCOMES_IN,
    "AliasIn": ALIAS_IN,
    "AnnotationIn": ANNOTATION_IN,
    "ModelChangeIn": MODEL_CHANGE_IN,
    "ApiKeyIn": accounts.API_KEY,
    "RotationIn": accounts.ROTATION,
    "OwnerLimitsIn": limits_of_owners.OWNER_LIMITS,
    "MemberIn": accounts.MEMBER,
    "WebhookIn": webhooks.WEBHOOK,
    "WebhookChangeIn": webhooks.WEBHOOK_CHANGE,
    "VersionDocument": DOCUMENT,
    "ProblemOut": TypeAdapter(ProblemOut),
    "InferenceProblemOut": TypeAdapter(InferenceProblemOut),
}
"""The bodies that routes decode themselves, by the schema names in the routes' documentation."""

ROUTES = APIRouter()
"""Shared by all applications of this process, with what FastAPI computes from them at the first request."""

for _router in (
    training_jobs.router,
    jobs.events_of("training", tag="Training jobs", summary="List the events of a training job"),
    jobs.router,
    evaluations.router,
    jobs.events_of("evaluation", tag=evaluations.TAG, summary="List the events of an evaluation"),
    promotions.router,
    jobs.events_of("promotion", tag=promotions.TAG, summary="List the events of a promotion"),
    predictions.batch_router,
    predictions.batch_files,
    jobs.events_of("prediction", tag=predictions.TAG, summary="List the events of a batch prediction"),
    datasets.router,
    datasets.image_router,
    models.router,
    training_jobs.version_router,
    models.version_router,
    predictions.statistics_router,
    evaluations.of_versions,
    promotions.of_aliases,
    exports.router,
    web.report_router,
    predictions.version_router,
    models.alias_router,
    evaluations.comparisons,
    predictions.profile_router,
    outcomes.router,
    webhooks.router,
    accounts.router,
    accounts.member_router,
    accounts.projects_router,
    sessions.router,
    limits_of_owners.router,
    audit.router,
    health.router,
    metrics.router,
    predictions.router,
    inference.statistics_router,  # before the routes of a model, which may be named `stats`
    inference.router,
    inference.inferences,
    openapi.router,
    web.router,
):
    ROUTES.include_router(_router)

State: TypeAlias = Mapping[str, int | Shutdown | None]
Beside: TypeAlias = Callable[[Services], AbstractAsyncContextManager[int]]


def make_application(
    parts: Parts,
    limits: RequestLimits,
    *,
    authenticator: Authenticator | None = None,
    rate_limits: RateLimits | None = None,
    tracer: Tracer | None = None,
    log_requests: bool = True,
    start: Callable[[], None] | None = None,
    close: Callable[[], None] | None = None,
    beside: Beside | None = None,
    cors_origins: Sequence[str] = (),
    hosts: Hosts | None = None,
) -> FastAPI:
    """Return the application; /v1 and /v2 need what the `authenticator` requires, nothing without one.

    Owners send requests and predict rows at the rates of `rate_limits`, without them at any. The `tracer` traces
    requests.

    `start` is called at the start, and `close` at shutdown. Event streams, which stay open for as long as their clients
    read, end as soon as the process or its server shuts down. The server `beside` runs during the application's
    lifespan on the same event loop; the lifespan's state has its port. Pages of `cors_origins` may call the application
    from a browser. `hosts` are those that requests may name where they need no key.
    """
    authenticator = authenticator or AllowAny()
    runner = PredictionRunner(
        parts.prediction,
        limits.max_prediction_rows,
        limits.max_body_bytes,
        limits.spool_directory,
        record=parts.recorder.note,
    )
    shutdown = Shutdown(parts.watcher.stop)
    services = Services(
        *parts.services(),
        JobWaiter(parts.jobs, parts.watcher, WaitingRequests(limits.max_connections)),
        Reauthentication(authenticator),
        ReadinessProbe(lambda: parts.ready()),
        runner,
        shutdown,
        limits,
    )
    app = FastAPIOffline(
        docs_url=None,
        redoc_url=None,
        title="Relevance",
        version=__version__,
        description=DESCRIPTION,
        openapi_tags=TAGS,
        redirect_slashes=False,
        lifespan=_lifespan(parts, start, close, shutdown, None if beside is None else lambda: beside(services)),
        telemetry={"tracing": False, "metrics": False, "logs": False},
        routes=ROUTES.routes,
    )
    app.state.services = services
    app.webhooks.include_router(webhooks.messages)
    add_handlers(app)
    document(app, SCHEMAS, protected=authenticator.needs_keys)
    uploads = frozenset({("POST", "/v1/datasets")})
    rules = Rules(
        authenticator,
        limits.max_body_bytes,
        elsewhere=uploads,
        log=log_requests,
        metrics=RequestMetrics(parts.metrics.numbers),
        rate_limits=rate_limits or Unlimited(),
        refusals=parts.refusals,
        tracer=tracer,
        hosts=hosts or Hosts(origins=frozenset(cors_origins)),
    )
    app.add_middleware(HeadRequests)
    app.add_middleware(Entrance, rules, (predictions.fast_path(runner), inference.fast_path(runner)))
    if cors_origins:
        app.add_middleware(CrossOrigin, cors_origins)
    return app


def _lifespan(
    parts: Parts,
    start: Callable[[], None] | None,
    close: Callable[[], None] | None,
    shutdown: Shutdown,
    beside: Callable[[], AbstractAsyncContextManager[int]] | None,
) -> Callable[[FastAPI], AbstractAsyncContextManager[State]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        async with AsyncExitStack() as stack:
            port = None if beside is None else await stack.enter_async_context(beside())
            if start is not None:
                start()
            with on_shutdown(shutdown.request):
                yield {PORT_BESIDE: port, SHUTDOWN: shutdown}
        parts.watcher.close()
        if close is not None:
            close()

    return lifespan


def create_app(settings: Settings | None = None, parts: ProcessParts | None = None) -> FastAPI:
    """Return the application; `settings` and `parts` not given are made, and closed at shutdown."""
    if settings is None:  # an ASGI server called, and nobody has set this process up
        settings = read_settings()
        configure_logging(settings.log_level)
    limits = RequestLimits(
        max_upload_bytes=settings.max_upload_bytes,
        max_body_bytes=settings.max_body_bytes,
        max_rows=settings.max_rows,
        max_columns=settings.max_columns,
        max_prediction_rows=settings.max_prediction_rows,
        spool_directory=settings.spool_directory,
        max_connections=settings.max_connections or connections_within(raise_descriptor_limit()),
    )
    built = build(settings) if parts is None else parts
    tracer = None if built.tracer is NO_TRACER else built.tracer
    return make_application(
        built,
        limits,
        authenticator=built.authenticator,
        rate_limits=built.rate_limits,
        tracer=tracer,
        log_requests=settings.log_requests,
        start=built.heartbeat.start if parts is None else None,
        close=built.close if parts is None else None,
        beside=_rpc(settings, built, tracer),
        cors_origins=settings.allowed_origins,
        hosts=_hosts(settings),
    )


def _hosts(settings: Settings) -> Hosts:
    allowed = Allowance.of(settings.allowed_hosts or "")
    return Hosts(allowed, frozenset(settings.allowed_origins), own_address=settings.insecure)


def _rpc(settings: Settings, parts: ProcessParts, tracer: Tracer | None) -> Beside | None:
    """Return the server of the protocol over gRPC, where a port is set."""
    if settings.grpc_port is None:
        return None
    # Imported only when enabled: it takes memory, and the package is optional.
    from app.inference.rpc.service import RpcRules, serving

    rules = RpcRules(
        settings.host,
        settings.grpc_port,
        parts.authenticator,
        settings.max_body_bytes,
        settings.log_requests,
        max_metadata_bytes=settings.max_header_bytes,
        grace_seconds=settings.grace_seconds,
        rate_limits=parts.rate_limits,
        tracer=tracer,
        hosts=_hosts(settings),
    )
    return lambda services: serving(services, rules)
