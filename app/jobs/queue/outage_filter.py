"""The filter of log records about failed connections to the database: they are reported, and not logged."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.jobs.queue.failures import is_connection_failure

LOGGERS = ("dbos", "sqlalchemy.pool.impl.QueuePool")


class OutageFilter(logging.Filter):
    """Drops log records about failed connections, and passes the first line of the failure to `report`.

    DBOS formats failures into its messages; the exception that is being handled shows the kind of failure.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__()
        self._report = report

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged."""
        error = record.exc_info[1] if record.exc_info else sys.exc_info()[1]
        if error is None or not is_connection_failure(error):
            return True
        self._report(str(error).partition("\n")[0])
        return False


@contextmanager
def reported_outages(report: Callable[[str], None]) -> Iterator[None]:
    """Return a context in which connection failures are reported, and not logged."""
    outages = OutageFilter(report)
    for name in LOGGERS:
        logging.getLogger(name).addFilter(outages)
    try:
        yield
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeFilter(outages)
