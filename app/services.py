"""The services of a process, made from its settings: the one file that imports every feature."""

import os
import signal
import socket
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Event
from uuid import UUID, uuid4

import sqlalchemy
from dbos import DBOSClient

from app.accounts.authenticator import KeyAuthenticator
from app.accounts.limits import OwnersWithLimits
from app.accounts.rate_limiter import RateLimiter
from app.accounts.repository import SessionRepository
from app.accounts.service import ApiKeys, MemberService, Sessions
from app.addresses import Allowance
from app.audit.heads import HeadFile, HeadWriter, read_key
from app.audit.refusals import LimitedRefusals
from app.audit.repository import AuditRepository, store_changes
from app.audit.service import Audit
from app.database import revision
from app.database.engine import SESSION_NAME, Reachability, file_of, make_engine
from app.database.monitor import DatabaseMonitor
from app.database.notifier import MODELS, SqlNotifier
from app.database.periodic_tasks import PeriodicTasks
from app.database.transaction import Clock, OpenTransaction, PoolMetrics, Transaction, has_space, now, open_transactions
from app.database.vacuum import return_unused
from app.datasets.ingest import Ingest
from app.datasets.repository import DatasetRepository
from app.datasets.service import Datasets
from app.errors import UnavailableError
from app.evaluation.runner import Scorer
from app.evaluation.service import EvaluationService
from app.exports.service import Exporting, Importing
from app.http.authentication import Authenticator
from app.http.health import Readiness
from app.http.idempotency import Idempotency
from app.http.key_repository import IdempotencyKeyRepository
from app.http.metrics import DatabaseMetrics, Metrics, TimedCalls
from app.http.process_repository import ProcessHeartbeat
from app.jobs import statistics_repository
from app.jobs.metrics import job_metrics
from app.jobs.queue import client as queue_migrations
from app.jobs.queue.client import Control, EndedEntries, Submitter, make_client
from app.jobs.queue.engine import Engine
from app.jobs.retention import expired_jobs, forget_jobs, forget_progress, record_forgotten
from app.jobs.service import JobService, seconds_of_today
from app.jobs.statistics_repository import BacklogRepository, WorkerRepository
from app.jobs.waiter import JobWatcher
from app.jobs.worker.attempts import Records
from app.jobs.worker.health_check import default_directory
from app.jobs.worker.pool import CORE, FILES, PROGRAM_BYTES, ChildPool, FitShares, Slots, cores, memory_of_fits, program
from app.jobs.worker.spool import HealthFile, Spool
from app.jobs.worker.worker import DatabaseOutage, Heartbeat, Worker
from app.metrics import Numbers, NumberSource, OwnNumbers
from app.outcomes.metrics import outcome_metrics
from app.outcomes.recorder import Recorder
from app.outcomes.repository import RecordedPredictionRepository
from app.outcomes.service import OutcomeService
from app.prediction.batch_jobs import BatchPredictionService
from app.prediction.drift import DriftMonitors
from app.prediction.result_repository import ResultRepository, record_expired
from app.prediction.served_versions import ServedVersions
from app.registry.catalogue import Catalogue
from app.registry.repository import ModelRepository
from app.registry.service import AliasService, Annotations
from app.registry.submission import count_models
from app.settings import MAX_SLOTS, Settings
from app.tasks import weight_unit
from app.tasks.runner import Runner
from app.tasks.service import TrainingService
from app.tracing.spans import NO_TRACER, Tracer
from app.webhooks.repository import SUBSCRIBERS, AttemptRepository, DeliveryRepository, WebhookRepository
from app.webhooks.service import WebhookService, webhook_metrics
from relevance_bayes.records.accounts import OwnerUse
from relevance_bayes.tasks.fit import Limits


