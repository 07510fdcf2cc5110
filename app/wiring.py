"""Construction of the service's parts from the settings; the one file that imports every part."""

import os
import signal
import socket
import time
from pathlib import Path
from threading import Event
from uuid import uuid4

from app.accounts.authenticator import KeyAuthenticator
from app.accounts.member_service import Members
from app.accounts.service import ApiKeys
from app.accounts.session_service import Sessions
from app.addresses import Allowance
from app.audit.refusals import LimitedRefusals
from app.audit.repository import store_changes
from app.audit.service import Audit
from app.database.engine import make_engine
from app.database.monitor import DatabaseMonitor
from app.database.notifier import MODELS, SqlNotifier
from app.database.pool_metrics import PoolMetrics
from app.database.reachability import Reachability
from app.database.transaction import OpenTransaction, now, open_transactions
from app.datasets.ingest import Ingest
from app.datasets.service import Datasets
from app.evaluation.runner import Scorer
from app.evaluation.service import Scoring
from app.exports.service import Exporting, Importing
from app.http.authentication import Authenticator
from app.http.idempotency_keys import Idempotency
from app.http.metrics_service import DatabaseMetrics, Metrics
from app.jobs import total_repository
from app.jobs.metrics import job_metrics
from app.jobs.queue.client import Control, EndedEntries, Submitter, make_client
from app.jobs.queue.engine import Engine
from app.jobs.queue.polling import AdaptivePolling
from app.jobs.service import Jobs
from app.jobs.watcher import JobWatcher
from app.jobs.worker.attempts import Records
from app.jobs.worker.health_check import default_directory
from app.jobs.worker.health_file import HealthFile
from app.jobs.worker.heartbeat import Heartbeat
from app.jobs.worker.outage import DatabaseOutage
from app.jobs.worker.periodic_tasks import PeriodicTasks
from app.jobs.worker.pool import CORE, Pool
from app.jobs.worker.program import FILES, program
from app.jobs.worker.resources import memory_of_a_fit, threads_of_a_fit
from app.jobs.worker.spool import Spool
from app.jobs.worker.worker import Worker
from app.limits.limiter import RateLimiter
from app.limits.service import OwnersWithLimits
from app.metrics.numbers import Numbers, NumberSource, OwnNumbers
from app.outcomes.metrics import outcome_metrics
from app.outcomes.recorder import Recorder
from app.outcomes.service import Outcomes
from app.owner_use import use_of
from app.prediction.batch_service import BatchPredictions
from app.prediction.drift_monitors import DriftMonitors
from app.prediction.served_versions import ServedVersions
from app.process_parts import Base, ProcessParts
from app.registry.catalogue import Catalogue
from app.registry.service import Aliases, Annotations
from app.retention import Retention
from app.settings import Settings
from app.tasks.runner import Runner
from app.tasks.service import Training
from app.tasks.union import weight_unit
from app.tracing.spans import NO_TRACER, Tracer
from app.webhooks.delivery_repository import SUBSCRIBERS
from app.webhooks.metrics import webhook_metrics
from app.webhooks.service import Webhooks
from relevance_bayes.tasks.fit import Limits

PERIODIC_TASK_SECONDS = 600.0
DAY = 86_400.0
REQUEST_BUSY_MILLISECONDS = 10_000
"""Milliseconds that a request waits for SQLite's locks: the client can retry, and request threads are few."""


def build(settings: Settings) -> ProcessParts:
    """Return the parts of an API process; connections are opened at first use."""
    reachability = Reachability()
    source = _number_source(settings)
    base = make_base(settings, reachability, source.numbers)
    monitors = DriftMonitors(settings.drift_window_seconds, settings.metrics_directory)
    prediction = ServedVersions(
        base.transaction,
        settings.cache_bytes,
        notifier=SqlNotifier(base.engine, MODELS),
        reachability=reachability,
        stale_seconds=settings.stale_if_error_seconds,
        numbers=source.numbers,
        monitors=monitors,
    )
    queries = (job_metrics(settings.heartbeat_timeout_seconds), webhook_metrics, outcome_metrics)
    return ProcessParts(
        ingest=Ingest(base.transaction, now),
        idempotency=Idempotency(base.transaction),
        datasets=Datasets(base.transaction),
        catalogue=Catalogue(base.transaction, weight_unit),
        aliases=Aliases(base.transaction),
        annotations=Annotations(base.transaction),
        exporting=Exporting(base.transaction),
        importing=Importing(base.transaction),
        jobs=Jobs(base.transaction, Control(base.client)),
        training=Training(base.transaction, now),
        scoring=Scoring(base.transaction, now),
        prediction=prediction,
        batch_predictions=BatchPredictions(base.transaction, prediction, now),
        watcher=JobWatcher(base.transaction, SqlNotifier(base.engine)),
        webhooks=Webhooks(base.transaction, Allowance.of(settings.webhook_allowed_hosts or ""), now),
        keys=ApiKeys(base.transaction),
        members=Members(base.transaction),
        sessions=Sessions(base.transaction, settings.session_seconds),
        audit=Audit(base.transaction),
        refusals=LimitedRefusals(base.transaction),
        metrics=Metrics(
            source, DatabaseMetrics(base.transaction, queries, reachability=reachability), monitors.samples
        ),
        limited_owners=OwnersWithLimits(base.transaction, use_of),
        outcomes=Outcomes(base.transaction, prediction),
        recorder=Recorder(base.transaction, numbers=source.numbers),
        authenticator=_authenticator(settings, base.transaction),
        rate_limits=RateLimiter(base.transaction, settings.owner_limits, numbers=source.numbers),
        tracer=make_tracer(settings, "relevance-api"),
        base=base,
        reachability=reachability,
        silence_seconds=settings.heartbeat_timeout_seconds,
    )


