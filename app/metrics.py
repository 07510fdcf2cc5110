"""Metrics: families, and the numbers of one process and of all that share a directory."""

import fcntl
import json
import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from operator import add
from pathlib import Path
from threading import Lock
from typing import Literal, Protocol, TypeAlias
from uuid import uuid4

Kind: TypeAlias = Literal["counter", "gauge", "histogram"]
Labels: TypeAlias = tuple[str, ...]

NANOSECONDS = 1e9
"""The divisor of a family in seconds whose numbers are nanoseconds."""


@dataclass(frozen=True)
class Family:
    """Metrics of one name.

    A histogram has one number for each bucket of `bounds` and for the values above them, not cumulative, and their sum.
    Numbers of counters and gauges, and that sum, are divided by `divisor`.
    """

    name: str
    kind: Kind
    help: str
    labels: Labels = ()
    bounds: tuple[float, ...] = ()
    divisor: float = 1.0

    @property
    def width(self) -> int:
        """Return the number of numbers of one sample."""
        return len(self.bounds) + 2 if self.kind == "histogram" else 1


@dataclass(frozen=True)
class MetricSample:
    """The numbers of a family for values of its labels."""

    family: Family
    labels: Labels
    numbers: tuple[float, ...]


def counter(name: str, text: str, *labels: str, divisor: float = 1.0) -> Family:
    """Return a family of numbers that only grow; its name ends with `_total`."""
    return Family(name, "counter", text, labels, divisor=divisor)


def gauge(name: str, text: str, *labels: str) -> Family:
    """Return a family of numbers that grow and shrink."""
    return Family(name, "gauge", text, labels)


def sums(samples: Iterable[MetricSample]) -> list[MetricSample]:
    """Return one sample for each family and labels, with the sums of their numbers."""
    found: dict[tuple[Family, Labels], tuple[float, ...]] = {}
    for one in samples:
        key = (one.family, one.labels)
        found[key] = tuple(map(add, found[key], one.numbers)) if key in found else one.numbers
    return [MetricSample(family, labels, numbers) for (family, labels), numbers in found.items()]


KEY_BYTES = 512 * 1024
"""The size of the text that describes the numbers, after its length."""

MAX_NUMBERS = 32 * 1024
"""The number of integers; a page of memory is used once one of its integers is."""

LENGTH_BYTES = 8
SIZE = LENGTH_BYTES + KEY_BYTES + 8 * MAX_NUMBERS


class Numbers:
    """Integers by family and labels. What counts adds to `values` at the places that `place` returned.

    `memory` has SIZE bytes, all zero: the length of a text, the text, the integers. Each line of the text describes a
    family, or a sample of a family by its line's number and its labels; the integers are in the order of the samples.
    """

    def __init__(self, memory: mmap.mmap | None = None) -> None:
        self._memory = mmap.mmap(-1, SIZE) if memory is None else memory
        self.values = memoryview(self._memory)[LENGTH_BYTES + KEY_BYTES :].cast("q")
        self._families: dict[Family, int] = {}
        self._places: dict[tuple[Family, Labels], int] = {}
        self._length = self._used = self._lines = 0
        self._lock = Lock()

    def place(self, family: Family, *labels: str) -> int:
        """Return the place of the first number of a sample, the same for the same labels."""
        with self._lock:
            place = self._places.get((family, labels))
            if place is not None:
                return place
            if self._used + family.width > MAX_NUMBERS:
                raise OverflowError(f"expected at most {MAX_NUMBERS} numbers of metrics")
            if family not in self._families:
                self._families[family] = self._lines
                self._write(_family_line(family))
            self._write([self._families[family], *labels])
            place, self._used = self._used, self._used + family.width
            self._places[(family, labels)] = place
        return place

    def add(self, place: int, number: int) -> None:
        """Add to a number that several threads change."""
        with self._lock:
            self.values[place] += number

    def samples(self) -> Iterator[MetricSample]:
        """Yield the samples with their numbers at this time."""
        return samples(memoryview(self._memory))

    def _write(self, line: list[object]) -> None:
        written = json.dumps(line).encode() + b"\n"
        begin = LENGTH_BYTES + self._length
        if self._length + len(written) > KEY_BYTES:
            raise OverflowError(f"expected at most {KEY_BYTES} bytes of names and labels of metrics")
        self._memory[begin : begin + len(written)] = written
        self._length += len(written)
        self._lines += 1
        self._memory[:LENGTH_BYTES] = self._length.to_bytes(LENGTH_BYTES, "little")  # last: readers begin here


