"""The HTTP service as one ASGI application, put together from its parts."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TypeAlias

from fastapi import APIRouter, FastAPI
from fastapi_offline import FastAPIOffline

from app import __version__
from app.api import documentation_pages
from app.api.cross_origin import CrossOrigin
from app.api.dependencies import Limits, Parts
from app.api.documentation import document
from app.api.handlers import add_handlers
from app.api.head_requests import HeadRequests
from app.api.job_waiter import JobWaiter
from app.api.middleware import Entrance, Rules
from app.api.prediction import PredictionRunner
from app.api.readiness import ReadinessProbe
from app.api.routes import (
    aliases,
    batch_predictions,
    comparisons,
    datasets,
    evaluations,
    exports,
    health,
    inference,
    inference_statistics,
    job_events,
    models,
    predictions,
    promotions,
    reconstructions,
    training_jobs,
    webhooks,
)
from app.api.shutdown import Shutdown
from app.api.shutdown_signal import on_shutdown

DESCRIPTION = """\
Calibrated predictions from sparse Bayesian models (relevance vector machines).

Upload a table, ask for a training, and predict: each prediction is a distribution, not just a number.
Every answer that is not a success is a problem (RFC 9457) that says what is wrong, where, and what to do.
"""

TAGS = [
    {"name": "Datasets", "description": "Tables to learn from; once there, they never change."},
    {"name": "Training jobs", "description": "From a dataset to a version of a model, by a worker."},
    {"name": "Models", "description": "Names with numbered versions, which never change."},
    {"name": "Predictions", "description": "A distribution for each row."},
    {"name": "Batch predictions", "description": "A whole dataset's, as a file to be downloaded, by a worker."},
    {"name": "Evaluations", "description": "How good a version's predictions for a dataset are, by a worker."},
    {"name": "Promotions", "description": "An alias moves if a version is better, proved on a dataset."},
    {"name": "Open Inference Protocol", "description": "Version 2: tensors in and out, for clients that others wrote."},
    {"name": "Webhooks", "description": "URLs that are told when a job has ended."},
    {"name": "Health", "description": "For probes; needs no key."},
]

ROUTES = APIRouter()
"""Of every application of this process, which all share what FastAPI works out of them at the first request."""

for _router in (
    training_jobs.router,
    job_events.events_of("training", tag="Training jobs", summary="What happened to a training"),
    evaluations.router,
    job_events.events_of("evaluation", tag=evaluations.TAG, summary="What happened to an evaluation"),
    promotions.router,
    job_events.events_of("promotion", tag=promotions.TAG, summary="What happened to a promotion"),
    batch_predictions.router,
    batch_predictions.files,
    job_events.events_of("prediction", tag=batch_predictions.TAG, summary="What happened to a batch prediction"),
    datasets.router,
    models.router,
    evaluations.of_versions,
    promotions.of_aliases,
    exports.router,
    reconstructions.router,
    aliases.router,
    comparisons.router,
    webhooks.router,
    health.router,
    predictions.router,
    inference_statistics.router,  # before those of a model, since `stats` might be one
    inference.router,
    inference.inferences,
    documentation_pages.router,
):
    ROUTES.include_router(_router)

PORT_BESIDE = "port_beside"
"""Where in the lifespan's state the port is of what is open beside the application, None where nothing is."""

SHUTDOWN = "shutdown"
"""Where in the lifespan's state the server finds the `Shutdown` of the application."""

State: TypeAlias = Mapping[str, int | Shutdown | None]
Beside: TypeAlias = Callable[[PredictionRunner, Shutdown], AbstractAsyncContextManager[int]]


def make_application(
    parts: Parts,
    limits: Limits,
    *,
    api_key: str | None = None,
    log_requests: bool = True,
    close: Callable[[], None] | None = None,
    beside: Beside | None = None,
    cors_origins: Sequence[str] = (),
) -> FastAPI:
    """The application; with an `api_key`, /v1 and /v2 answer only to those who send it. `close` is called at shutdown.

    Streams of events, which are open for as long as their readers like, end as soon as the process is asked to end, or
    when the server that runs it says so.
    What is `beside` it is open while it is, on the same event loop, and its lifespan's state says at which port.
    Pages of `cors_origins` may call the application from a browser.
    """
    runner = PredictionRunner(
        parts.prediction, limits.max_prediction_rows, limits.max_body_bytes, limits.spool_directory
    )
    shutdown = Shutdown(parts.watcher.stop)
    app = FastAPIOffline(
        docs_url=None,
        redoc_url=None,
        title="Relevance",
        version=__version__,
        description=DESCRIPTION,
        openapi_tags=TAGS,
        redirect_slashes=False,
        lifespan=_lifespan(parts, close, shutdown, None if beside is None else lambda: beside(runner, shutdown)),
        telemetry={"tracing": False, "metrics": False, "logs": False},
        routes=ROUTES.routes,
    )
    app.state.parts = parts
    app.state.limits = limits
    app.state.shutdown = shutdown
    app.state.readiness = ReadinessProbe(lambda: parts.ready())
    app.state.job_waiter = JobWaiter(parts.jobs, parts.watcher)
    app.state.predictions = runner
    app.webhooks.include_router(webhooks.messages)
    add_handlers(app)
    document(app, protected=api_key is not None)
    uploads = frozenset({("POST", "/v1/datasets")})
    rules = Rules(api_key, limits.max_body_bytes, elsewhere=uploads, log=log_requests)
    app.add_middleware(HeadRequests)
    app.add_middleware(Entrance, rules, (predictions.fast_path(runner), inference.fast_path(runner)))
    if cors_origins:
        app.add_middleware(CrossOrigin, cors_origins)
    return app


def _lifespan(
    parts: Parts,
    close: Callable[[], None] | None,
    shutdown: Shutdown,
    beside: Callable[[], AbstractAsyncContextManager[int]] | None,
) -> Callable[[FastAPI], AbstractAsyncContextManager[State]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        async with AsyncExitStack() as stack:
            port = None if beside is None else await stack.enter_async_context(beside())
            with on_shutdown(shutdown.request):
                yield {PORT_BESIDE: port, SHUTDOWN: shutdown}
        parts.watcher.close()
        if close is not None:
            close()

    return lifespan
