"""The numbers that one process counts, in memory that other processes may read."""

import json
import mmap
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Protocol

from app.metrics.families import Family, Labels, Sample

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

    def samples(self) -> Iterator[Sample]:
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


def family_of(kind: str, name: str, text: str, labels: list[str], bounds: list[float], divisor: float) -> Family:
    """Return the family that a line of the text describes."""
    match kind:
        case "counter" | "gauge" | "histogram":
            return Family(name, kind, text, tuple(labels), tuple(bounds), divisor)
        case _:
            raise ValueError(f"expected counter, gauge or histogram, got {kind!r}")


def samples(memory: memoryview) -> Iterator[Sample]:
    """Yield the samples in the memory of a process."""
    length = int.from_bytes(memory[:LENGTH_BYTES], "little")
    values = memory[LENGTH_BYTES + KEY_BYTES :].cast("q")
    families: dict[int, Family] = {}
    place = 0
    for number, line in enumerate(bytes(memory[LENGTH_BYTES : LENGTH_BYTES + length]).splitlines()):
        first, *rest = json.loads(line)
        if first is None:
            name, kind, *others = rest
            families[number] = family_of(kind, name, *others)
        else:
            family = families[first]
            yield Sample(family, tuple(rest), tuple(values[place : place + family.width]))
            place += family.width


class NumberSource(Protocol):
    """The numbers that this process counts, and those that it reports."""

    @property
    def numbers(self) -> Numbers:
        """Return the numbers that this process counts."""

    def read(self) -> tuple[Sequence[Sample], Sequence[int] | None]:
        """Return the samples to report, and the ids of the processes that counted them; None for this process."""

    def close(self) -> None:
        """Release the memory, where others read it."""


class OwnNumbers:
    """The numbers of this process alone."""

    def __init__(self) -> None:
        self.numbers = Numbers()

    def read(self) -> tuple[Sequence[Sample], None]:
        """Return the samples of this process."""
        return list(self.numbers.samples()), None

    def close(self) -> None:
        """Do nothing."""
