"""A pool of child processes with their imports done: to import scipy takes most of a second."""

import logging
import os
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from socket import socketpair
from tempfile import TemporaryFile
from threading import Event, Lock, Semaphore, Thread
from typing import BinaryIO

import app
import relevance_bayes
from app.jobs.worker.child.process import Message, Order
from app.jobs.worker.shares import Share
from relevance_bayes.core.fitting import LogEntry
from relevance_bayes.tasks.fit import Fit, Limits

CORE = "relevance_bayes.core.selection:train"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
ENDING_SECONDS = 5.0
PROGRAM = (
    "from app.jobs.worker.child.process import Limits, serve; serve({descriptor}, {parent}, {trainer!r}, {limits!r})"
)

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


class Pool:
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
