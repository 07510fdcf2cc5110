"""The shares of a worker's cores and memory that its running fits have.

A fit alone has all of them. A further one begins where its estimate fits beside the others; the rest of the memory is
then shared equally, so that all limits together are the memory for fits.
"""

import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

KIBIBYTE = 1024

PROGRAM_BYTES = 160 * KIBIBYTE**2
"""The bytes that an idle child process of a worker has allocated."""


@dataclass(frozen=True)
class Share:
    """The threads of a fit, and the bytes that it may allocate; None: no limit."""

    threads: int
    memory: int | None


@dataclass(eq=False)
class ShareRequest:
    """The request of a fit that needs about `need` bytes; None: that is not known. `pid` is its process."""

    shares: "FitShares"
    need: int | None
    pid: int | None = None
    share: Share | None = None
    reserved: int = field(default=0)

    def admitted(self) -> Share | None:
        """Return the share, once the fit may begin; None as long as it waits for others to end."""
        return self.share or self.shares.admit(self)

    def run_in(self, pid: int) -> Share | None:
        """Name the process of the fit, whose limit follows the share from now on; return the current share."""
        self.pid = pid
        return self.share


class FitShares:
    """Divides `cores`, and `memory` in bytes, among the running fits; `slots` is the maximum number of these.

    None of them may allocate more than `max_of_one` bytes. A process has allocated `program` bytes before its fit,
    which no estimate includes. `used` returns the bytes that a process has allocated, and `limit` sets its maximum.
    """

    def __init__(
        self,
        cores: int = 1,
        memory: int | None = None,
        *,
        slots: int = 1,
        max_of_one: int | None = None,
        program: int = 0,
        used: Callable[[int], int] | None = None,
        limit: Callable[[int, int], None] | None = None,
    ) -> None:
        self._cores = cores
        self._memory = memory
        self._slots = slots
        self._max_of_one = max_of_one
        self._program = program
        self._used = allocated_bytes if used is None else used
        self._limit = limit_process if limit is None else limit
        self._lock = Lock()
        self._waiting: list[ShareRequest] = []
        self._running: list[ShareRequest] = []

    @contextmanager
    def requested(self, need: int | None) -> Iterator[ShareRequest]:
        """Request a share; it is given back at the end of the block. Requests are admitted in their order."""
        request = ShareRequest(self, need)
        with self._lock:
            self._waiting.append(request)
        try:
            yield request
        finally:
            with self._lock:
                if request in self._waiting:
                    self._waiting.remove(request)
                else:
                    self._running.remove(request)
                    self._divide()

    def admit(self, request: ShareRequest) -> Share | None:
        """Return the share of a request that is the first of those that wait, if it fits beside what runs."""
        with self._lock:
            if self._waiting[0] is not request or not self._fits(request):
                return None
            self._waiting.remove(request)
            self._running.append(request)
            self._divide()
            return request.share

    def _fits(self, request: ShareRequest) -> bool:
        if self._memory is None or not self._running:
            return True
        return sum(map(self._reserve, [*self._running, request])) <= self._memory

    def _reserve(self, request: ShareRequest) -> int:
        """Return the bytes that a fit has by its estimate, or by what it has allocated already."""
        memory = self._memory or 0
        need = memory // self._slots if request.need is None else request.need + self._program
        used = 0 if request.pid is None else self._used(request.pid)
        return min(max(need, used), memory)

    def _divide(self) -> None:
        """Divide what no fit has reserved equally, and set the limits of the processes."""
        if not self._running:
            return
        threads = max(1, self._cores // len(self._running))
        if self._memory is None:
            for request in self._running:
                request.share = Share(threads, self._max_of_one)
            return
        for request in self._running:
            request.reserved = self._reserve(request)
        rest = max(0, self._memory - sum(one.reserved for one in self._running)) // len(self._running)
        for request in self._running:
            memory = request.reserved + rest
            request.share = Share(threads, memory if self._max_of_one is None else min(memory, self._max_of_one))
            if request.pid is not None and request.share.memory is not None:
                self._limit(request.pid, request.share.memory)


def allocated_bytes(pid: int) -> int:
    """Return the bytes of private data of a process; 0 where that has ended, and on other systems than Linux."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * KIBIBYTE
    return 0


def limit_process(pid: int, maximum: int) -> None:
    """Limit the memory that a process may allocate, in bytes, if it still runs; only Linux enforces it."""
    if sys.platform == "linux":
        with suppress(OSError):
            _, hard = resource.prlimit(pid, resource.RLIMIT_DATA)
            allowed = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
            resource.prlimit(pid, resource.RLIMIT_DATA, (allowed, hard))
