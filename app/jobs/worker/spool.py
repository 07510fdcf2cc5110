"""The folder of a worker for the files of running fits; the next worker removes what a killed one has left."""

import errno
import fcntl
import logging
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.jobs.worker.health_check import PREFIX, SUFFIX

LOCK = ".lock"

WITHOUT_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
"""Errors after which a file system may become writable again: it is full, its quota is used up, it is read-only."""

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.5, 15.0
"""Seconds until the first attempt to open a full spool again; each pause is twice as long as the one before it."""

logger = logging.getLogger(__name__)


class UnusableSpoolError(Exception):
    """The spool directory can't be used, and waiting does not help."""


class Spool:
    """This process's folder under `root`; a file lock, which the kernel releases with the process, marks it as used."""

    def __init__(self, root: Path, *, executor: str) -> None:
        self._root = root
        self._executor = executor
        self._lock: int | None = None
        self._folder = root

    def open(self) -> frozenset[str]:
        """Remove the folders of killed workers, create one for this process, and return the executors of the former.

        Only executors of this host are returned: not every shared file system shows one host the locks of another.
        """
        try:
            return self._open()
        except OSError:
            self.close()
            raise

    def open_when_writable(self, wait_for_stop: Callable[[float], bool]) -> frozenset[str] | None:
        """Open the spool once the directory has space; return None where a stop is requested before.

        Raises UnusableSpoolError.
        """
        began, pause = time.monotonic(), 0.0
        while not wait_for_stop(pause):
            try:
                dead = self.open()
            except OSError as error:
                if error.errno not in WITHOUT_SPACE:
                    raise UnusableSpoolError(f"The spool directory {self._root} can't be used: {error}.") from error
                if not pause:
                    why = {"directory": str(self._root), "reason": str(error)}
                    logger.warning("the spool directory has no space: the worker waits", extra=why)
                pause = min(2 * pause, MAX_PAUSE_SECONDS) or FIRST_PAUSE_SECONDS
            else:
                if pause:
                    waited = {"directory": str(self._root), "seconds": round(time.monotonic() - began, 3)}
                    logger.info("the spool directory has space again: the worker starts", extra=waited)
                return dead
        return None

    def _open(self) -> frozenset[str]:
        self._root.mkdir(parents=True, exist_ok=True)
        left = set()
        for path in self._root.glob(f"{PREFIX}*{LOCK}"):
            with suppress(OSError):
                left.add(_remove_if_left(path))
        while self._lock is None:
            descriptor, name = tempfile.mkstemp(prefix=PREFIX, suffix=LOCK, dir=self._root)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:
                self._lock, self._folder = descriptor, Path(name.removesuffix(LOCK))
            else:  # another worker removed it before it was locked
                os.close(descriptor)
        os.write(self._lock, self._executor.encode())
        self._folder.mkdir(mode=0o700)
        return frozenset(executor for executor in left if _host(executor) == _host(self._executor))

    @contextmanager
    def directory(self) -> Iterator[Path]:
        """Create an empty directory, which is removed at the end of the block."""
        with tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True) as path:
            yield Path(path)

    @property
    def health_file(self) -> Path:
        """The path of the worker's health file, which is removed with the folder."""
        return Path(f"{self._folder}{SUFFIX}")

    def close(self) -> None:
        """Remove the folder."""
        if self._lock is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self.health_file.unlink(missing_ok=True)
            Path(f"{self._folder}{LOCK}").unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None


def _host(executor: str) -> str:
    return executor.rpartition(":")[0]


def _remove_if_left(path: Path) -> str:
    """Remove a folder whose lock is free, and return its executor.

    Raises OSError where the lock is held, or where the folder can't be removed.
    """
    with path.open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder = str(path).removesuffix(LOCK)
        shutil.rmtree(folder, ignore_errors=True)
        Path(f"{folder}{SUFFIX}").unlink(missing_ok=True)
        path.unlink()
        return lock.read().decode(errors="replace")


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
