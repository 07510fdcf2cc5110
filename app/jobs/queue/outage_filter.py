"""The filter of log records about a database that is away: they are reported, and not logged."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.jobs.queue.failures import is_connection_failure

LOGGERS = ("dbos", "sqlalchemy.pool.impl.QueuePool")


class OutageFilter(logging.Filter):
    """Drops records about a connection that failed, and hands the first line of the failure to `report`.

    The engine writes failures into its messages; the exception that it handles while it logs says what they are.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__()
        self._report = report

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is to be logged."""
        error = record.exc_info[1] if record.exc_info else sys.exc_info()[1]
        if error is None or not is_connection_failure(error):
            return True
        self._report(str(error).partition("\n")[0])
        return False


@contextmanager
def reported_outages(report: Callable[[str], None]) -> Iterator[None]:
    """A context in which failures of connections are reported, and not logged."""
    outages = OutageFilter(report)
    for name in LOGGERS:
        logging.getLogger(name).addFilter(outages)
    try:
        yield
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeFilter(outages)