@dataclass(eq=False)
class Parts(ABC):
    """The services of an application, and its readiness."""

    ingest: Ingest
    idempotency: Idempotency
    catalogue: Catalogue
    datasets: Datasets
    aliases: AliasService
    annotations: Annotations
    exporting: Exporting
    importing: Importing
    jobs: JobService
    training: TrainingService
    scoring: EvaluationService
    prediction: ServedVersions
    batch_predictions: BatchPredictionService
    watcher: JobWatcher
    webhooks: WebhookService
    keys: ApiKeys
    members: MemberService
    sessions: Sessions
    audit: Audit
    refusals: LimitedRefusals
    metrics: Metrics
    limited_owners: OwnersWithLimits
    outcomes: OutcomeService
    recorder: Recorder

    @abstractmethod
    def ready(self) -> Readiness:
        """Return the current readiness within a bounded time."""

    def services(self) -> Iterator[object]:
        """Yield the services."""
        return (getattr(self, one.name) for one in fields(Parts))


READY_AGAIN_SECONDS = 1.0
"""Seconds for which a process that can predict and train is taken to be so: several balancers probe each process, and
each probe would take transactions of the database."""

MIGRATED_AGAIN_SECONDS = 10.0
"""Seconds for which tables that the process can use are taken to be so."""

READY_SECONDS = 0.4
"""Seconds that a readiness probe waits for the database."""


@dataclass(frozen=True)
class SharedConnections:
    """The connections that API and worker processes share."""

    engine: sqlalchemy.Engine
    client: DBOSClient
    transaction: OpenTransaction
    monitor: DatabaseMonitor | None = None

    def is_migrated(self) -> bool:
        """Return whether the tables, those of the queue included, are such that this release can serve on them."""
        return revision.is_migrated(self.engine) and queue_migrations.is_migrated(self.client)

    def workers_alive(self, silence_seconds: float) -> tuple[str, ...]:
        """Return the executors ("host:id") that were not silent for so long; raises UnavailableError."""
        with self.transaction() as tx:
            return WorkerRepository(tx).alive(within=silence_seconds)

    def close(self) -> None:
        """Dispose of the engine."""
        if self.monitor is not None:
            self.monitor.close()
        self.client.destroy()
        self.engine.dispose()


@dataclass(eq=False)
class ProcessParts(Parts):
    """The parts of an API process, with its connections."""

    authenticator: Authenticator
    rate_limits: RateLimiter
    tracer: Tracer
    base: SharedConnections
    reachability: Reachability
    silence_seconds: float
    heartbeat: ProcessHeartbeat
    calls: TimedCalls = field(default_factory=TimedCalls)
    now: Callable[[], float] = time.monotonic
    _ready_at: float = float("-inf")
    _migrated_at: float = float("-inf")

    def ready(self) -> Readiness:
        """Return the readiness within READY_SECONDS; never raises while the database is unreachable."""
        without_database = Readiness(False, False, False, self.prediction.has_loaded_versions)
        if self.reachability.is_away:
            return without_database
        if self.now() - self._ready_at < READY_AGAIN_SECONDS:
            return replace(without_database, database=True, migrated=True, worker=True)
        try:
            found = self.calls.call(self._query_database, seconds=READY_SECONDS)
        except UnavailableError:
            self.reachability.suspect()
            return without_database
        return replace(found, has_loaded_versions=without_database.has_loaded_versions)

    def _query_database(self) -> Readiness:
        now = self.now()
        migrated = now - self._migrated_at < MIGRATED_AGAIN_SECONDS or self.base.is_migrated()
        if migrated and now - self._migrated_at >= MIGRATED_AGAIN_SECONDS:
            self._migrated_at = now
        worker = migrated and bool(self.base.workers_alive(self.silence_seconds))
        file = file_of(self.base.engine.url)
        space = file is None or has_space(Path(file).absolute().parent)
        found = Readiness(True, migrated, worker, has_space=space)
        if found.worker and found.has_space:
            self._ready_at = now
        return found

    def close(self) -> None:
        """Close the monitor, the listeners and the engine, and export the remaining spans."""
        self.heartbeat.close()
        self.rate_limits.close()
        self.recorder.close()
        self.watcher.close()
        self.prediction.close()
        self.metrics.close()
        self.base.close()
        self.tracer.close()


