"""Children that have imported all they need, before they are needed: an import of scipy takes most of a second."""

import os
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from socket import socketpair
from tempfile import TemporaryFile
from threading import Event, Semaphore, Thread
from typing import BinaryIO

import app
from app.sparse_bayes.trail import Mark
from app.worker.child.limits import Limits
from app.worker.child.process import Message, Order
from app.worker.child.tasks import Task

CORE = "app.sparse_bayes.selection:train"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
ENDING_SECONDS = 5.0
PROGRAM = "from app.worker.child.process import Limits, serve; serve({descriptor}, {parent}, {trainer!r}, {limits!r})"

MOST_SAID, MOST_WORDS = 8_192, 300
"""Bytes of what a child said that are kept, and characters of its last words."""

FATAL = "Fatal Python error: "


class ChildDied(Exception):
    """A child ended without an answer: by a signal (below 0: its number) or with an exit code.

    `said` is the end of what it wrote on its standard error.
    """

    def __init__(self, code: int, said: str) -> None:
        super().__init__(f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}")
        self.code = code
        self.said = said

    @property
    def words(self) -> str:
        """Its last: the name of what ended it, before the stack that the interpreter then shows, or its last line."""
        _, fatal, rest = self.said.rpartition(FATAL)
        line = (fatal + rest).splitlines()[0] if fatal else self.said.rstrip().rpartition("\n")[2]
        return line[-MOST_WORDS:]


class Child:
    """A process for one fit."""

    def __init__(
        self, process: subprocess.Popen[bytes], connection: "Connection[Order, Message]", said: BinaryIO
    ) -> None:
        self._process = process
        self._connection = connection
        self._said = said

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def start(self, task: Task, trail: tuple[Mark, ...] = ()) -> None:
        """Hand it the one task of its life, to be gone on with from where a trail ends; raises ChildDied."""
        try:
            self._connection.send((task, trail))
        except OSError:
            raise self._died() from None

    def receive(self, timeout: float) -> Message | None:
        """What it says next, None when it says nothing for `timeout` seconds; raises ChildDied."""
        try:
            return self._connection.recv() if self._connection.poll(timeout) else None
        except (EOFError, OSError):
            raise self._died() from None

    def _died(self) -> ChildDied:
        code = self._code()
        self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - MOST_SAID))
        return ChildDied(code, self._said.read().decode(errors="replace"))

    def _code(self) -> int:
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(ENDING_SECONDS)
        self._process.kill()
        return self._process.wait()

    def kill(self) -> None:
        """End it now, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._said.close()


class Pool:
    """Keeps `spare` children ready; each fit gets one of its own, and another takes its place.

    `trainer` names what a child calls ("module:function").
    """

    def __init__(self, *, spare: int, limits: Limits, trainer: str = CORE) -> None:
        self._trainer = trainer
        self._limits = limits
        self._environment = _environment()
        self._ready: SimpleQueue[Child] = SimpleQueue()
        self._wanted = Semaphore(spare)
        self._stopping = Event()
        # On Linux a child dies with the thread that started it: so this one starts them all, and lives on.
        self._thread = Thread(target=self._keep_ready, name="pool", daemon=True)

    @property
    def memory(self) -> int | None:
        """How many bytes a child may allocate, where that is limited."""
        return self._limits.memory

    def start(self) -> None:
        """Begin to make children."""
        self._thread.start()

    def take(self) -> Child:
        """A child that waits for its task."""
        while True:
            child = self._ready.get()
            self._wanted.release()
            if child.alive:
                return child
            child.kill()

    def stop(self) -> None:
        """End the children that nobody has taken, and the making of more."""
        self._stopping.set()
        self._wanted.release()
        self._thread.join()
        while not self._ready.empty():
            self._ready.get().kill()

    def _keep_ready(self) -> None:
        while self._wanted.acquire() and not self._stopping.is_set():
            self._ready.put(self._spawn())

    def _spawn(self) -> Child:
        ours, theirs = socketpair()
        program = PROGRAM.format(
            descriptor=theirs.fileno(),
            parent=os.getpid(),
            trainer=self._trainer,
            limits=self._limits,
        )
        said = TemporaryFile()  # noqa: SIM115 - the child's, until it is killed
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                pass_fds=[theirs.fileno()],
                env=self._environment,
            )
        return Child(process, Connection(ours.detach()), said)


def _environment() -> dict[str, str]:
    """This process's environment, with the package findable, and linear algebra in one thread unless an operator said.

    Its threads wait for each other by spinning, and what a fit shares among threads is whole blocks of rows.
    """
    root = str(Path(app.__file__).parents[1])
    found = os.environ.get("PYTHONPATH")
    given = dict.fromkeys(THREADS, "1") | dict(os.environ)
    return given | {"PYTHONPATH": os.pathsep.join([root, found] if found else [root])}
