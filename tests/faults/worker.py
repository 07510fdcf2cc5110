"""`relevance worker`, whose children act by a job's seed: see `tests.jobs.worker.trainers`; evaluations wait."""

import os
from pathlib import Path

from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import Pool

from app import services
from app.cli.shutdown import StopRequest, end_with_standard_input
from app.evaluation import evaluate
from app.logs import configure_logging
from app.prediction import ServedVersion, evaluate_block
from app.settings import Settings
from relevance_bayes.tables.columns import Block
from relevance_bayes.tasks.prediction import LabelledBlock
from tests.jobs.worker import trainers

OTHER_VERSION = "RELEVANCE_TEST_OTHER_VERSION"
"""Set for a worker that is of another version than its neighbours."""


def full_disk(connection: DBAPIConnection, _record: object, _proxy: object) -> None:
    """SQLite gets no more pages while a file is there."""
    full = Path(os.environ[trainers.MARKS], trainers.FULL).exists()
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA max_page_count = {1 if full else 2**31}")
    cursor.close()


def held(version: ServedVersion, block: Block) -> LabelledBlock:
    """Judge rows, but only once the gate is open."""
    trainers.mark()
    trainers.wait_for_the_gate()
    return evaluate_block(version, block)


def main() -> None:
    stop_request = StopRequest.by_signals(lambda: None)
    end_with_standard_input(stop_request.set)
    os.environ.pop("LD_PRELOAD", None)  # a clock that is faked for the worker: its children sleep by the system's
    settings = Settings()
    if settings.url.get_backend_name() == "sqlite":
        event.listen(Pool, "checkout", full_disk)
    configure_logging(settings.log_level)
    if OTHER_VERSION in os.environ:
        setattr(services, "program", lambda *_: "another")  # noqa: B010 - for this process alone
    setattr(evaluate, "evaluate_block", held)  # noqa: B010 - likewise
    worker = services.build_worker(settings, trainer=trainers.CHOSEN)
    worker.start()
    stop_request.wait()
    worker.stop(5.0)


if __name__ == "__main__":
    main()