def use_of(tx: Transaction, owner: str) -> OwnerUse:
    """Return what an owner uses now."""
    datasets = DatasetRepository(tx)
    return OwnerUse(
        datasets=datasets.count(owner),
        dataset_bytes=datasets.stored_bytes(owner),
        models=count_models(tx, owner),
        unfinished_jobs=BacklogRepository(tx).count(owner),
        training_seconds_per_day=round(seconds_of_today(tx, owner), 3),
    )


PERIODIC_TASK_SECONDS = 600.0
FREQUENT_TASK_SECONDS = 30.0
"""Seconds between two deletions of what owners have deleted: its space is free within a minute."""

AUDIT_HEAD_SECONDS = 60.0
DAY = 86_400.0
MAX_SPARE = 4
"""Idle child processes of a worker: each takes memory, and another one is started in less than a second."""

HEARTBEATS_IN_TIMEOUT = 2.5
"""Heartbeats of an API process within the time after which it counts as dead: one of them may fail."""

REQUEST_BUSY_MILLISECONDS = 10_000
"""Milliseconds that a request waits for SQLite's locks: the client can retry, and request threads are few."""


def build(settings: Settings) -> ProcessParts:
    """Return the parts of an API process; connections are opened at first use."""
    reachability = Reachability()
    source = _number_source(settings)
    base = make_base(settings, reachability, source.numbers, session_name="relevance api")
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
        aliases=AliasService(base.transaction),
        annotations=Annotations(base.transaction),
        exporting=Exporting(base.transaction),
        importing=Importing(base.transaction),
        jobs=JobService(base.transaction, Control(base.client)),
        training=TrainingService(base.transaction, now, settings.heartbeat_timeout_seconds),
        scoring=EvaluationService(base.transaction, now),
        prediction=prediction,
        batch_predictions=BatchPredictionService(base.transaction, prediction, now),
        watcher=JobWatcher(base.transaction, SqlNotifier(base.engine)),
        webhooks=WebhookService(base.transaction, Allowance.of(settings.webhook_allowed_hosts or ""), now),
        keys=ApiKeys(base.transaction),
        members=MemberService(base.transaction),
        sessions=Sessions(base.transaction, settings.session_seconds),
        audit=Audit(base.transaction),
        refusals=LimitedRefusals(base.transaction),
        metrics=Metrics(
            source, DatabaseMetrics(base.transaction, queries, reachability=reachability), monitors.samples
        ),
        limited_owners=OwnersWithLimits(base.transaction, use_of),
        outcomes=OutcomeService(base.transaction, prediction),
        recorder=Recorder(base.transaction, numbers=source.numbers),
        authenticator=_authenticator(settings, base.transaction),
        rate_limits=RateLimiter(base.transaction, settings.owner_limits, numbers=source.numbers),
        tracer=make_tracer(settings, "relevance-api"),
        base=base,
        reachability=reachability,
        silence_seconds=settings.heartbeat_timeout_seconds,
        heartbeat=ProcessHeartbeat(
            base.transaction,
            process=f"{socket.gethostname()}:{uuid4()}",
            interval=settings.heartbeat_timeout_seconds / HEARTBEATS_IN_TIMEOUT,
        ),
    )


def _number_source(settings: Settings) -> NumberSource:
    if settings.metrics_directory is None:
        return OwnNumbers()
    # Imported only when configured: it needs locks of files that Windows does not have.
    from app.metrics import SharedNumbers

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
    from app.accounts.tokens import Issuer, IssuerKeys, TokenAuthenticator, TokenRules

    rules = TokenRules(
        settings.jwt_issuer,
        settings.jwt_audience,
        settings.jwt_owner_claim,
        settings.jwt_leeway_seconds,
        settings.jwt_local_subject,
    )
    return TokenAuthenticator(keys, IssuerKeys(Issuer(settings.jwt_issuer, settings.jwt_jwks_url)), rules)


