"""The API as an ASGI server starts it: `uvicorn --factory app.main:create_app`."""

from fastapi import FastAPI

from app.addresses import Allowance
from app.application import Beside, make_application
from app.http.dependencies import Limits
from app.http.hosts import Hosts
from app.logs import configure_logging
from app.process_parts import ProcessParts
from app.server.limits import connections_within, raise_descriptor_limit
from app.settings import Settings, read_settings
from app.tracing.spans import NO_TRACER, Tracer
from app.wiring import build


def create_app(settings: Settings | None = None, parts: ProcessParts | None = None) -> FastAPI:
    """Return the application; `settings` and `parts` not given are made, and closed at shutdown."""
    if settings is None:  # an ASGI server called, and nobody has set this process up
        settings = read_settings()
        configure_logging(settings.log_level)
    limits = Limits(
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
    from app.inference.rpc.server import RpcRules, serving

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
