"""`relevance worker` and `relevance migrate`."""

import signal
import threading
from types import FrameType

from app import bootstrap
from app.cli.ending import end_with_standard_input
from app.cli.saying import database_in_reach, say
from app.logs import configure_logging
from app.settings import Settings

GRACE_SECONDS = 5.0
"""How long a running fit may take to come to a place where it can be handed back."""


def work(settings: Settings, *, until_eof: bool) -> None:
    """Run queued jobs until Ctrl-C or SIGTERM, then hand back what is running."""
    asked_to_end = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        asked_to_end.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    if until_eof:
        end_with_standard_input(asked_to_end.set)
    configure_logging(settings.log_level)
    worker = bootstrap.build_worker(settings)
    with database_in_reach():
        worker.start()
    try:
        asked_to_end.wait()
    finally:
        worker.stop(GRACE_SECONDS)


def migrate(settings: Settings) -> None:
    """Make the database's tables, or bring them up to date."""
    with database_in_reach():
        bootstrap.migrate(settings)
    say(f"{settings.url.render_as_string(hide_password=True)} is up to date.")
