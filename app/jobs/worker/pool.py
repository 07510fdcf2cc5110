"""Child processes of fits, and the slots and shares of a machine's cores and memory that they have."""

import logging
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from socket import socketpair
from tempfile import TemporaryFile
from threading import Event, Lock, Semaphore, Thread
from typing import BinaryIO
from uuid import UUID

import app
import relevance_bayes
from app.jobs.child import Message, Order
from app.jobs.records import WorkerUse
from relevance_bayes.core.models.fitting import LogEntry
from relevance_bayes.tasks.fit import Fit, Limits

MEMORY_FOR_FITS = 0.8
CONTROL_GROUPS = Path("/sys/fs/cgroup")
"""The mount of the control groups of version 2; those of version 1 are in a folder of it for each controller."""
OWN_GROUPS = Path("/proc/self/cgroup")
"""The kernel's file with the control groups of this process."""


def memory_of_fits() -> int:
    """Return the number of bytes that all fits together may allocate: most of the process's memory limit."""
    maximum = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for text in (*_limits("memory.max"), *_limits("memory.limit_in_bytes", "memory")):
        if text.isdigit():
            maximum = min(maximum, int(text))
    return int(MEMORY_FOR_FITS * maximum)


def cores() -> int:
    """Return the number of cores that this process may use, at most those of the CPU limits of its control groups."""
    maximum = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    for text in _limits("cpu.max"):
        quota, _, period = text.partition(" ")  # microseconds in a period, and the period
        if quota.isdigit():
            maximum = min(maximum, int(quota) // int(period))
    return max(1, maximum)


def _limits(name: str, controller: str = "") -> Iterator[str]:
    """Yield what a file of limits has in the control group of this process and in those around it.

    With a `controller` the groups are of version 1, else of version 2. A container sees its own group as the outermost.
    """
    groups = OWN_GROUPS.read_text().splitlines() if OWN_GROUPS.exists() else []
    for _, controllers, path in (line.split(":", 2) for line in groups):
        if controller in controllers.split(","):
            mount = CONTROL_GROUPS / controller
            group = mount / path.lstrip("/")
            files = (folder / name for folder in (group, *group.parents) if folder.is_relative_to(mount))
            yield from (file.read_text().strip() for file in files if file.exists())


FITS = ("app/tasks", "app/jobs/worker", "relevance_bayes/core", "relevance_bayes/tables", "relevance_bayes/tasks")
"""The modules that decide the result of a fit."""

FILES = (
    "app/formats",
    "app/prediction",
    "app/tasks",
    "app/jobs/worker",
    "relevance_bayes/core",
    "relevance_bayes/documents",
    "relevance_bayes/tables",
    "relevance_bayes/tasks",
)
"""The modules that decide the content of a file of predictions."""


def program(parts: Sequence[str] = FITS) -> str:
    """Return a digest of the sources, the libraries and the machine: another combination may round differently."""
    roots = {package.__name__: Path(package.__path__[0]).parent for package in (app, relevance_bayes)}
    digest = sha256()
    for part in parts:
        root = roots[part.split("/")[0]]
        files = sorted((root / part).rglob("*.py"))
        if not files:
            raise FileNotFoundError(f"expected sources in {root / part}")
        for path in files:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    libraries = ("numpy", "scipy", "pyarrow") if "app/formats" in parts else ("numpy", "scipy")
    return " ".join([digest.hexdigest()[:32], *(f"{name} {version(name)}" for name in libraries), platform.machine()])


class Slots:
    """Counts the fits that run in `number` slots, and the seconds of all of them, by a monotonic clock."""

    def __init__(self, number: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._number = number
        self._clock = clock
        self._lock = Lock()
        self._began: dict[object, float] = {}
        self._ended_seconds = 0.0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take a slot for the time of a block."""
        key = object()
        with self._lock:
            self._began[key] = self._clock()
        try:
            yield
        finally:
            with self._lock:
                self._ended_seconds += self._clock() - self._began.pop(key)

    def counted(self, run: Callable[[UUID], bool]) -> Callable[[UUID], bool]:
        """Return a function that runs a job in a slot."""

        def run_in_slot(job_id: UUID) -> bool:
            with self.taken():
                return run(job_id)

        return run_in_slot

    def use(self) -> WorkerUse:
        """Return the use until now."""
        with self._lock:
            now = self._clock()
            seconds = self._ended_seconds + sum(now - began for began in self._began.values())
            return WorkerUse(self._number, len(self._began), seconds)


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


CORE = "relevance_bayes.core.selection:train"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
ENDING_SECONDS = 5.0
PROGRAM = "from app.jobs.child import Limits, serve; serve({descriptor}, {parent}, {trainer!r}, {limits!r})"

SHORT_SECONDS = 5.0
"""Seconds of a fit after which its child is not reused: a long fit may have fragmented its memory."""

MAX_FITS = 100
"""The number of fits of one child."""

MAX_STDERR_BYTES, MAX_WORDS = 8_192, 300
"""The bytes of a child's standard error that are kept, and the characters of it that are recorded."""

FATAL = "Fatal Python error: "

RETRY_SECONDS = 1.0
"""The pause after a child that could not be started."""

logger = logging.getLogger(__name__)


class ChildDied(Exception):
    """A child process ended without a result: by a signal (code below 0: its number) or with an exit code.

    `stderr` is the end of its standard error.
    """

    def __init__(self, code: int, stderr: str) -> None:
        super().__init__(f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}")
        self.code = code
        self.stderr = stderr

    @property
    def words(self) -> str:
        """The fatal error in `stderr`, without the stack that the interpreter prints after it, else the last line."""
        _, fatal, rest = self.stderr.rpartition(FATAL)
        line = (fatal + rest).splitlines()[0] if fatal else self.stderr.rstrip().rpartition("\n")[2]
        return line[-MAX_WORDS:]


class Child:
    """A child process for one fit at a time."""

    def __init__(
        self, process: subprocess.Popen[bytes], connection: "Connection[Order, Message]", stderr: BinaryIO
    ) -> None:
        self._process = process
        self._connection = connection
        self._stderr = stderr
        self._fits = 0
        self._received_first: float | None = None

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Return whether the process is running."""
        return self._process.poll() is None

    def start(self, fit: Fit, fit_log: tuple[LogEntry, ...] = (), limits: Limits | None = None) -> None:
        """Send a fit, to be resumed from the end of its log, with limits that replace the pool's; raises ChildDied."""
        self._fits += 1
        self._received_first = None
        try:
            self._connection.send((fit, fit_log, limits))
        except OSError:
            raise self._died() from None

    def receive(self, timeout: float) -> Message | None:
        """Return the next message, None where none comes within `timeout` seconds; raises ChildDied."""
        try:
            message = self._connection.recv() if self._connection.poll(timeout) else None
        except (EOFError, OSError):
            raise self._died() from None
        if message is not None and self._received_first is None:
            self._received_first = time.monotonic()
        return message

    def reset(self) -> bool:
        """Clear its standard error after a fit that ended well; return whether it can be reused."""
        # The time is counted from its first message: imports are no part of a fit.
        if self._fits >= MAX_FITS or time.monotonic() - (self._received_first or 0.0) > SHORT_SECONDS:
            return False
        self._stderr.seek(0)  # moves the offset of the child's descriptor too
        self._stderr.truncate()
        return self.is_alive

    def _died(self) -> ChildDied:
        code = self._code()
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - MAX_STDERR_BYTES))
        return ChildDied(code, self._stderr.read().decode(errors="replace"))

    def _code(self) -> int:
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(ENDING_SECONDS)
        self._process.kill()
        return self._process.wait()

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._stderr.close()