def _number_source(settings: Settings) -> NumberSource:
    if settings.metrics_directory is None:
        return OwnNumbers()
    # Imported only when configured: it needs locks of files that Windows does not have.
    from app.metrics.shared_numbers import SharedNumbers

    return SharedNumbers(settings.metrics_directory)


def make_tracer(settings: Settings, service: str) -> Tracer:
    """Return the tracer of a process; NO_TRACER without tracing, or where OpenTelemetry's variables disable it."""
    is_disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    exports_nothing = os.environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    if not settings.tracing or is_disabled or exports_nothing:
        return NO_TRACER
    # Imported only when enabled: it takes memory, and the package is optional.
    from app.tracing.opentelemetry_tracer import OpenTelemetryTracer

    return OpenTelemetryTracer(service)


def _authenticator(settings: Settings, transaction: OpenTransaction) -> Authenticator:
    keys = KeyAuthenticator(transaction, needs_keys=settings.needs_keys, stale_seconds=settings.stale_if_error_seconds)
    if settings.jwt_issuer is None or settings.jwt_audience is None:
        return keys
    # Imported only when configured: cryptography takes memory, and the package is optional.
    from app.accounts.issuer_keys import Issuer, IssuerKeys
    from app.accounts.tokens import TokenAuthenticator, TokenRules

    rules = TokenRules(
        settings.jwt_issuer, settings.jwt_audience, settings.jwt_owner_claim, settings.jwt_leeway_seconds
    )
    return TokenAuthenticator(keys, IssuerKeys(Issuer(settings.jwt_issuer, settings.jwt_jwks_url)), rules)


def build_worker(settings: Settings, *, trainer: str = CORE) -> Worker:
    """Return a worker of this process; `trainer` is the function that its children call ("module:function")."""
    # Imported only by workers: its HTTP client takes .1 s and memory, and other processes send nothing.
    from app.webhooks.deliverer import Deliverer, Finder

    base = make_base(settings)
    tracer = make_tracer(settings, "relevance-worker")
    executor, stopping, outage = f"{socket.gethostname()}:{uuid4()}", Event(), DatabaseOutage()
    spool_directory = settings.spool_directory or Path(default_directory())
    pool = Pool(
        spare=settings.worker_slots,
        limits=Limits(
            threads_of_a_fit(settings.worker_slots),
            settings.fit_memory_bytes or memory_of_a_fit(settings.worker_slots),
            settings.max_candidate_cells,
        ),
        trainer=trainer,
        directory=spool_directory,
    )
    spool = Spool(spool_directory, executor=executor)
    health_file = HealthFile(spool, executor=executor, limit=settings.heartbeat_timeout_seconds)
    records = Records(base.transaction, stopping, settings.job_timeout_seconds, tracer)
    deliverer = Deliverer(
        base.transaction, Allowance.of(settings.webhook_allowed_hosts or ""), now, stopping, tracer=tracer
    )
    engine = Engine(
        base.engine,
        base.client,
        run=Runner(records, pool, spool, settings.max_training_cells, program(), settings.checkpoint_seconds),
        score=Scorer(records, program(FILES)),
        deliver=deliverer,
        executor=executor,
        slots=settings.worker_slots,
        max_of_one_owner=settings.owner_concurrency,
        poll_seconds=settings.poll_seconds,
        report_failure=outage.report,
    )
    polling = AdaptivePolling(base.client, busy=settings.poll_seconds, idle=settings.idle_poll_seconds)
    heartbeat = Heartbeat(
        base.transaction,
        Control(base.client),
        executor=executor,
        interval=settings.heartbeat_interval_seconds,
        limit=settings.heartbeat_timeout_seconds,
        # A worker without heartbeats would continue jobs that others recover: it exits, and its supervisor restarts it.
        broken=lambda: os.kill(os.getpid(), signal.SIGTERM),
        on_heartbeat=health_file.write,
        on_activity=lambda activity: polling.adapt(activity, now=time.monotonic()),
        outage=outage,
    )
    tasks = (
        Ingest(base.transaction, now).remove_expired,
        Retention(
            base.transaction,
            EndedEntries(base.client),
            now,
            settings.event_retention_days * DAY,
            settings.result_retention_days * DAY,
            settings.audit_retention_days * DAY,
            settings.recorded_prediction_retention_days * DAY,
            None if settings.job_retention_days is None else settings.job_retention_days * DAY,
        ).remove_expired,
        Finder(deliverer, Control(base.client)).find,
    )
    periodic_tasks = PeriodicTasks(tasks, every=PERIODIC_TASK_SECONDS, outage=outage)

    def close() -> None:
        base.close()
        tracer.close()

    return Worker(spool, pool, heartbeat, health_file, periodic_tasks, engine, stopping, close)


def make_base(settings: Settings, reachability: Reachability | None = None, numbers: Numbers | None = None) -> Base:
    """Return the shared connections; with `reachability` the database is monitored, and `numbers` count their use."""
    busy, passwords = None if reachability is None else REQUEST_BUSY_MILLISECONDS, settings.database_password_file
    engine = make_engine(settings.url, password_file=passwords, reachability=reachability, busy_milliseconds=busy)
    client = make_client(engine)
    monitor = None if reachability is None else DatabaseMonitor(engine, reachability, passwords)
    kept = settings.idempotency_retention_seconds
    transaction = open_transactions(
        engine,
        Submitter(client),
        response_retention=kept,
        monitor=monitor,
        subscribers=(*total_repository.SUBSCRIBERS, *SUBSCRIBERS),
        store_changes=store_changes,
        pool_metrics=None if numbers is None else PoolMetrics(engine, numbers),
        default_limits=settings.owner_limits,
    )
    return Base(engine, client, transaction, monitor)
