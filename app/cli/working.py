"""`relevance worker` and `relevance migrate`."""

import signal
import threading
from types import FrameType

from app import bootstrap
from app.cli.ending import end_with_standard_input
from app.cli.saying import database_in_reach, refuse, say
from app.cli.watchdog import Watchdog
from app.logs import configure_logging
from app.settings import Settings
from app.worker.spool import UnusableSpoolError
from app.worker.worker import Worker

GRACE_SECONDS = 5.0
"""How long a running fit may take to come to a place where it can be handed back."""

MAX_STOP_SECONDS = 14.0
"""Seconds after which the process is ended by force: before `relevance serve` would kill its worker."""


def work(settings: Settings, *, until_eof: bool) -> None:
    """Run queued jobs until Ctrl-C or SIGTERM, then hand back what is running."""
    asked_to_end = threading.Event()
    watchdog = Watchdog(MAX_STOP_SECONDS)

    def stop() -> None:
        watchdog.arm()
        asked_to_end.set()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    if until_eof:
        end_with_standard_input(stop)
    configure_logging(settings.log_level)
    worker = bootstrap.build_worker(settings)
    if not _start(worker, asked_to_end):
        return
    try:
        asked_to_end.wait()
    finally:
        worker.stop(GRACE_SECONDS)


def _start(worker: Worker, stop_requested: threading.Event) -> bool:
    """Whether it takes jobs now; raises typer.Exit(1) where its database or its directory can't be used."""
    try:
        with database_in_reach():
            return worker.start(stop_requested)
    except UnusableSpoolError as error:
        refuse(f"{error}\nRELEVANCE_SPOOL_DIRECTORY says where temporary files are kept.")


def migrate(settings: Settings) -> None:
    """Make the database's tables, or bring them up to date."""
    with database_in_reach():
        bootstrap.migrate(settings)
    say(f"{settings.url.render_as_string(hide_password=True)} is up to date.")
