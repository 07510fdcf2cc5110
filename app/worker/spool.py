"""A folder for the files of running fits that outlives its worker only until the next one starts."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.worker.health_check import PREFIX, SUFFIX

LOCK = ".lock"


class Spool:
    """This process's folder under `root`; a lock that the kernel drops with the process says that it is in use."""

    def __init__(self, root: Path, *, executor: str) -> None:
        self._root = root
        self._executor = executor
        self._lock: int | None = None
        self._folder = root

    def open(self) -> frozenset[str]:
        """Remove what killed workers left behind, and make a folder of our own; the executors that they were.

        Only those of this host are told of: not every file system that hosts share shows one what another has locked.
        """
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
            else:  # another worker's start took it for a dead one's before it was locked
                os.close(descriptor)
        os.write(self._lock, self._executor.encode())
        self._folder.mkdir(mode=0o700)
        return frozenset(executor for executor in left if _host(executor) == _host(self._executor))

    @contextmanager
    def directory(self) -> Iterator[Path]:
        """An empty directory, gone at the end of the block."""
        with tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True) as path:
            yield Path(path)

    @property
    def health_file(self) -> Path:
        """The path of the worker's health file; it is removed with the folder."""
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
    """Remove a folder whose lock nobody holds, and say whose it was.

    Raises OSError where somebody holds it, or it is not ours to remove.
    """
    with path.open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder = str(path).removesuffix(LOCK)
        shutil.rmtree(folder, ignore_errors=True)
        Path(f"{folder}{SUFFIX}").unlink(missing_ok=True)
        path.unlink()
        return lock.read().decode(errors="replace")