def _family_line(family: Family) -> list[object]:
    return [None, family.name, family.kind, family.help, family.labels, family.bounds, family.divisor]


def _family_of(kind: str, name: str, text: str, labels: list[str], bounds: list[float], divisor: float) -> Family:
    """Return the family that a line of the text describes."""
    match kind:
        case "counter" | "gauge" | "histogram":
            return Family(name, kind, text, tuple(labels), tuple(bounds), divisor)
        case _:
            raise ValueError(f"expected counter, gauge or histogram, got {kind!r}")


def samples(memory: memoryview) -> Iterator[MetricSample]:
    """Yield the samples in the memory of a process."""
    length = int.from_bytes(memory[:LENGTH_BYTES], "little")
    values = memory[LENGTH_BYTES + KEY_BYTES :].cast("q")
    families: dict[int, Family] = {}
    place = 0
    for number, line in enumerate(bytes(memory[LENGTH_BYTES : LENGTH_BYTES + length]).splitlines()):
        first, *rest = json.loads(line)
        if first is None:
            name, kind, *others = rest
            families[number] = _family_of(kind, name, *others)
        else:
            family = families[first]
            yield MetricSample(family, tuple(rest), tuple(values[place : place + family.width]))
            place += family.width


class NumberSource(Protocol):
    """The numbers that this process counts, and those that it reports."""

    @property
    def numbers(self) -> Numbers:
        """Return the numbers that this process counts."""

    def read(self) -> tuple[Sequence[MetricSample], Sequence[int] | None]:
        """Return the samples to report, and the ids of the processes that counted them; None for this process."""

    def close(self) -> None:
        """Release the memory, where others read it."""


class OwnNumbers:
    """The numbers of this process alone."""

    def __init__(self) -> None:
        self.numbers = Numbers()

    def read(self) -> tuple[Sequence[MetricSample], None]:
        """Return the samples of this process."""
        return list(self.numbers.samples()), None

    def close(self) -> None:
        """Do nothing."""


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

    def read(self) -> tuple[Sequence[MetricSample], Sequence[int]]:
        """Return the sums over all processes, gauges over those that run, and the ids of those that run."""
        pids: list[int] = [os.getpid()]
        running: list[MetricSample] = []
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


def _sums(found: Sequence[MetricSample]) -> list[MetricSample]:
    """Return the sum for each family and labels; the first family of a name is taken, those of its form are added.

    Processes of two releases may count in the same directory.
    """
    families: dict[str, Family] = {}
    for sample in found:
        families.setdefault(sample.family.name, sample.family)
    alike = (replace(sample, family=replace(sample.family, help=families[sample.family.name].help)) for sample in found)
    return sums(sample for sample in alike if sample.family == families[sample.family.name])


def _read(path: Path) -> tuple[bool, tuple[MetricSample, ...]]:
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


def _read_ended(path: Path) -> tuple[list[MetricSample], frozenset[str]]:
    """Return the counters of ended processes, and the files that were added last."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return [], frozenset()
    found = [
        MetricSample(_family_of(kind, name, *others), tuple(labels), tuple(numbers))
        for (name, kind, *others), labels, numbers in content["samples"]
    ]
    return found, frozenset(content["files"])


def _write_ended(path: Path, found: Sequence[MetricSample], files: Sequence[str]) -> None:
    content = {
        "files": files,
        "samples": [(astuple(sample.family), sample.labels, sample.numbers) for sample in found],
    }
    written = path.with_suffix(".new")
    written.write_text(json.dumps(content), "utf-8")
    written.replace(path)
