"""The health file of a worker: the time of its last heartbeat, for health checks without a database."""

import logging
import math
import os
import time

from app.jobs.worker.spool import Spool

logger = logging.getLogger(__name__)


class HealthFile:
    """A file beside the worker's folder in the spool directory; `health_check.py` reads it.

    A heartbeat is in time until it is `limit` seconds old.
    """

    def __init__(self, spool: Spool, *, executor: str, limit: float) -> None:
        self._spool = spool
        self._rest = f" {limit:g} {executor}\n"
        self._file: int | None = None
        self._is_failing = False

    def write(self) -> None:
        """Write the present time; log the first of consecutive failures."""
        try:
            if self._file is None:
                self._file = os.open(self._spool.health_file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
            # In place and of one length: this needs no space on a full disk, and a reader sees one line.
            written = math.floor(1e3 * time.monotonic()) / 1e3  # rounded down: never later than an immediate check
            os.pwrite(self._file, f"{written:020.3f}{self._rest}".encode(), 0)
            self._is_failing = False
        except OSError as error:
            if not self._is_failing:
                why = {"path": str(self._spool.health_file), "reason": str(error)}
                logger.warning("the health file can't be written: health checks will fail", extra=why)
            self._is_failing = True

    def close(self) -> None:
        """Close the file; the spool removes it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
