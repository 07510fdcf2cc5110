"""The numbers of all processes that share a directory, those of ended processes included."""

import fcntl
import json
import mmap
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path
from uuid import uuid4

from app.metrics.families import Family, Sample, sums
from app.metrics.numbers import SIZE, Numbers, family_of, samples

SUFFIX = ".numbers"


class SharedNumbers:
    """The numbers of this process, in a file of a directory, and of all others that have a file there.

    A process keeps its file locked while it runs; the kernel unlocks it however the process ends. The counters of an
    unlocked file are added to `ended.json`, so that sums over all processes never decrease, and the file is deleted.
    The file `lock` is locked meanwhile. Files of which a crash of the system left a part count as empty.
    """

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._ended = directory / "ended.json"
        self._file = directory / f"{os.getpid()}-{uuid4().hex}{SUFFIX}"
        with self._locked():
            self._own = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            fcntl.flock(self._own, fcntl.LOCK_EX)
            os.ftruncate(self._own, SIZE)
        self.numbers = Numbers(mmap.mmap(self._own, SIZE))

    def close(self) -> None:
        """Unlock the file of this process, as its end does."""
        fcntl.flock(self._own, fcntl.LOCK_UN)  # the memory has a descriptor of its own, with the same lock
        os.close(self._own)

    def read(self) -> tuple[Sequence[Sample], Sequence[int]]:
        """Return the sums over all processes, gauges over those that run, and the ids of those that run."""
        pids: list[int] = [os.getpid()]
        running: list[Sample] = []
        with self._locked():
            ended, added_files = _read_ended(self._ended)
            unlocked: list[Path] = []
            for path in sorted({*self._directory.glob(f"*{SUFFIX}")} - {self._file}):
                if path.name in added_files:  # the process that added it ended before it could delete it
                    path.unlink()
                    continue
                is_running, found = _read(path)
                if is_running:
                    pids.append(int(path.name.partition("-")[0]))
                    running += found
                else:
                    unlocked.append(path)
                    ended += [sample for sample in found if sample.family.kind != "gauge"]
            if unlocked:
                ended = _sums(ended)
                _write_ended(self._ended, ended, [path.name for path in unlocked])
                for path in unlocked:
                    path.unlink()
        return _sums([*self.numbers.samples(), *running, *ended]), pids

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = os.open(self._directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _sums(found: Sequence[Sample]) -> list[Sample]:
    """Return the sum for each family and labels; the first family of a name is taken, those of its form are added.

    Processes of two releases may count in the same directory.
    """
    families: dict[str, Family] = {}
    for sample in found:
        families.setdefault(sample.family.name, sample.family)
    alike = (replace(sample, family=replace(sample.family, help=families[sample.family.name].help)) for sample in found)
    return sums(sample for sample in alike if sample.family == families[sample.family.name])


def _read(path: Path) -> tuple[bool, tuple[Sample, ...]]:
    """Return whether the process of a file runs, and its samples."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            is_running = False
        except BlockingIOError:
            is_running = True
        content = file.read()
    try:
        return is_running, tuple(samples(memoryview(content))) if len(content) == SIZE else ()
    except ValueError:
        return is_running, ()


def _read_ended(path: Path) -> tuple[list[Sample], frozenset[str]]:
    """Return the counters of ended processes, and the files that were added last."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return [], frozenset()
    found = [
        Sample(family_of(kind, name, *others), tuple(labels), tuple(numbers))
        for (name, kind, *others), labels, numbers in content["samples"]
    ]
    return found, frozenset(content["files"])


def _write_ended(path: Path, found: Sequence[Sample], files: Sequence[str]) -> None:
    content = {
        "files": files,
        "samples": [(astuple(sample.family), sample.labels, sample.numbers) for sample in found],
    }
    written = path.with_suffix(".new")
    written.write_text(json.dumps(content), "utf-8")
    written.replace(path)
