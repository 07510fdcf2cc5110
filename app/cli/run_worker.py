"""`relevance worker`."""

from collections.abc import Callable
from importlib.util import find_spec

import structlog

from app import __version__, services
from app.audit.heads import read_key
from app.cli.config import database_in_reach
from app.cli.shutdown import StopRequest, Watchdog, end_with_standard_input
from app.jobs.worker.spool import UnusableSpoolError
from app.jobs.worker.worker import Worker
from app.logs import configure_logging
from app.settings import Settings
from relevance_bayes.cli.console import refuse

log = structlog.stdlib.get_logger("app.worker")

GRACE_SECONDS = 5.0
"""The time in which a running fit must reach a checkpoint at shutdown."""

MAX_STOP_SECONDS = 14.0
"""The time after which the process is ended by force, less than that after which `relevance serve` kills its worker."""


def work(settings: Settings, *, until_eof: bool) -> None:
    """Run queued jobs until Ctrl-C or SIGTERM, then requeue the running ones."""
    refuse_untraceable(settings)
    _refuse_unreadable_key(settings)
    with database_in_reach(settings):
        pass  # its URL is checked
    watchdog = Watchdog(MAX_STOP_SECONDS)
    stop_request = StopRequest.by_signals(watchdog.arm)

    def stop() -> None:
        watchdog.arm()
        stop_request.set()

    if until_eof:
        end_with_standard_input(stop)
    configure_logging(settings.log_level)
    worker = services.build_worker(settings)
    if not _start(settings, worker, stop_request.wait):
        return
    log.info("worker started", release=__version__, worker=worker.executor, settings=settings.given())
    try:
        stop_request.wait()
    finally:
        log.info("worker stopping", release=__version__, worker=worker.executor)
        worker.stop(GRACE_SECONDS)
        log.info("worker stopped", release=__version__, worker=worker.executor)


def refuse_untraceable(settings: Settings) -> None:
    """Raise typer.Exit(1) where tracing is enabled and its packages are not installed."""
    if settings.tracing and (find_spec("opentelemetry.sdk") is None or find_spec("opentelemetry.exporter") is None):
        refuse(
            "RELEVANCE_TRACING needs the Python packages `opentelemetry-sdk` and "
            "`opentelemetry-exporter-otlp-proto-http`, which are not installed.\n"
            "The container image includes them; in a checkout of the source "
            "`pip install ./library '.[tracing]'` installs them."
        )


def _refuse_unreadable_key(settings: Settings) -> None:
    """Raise typer.Exit(1) where the key of the audit's heads can't be read, or is short."""
    if settings.audit_head_key_file is not None:
        try:
            read_key(settings.audit_head_key_file)
        except (OSError, ValueError) as error:
            refuse(f"RELEVANCE_AUDIT_HEAD_KEY_FILE can't be used: {error}.")


def _start(settings: Settings, worker: Worker, wait_for_stop: Callable[[float], bool]) -> bool:
    """Return whether the worker takes jobs; raises typer.Exit(1) where its database or directory can't be used."""
    try:
        with database_in_reach(settings):
            return worker.start(wait_for_stop)
    except UnusableSpoolError as error:
        refuse(f"{error}\nRELEVANCE_SPOOL_DIRECTORY sets the directory of temporary files.")