class ChildPool:
    """Keeps `spare` idle child processes; each fit takes one, and another one is started in its place.

    A child whose fit was short and ended well is reused, so that short fits do not wait for new processes. `trainer`
    names the function that a child calls ("module:function"). What children write to standard error is in unnamed files
    of `directory`, by default the system's for temporary files.
    """

    def __init__(self, *, spare: int, limits: Limits, trainer: str = CORE, directory: Path | None = None) -> None:
        self._trainer = trainer
        self._directory = directory
        self._limits = limits
        self._environment = _environment()
        self._ready: SimpleQueue[Child] = SimpleQueue()
        self._spare = spare
        self._required = Semaphore(spare)
        self._coming = spare
        self._counting = Lock()
        self._stopping = Event()
        # On Linux a child dies with the thread that started it, so one thread, which lives on, starts them all.
        self._thread = Thread(target=self._keep_ready, name="pool", daemon=True)

    def limits(self, share: Share) -> Limits:
        """Return the limits of a fit with a share of cores and memory."""
        return replace(self._limits, threads=share.threads, memory=share.memory)

    def start(self) -> None:
        """Start to fill the pool."""
        self._thread.start()

    def take(self) -> Child:
        """Take an idle child."""
        while True:
            child = self._ready.get()
            with self._counting:
                if self._ready.qsize() + self._coming < self._spare:
                    self._coming += 1
                    self._required.release()
            if child.is_alive:
                return child
            child.kill()

    def give_back(self, child: Child) -> None:
        """Return a child whose fit ended well: it is reused, or killed."""
        with self._counting:
            space = self._ready.qsize() < 2 * self._spare and not self._stopping.is_set()
            if space and child.reset():
                self._ready.put(child)
                return
        child.kill()

    def stop(self) -> None:
        """Kill the idle children, and start no more."""
        with self._counting:
            self._stopping.set()
        self._required.release()
        self._thread.join()
        while not self._ready.empty():
            self._ready.get().kill()

    def _keep_ready(self) -> None:
        while self._required.acquire() and not self._stopping.is_set():
            try:
                child = self._spawn()
            except OSError:
                logger.exception("a process for fits can't be started")
                self._required.release()
                self._stopping.wait(RETRY_SECONDS)
                continue
            with self._counting:
                self._ready.put(child)
                self._coming -= 1

    def _spawn(self) -> Child:
        """Start a child; raises OSError where processes, descriptors or the space for files are used up."""
        ours, theirs = socketpair()
        program = PROGRAM.format(
            descriptor=theirs.fileno(),
            parent=os.getpid(),
            trainer=self._trainer,
            limits=self._limits,
        )
        with theirs, ExitStack() as failing:
            failing.enter_context(ours)
            stderr = failing.enter_context(TemporaryFile(dir=self._directory))
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                pass_fds=[theirs.fileno()],
                env=self._environment,
            )
            failing.pop_all()  # they are the child's, until it is killed
        return Child(process, Connection(ours.detach()), stderr)


def _environment() -> dict[str, str]:
    """Return the environment of a child, with both packages on the path and one thread for linear algebra by default.

    BLAS threads wait for each other by spinning; a fit parallelises over whole blocks of rows instead.
    """
    roots = dict.fromkeys(str(Path(package.__path__[0]).parent) for package in (app, relevance_bayes))
    found = os.environ.get("PYTHONPATH")
    given = dict.fromkeys(THREADS, "1") | dict(os.environ)
    return given | {"PYTHONPATH": os.pathsep.join([*roots, *([found] if found else [])])}