def build_worker(settings: Settings, *, trainer: str = CORE) -> Worker:
    """Return a worker of this process; `trainer` is the function that its children call ("module:function")."""
    # Imported only by workers: its HTTP client takes .1 s and memory, and other processes send nothing.
    from app.webhooks.deliverer import Deliverer, Finder

    base = make_base(settings, session_name="relevance worker")
    tracer = make_tracer(settings, "relevance-worker")
    executor, stopping, outage = f"{socket.gethostname()}:{uuid4()}", Event(), DatabaseOutage()
    spool_directory = settings.spool_directory or Path(default_directory())
    n_slots = settings.worker_slots or min(cores(), MAX_SLOTS)
    pool = ChildPool(
        spare=min(n_slots, MAX_SPARE),
        limits=Limits(candidate_cells=settings.max_candidate_cells),
        trainer=trainer,
        directory=spool_directory,
    )
    slots = Slots(n_slots)
    shares = FitShares(
        cores(), memory_of_fits(), slots=n_slots, max_of_one=settings.fit_memory_bytes, program=PROGRAM_BYTES
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
        run=slots.counted(
            Runner(records, pool, spool, settings.max_training_cells, program(), settings.checkpoint_seconds, shares)
        ),
        score=Scorer(records, program(FILES)),
        deliver=deliverer,
        executor=executor,
        slots=n_slots,
        max_of_one_owner=settings.owner_concurrency,
        poll_seconds=settings.poll_seconds,
        report_failure=outage.report,
    )
    heartbeat = Heartbeat(
        base.transaction,
        Control(base.client),
        executor=executor,
        interval=settings.heartbeat_interval_seconds,
        limit=settings.heartbeat_timeout_seconds,
        # A worker without heartbeats would continue jobs that others recover: it exits, and its supervisor restarts it.
        broken=lambda: os.kill(os.getpid(), signal.SIGTERM),
        on_heartbeat=health_file.write,
        outage=outage,
        use=slots.use,
    )
    tasks = (
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
    frequent_tasks = (
        Ingest(base.transaction, now).remove_expired,
        Catalogue(base.transaction, weight_unit).remove_deleted,
        partial(return_unused, base.engine),
    )
    periodic_tasks = (
        PeriodicTasks(tasks, every=PERIODIC_TASK_SECONDS, report=outage.report),
        PeriodicTasks(frequent_tasks, every=FREQUENT_TASK_SECONDS, report=outage.report),
    )

    def close() -> None:
        base.close()
        tracer.close()

    heads = _audit_heads(settings, base.transaction, outage)
    return Worker(
        executor, spool, pool, heartbeat, health_file, periodic_tasks, engine, stopping, close, audit_heads=heads
    )


def _audit_heads(settings: Settings, transaction: OpenTransaction, outage: DatabaseOutage) -> PeriodicTasks | None:
    """Return the task that writes the heads of all audit chains, where a file is set for them.

    Raises OSError and ValueError where its key can't be read.
    """
    path, key, url = settings.audit_head_file, settings.audit_head_key_file, settings.audit_head_url
    if path is None or key is None:
        return None
    # Imported only by workers, as the deliverer.
    from app.webhooks.deliverer import post_to_operator

    send = None if url is None else lambda line: post_to_operator(url, line)
    retention = settings.audit_retention_days * DAY
    writer = HeadWriter(Audit(transaction).heads, HeadFile(path, read_key(key)), retention, send=send)
    return PeriodicTasks((writer.write,), every=AUDIT_HEAD_SECONDS, report=outage.report)


def make_base(
    settings: Settings,
    reachability: Reachability | None = None,
    numbers: Numbers | None = None,
    *,
    session_name: str = SESSION_NAME,
) -> SharedConnections:
    """Return the shared connections, whose sessions have a name on PostgreSQL; with `reachability` the database is
    monitored, and `numbers` count their use."""
    busy, passwords = None if reachability is None else REQUEST_BUSY_MILLISECONDS, settings.database_password_file
    engine = make_engine(
        settings.url,
        password_file=passwords,
        reachability=reachability,
        busy_milliseconds=busy,
        session_name=session_name,
    )
    client = make_client(engine)
    monitor = None if reachability is None else DatabaseMonitor(engine, reachability, passwords)
    kept = settings.idempotency_retention_seconds
    transaction = open_transactions(
        engine,
        Submitter(client),
        response_retention=kept,
        monitor=monitor,
        subscribers=(*statistics_repository.SUBSCRIBERS, *SUBSCRIBERS),
        store_changes=store_changes,
        pool_metrics=None if numbers is None else PoolMetrics(engine, numbers),
        default_limits=settings.owner_limits,
    )
    return SharedConnections(engine, client, transaction, monitor)


ENTRIES_AT_ONCE = 200


@dataclass(frozen=True)
class Retention:
    """Deletes the progress of ended jobs, deliveries of webhooks, and the queue's entries of both after `seconds`, and
    files of predictions after `seconds_of_results`, entries of the audit after `seconds_of_audit`, recorded predictions
    after `seconds_of_recorded_predictions`, ended jobs that trained no version after `seconds_of_jobs` (None: never);
    idempotent responses and sessions have an expiry of their own."""

    transaction: OpenTransaction
    entries: EndedEntries
    clock: Clock
    seconds: float
    seconds_of_results: float
    seconds_of_audit: float
    seconds_of_recorded_predictions: float
    seconds_of_jobs: float | None = None

    def remove_expired(self) -> None:
        """Delete what has expired, in short transactions."""
        self._drain(lambda tx: SessionRepository(tx).remove_expired())
        self._drain(lambda tx: IdempotencyKeyRepository(tx).remove_expired())
        self._drain(lambda tx: forget_progress(tx, ended_before=self.seconds))
        self._drain(lambda tx: DeliveryRepository(tx).remove_expired(older_than=self.seconds))
        self._drain(lambda tx: WebhookRepository(tx).remove_expired())
        self._forget_results()
        self._drain(lambda tx: AuditRepository(tx).remove_expired(older_than=self.seconds_of_audit))
        self._drain(
            lambda tx: RecordedPredictionRepository(tx).remove_expired(older_than=self.seconds_of_recorded_predictions)
        )
        self._forget_entries()
        if self.seconds_of_jobs is not None:
            self._forget_jobs(self.seconds_of_jobs)

    def _forget_results(self) -> None:
        """Delete files of predictions; record their numbers at the end."""
        expired = Counter[str]()
        try:
            while True:
                with self.transaction() as tx:
                    removed = ResultRepository(tx).remove_expired(older_than=self.seconds_of_results)
                if removed is None:
                    return
                expired[removed.owner] += removed.is_expired
        finally:
            if +expired:
                with self.transaction() as tx:
                    record_expired(tx, +expired)

    def _forget_jobs(self, seconds: float) -> None:
        """Delete jobs, except those whose version is there: its lineage names them; record their numbers at the end."""
        last: UUID | None = None
        forgotten = Counter[str]()
        try:
            while True:
                with self.transaction() as tx:
                    found = expired_jobs(tx, ended_before=seconds, after=last)
                    gone = forget_jobs(tx, set(found) - ModelRepository(tx).trained_by(found))
                forgotten += gone
                if not found:
                    return
                last = found[-1]
        finally:
            if forgotten:
                with self.transaction() as tx:
                    record_forgotten(tx, forgotten)

    def _forget_entries(self) -> None:
        """Delete ended entries, except those that are needed to find out how a job or an attempt ended."""
        before, needed = self.clock() - timedelta(seconds=self.seconds), 0
        while ended := self.entries.ended(before=before, skip=needed, limit=ENTRIES_AT_ONCE):
            with self.transaction() as tx:
                kept = BacklogRepository(tx).among(ended) | AttemptRepository(tx).pending_of(ended)
            self.entries.forget([entry for entry in ended if entry not in kept])
            needed += len(kept)

    def _drain(self, forget: Callable[[Transaction], bool]) -> None:
        found = True
        while found:
            with self.transaction() as tx:
                found = forget(tx)
