"""`relevance worker`, but its children do what a job's seed says: see `tests.worker.trainers`."""

import signal
from threading import Event

from app import bootstrap
from app.cli.ending import end_with_standard_input
from app.settings import Settings
from tests.worker import trainers


def main() -> None:
    asked_to_end = Event()
    signal.signal(signal.SIGTERM, lambda _signal, _frame: asked_to_end.set())
    end_with_standard_input(asked_to_end.set)
    settings = Settings()
    bootstrap.configure_logging(settings.log_level)
    worker = bootstrap.build_worker(settings, trainer=trainers.CHOSEN)
    worker.start()
    asked_to_end.wait()
    worker.stop(5.0)


if __name__ == "__main__":
    main()
