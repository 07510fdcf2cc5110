"""Temporary folders beside the file that is written, which a later run removes where a killed one has left them."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX, LOCK = ".relevance-partial-", "lock"


@contextmanager
def staging(beside: Path) -> Iterator[Path]:
    """Create a folder in the folder of a path, on its file system; it is removed at the end of the block."""
    for left in beside.parent.glob(f"{PREFIX}*"):
        with suppress(OSError), (left / LOCK).open("r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left)
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX, dir=beside.parent) as name,
        (Path(name) / LOCK).open("wb") as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(name)


def put_in_place(file: Path, path: Path) -> None:
    """Move a whole file to its path, durably and in one step."""
    with file.open("rb") as written:
        os.fsync(written.fileno())
    file.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
