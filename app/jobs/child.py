"""The child process of fits, which imports the core and next to nothing else of the service."""

import ctypes
import faulthandler
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pkgutil import iter_modules
from queue import SimpleQueue
from threading import Thread
from typing import TypeAlias

from app.malloc import tune_malloc
from relevance_bayes import tasks
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.models.fitting import FitLog, LogEntry
from relevance_bayes.core.selection import Step
from relevance_bayes.tasks.fit import Fit, Fitted, Limits, Trainer

MEBIBYTE = 1024 * 1024


def limit_memory(maximum: int) -> None:
    """Limit the memory that this process may allocate, in bytes; mapped files do not count.

    Beyond the limit an allocation fails, and Python raises MemoryError. Only Linux enforces it.
    """
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))


@dataclass(frozen=True, eq=False)
class FitCheckpoint:
    """A checkpoint of a fit, from which another child process can resume."""

    fit_log: tuple[LogEntry, ...]


def run(
    fit: Fit, train: Trainer, limits: Limits, fit_log: tuple[LogEntry, ...] = ()
) -> Iterator[Step | FitCheckpoint | Fitted]:
    """Return the steps of a fit from the end of an earlier child's `fit_log`, its checkpoints, and its result.

    A checkpoint follows each step that adds to the log. Raises SparseBayesError.
    """
    now = FitLog(fit_log)
    kept = now.entries
    for one in fit.steps(train, limits, now):
        yield one
        entries = now.entries
        if len(entries) != len(kept) or any(new is not before for new, before in zip(entries, kept, strict=True)):
            kept = entries
            yield FitCheckpoint(entries)


STEP_SECONDS = 1.0
"""The least seconds between two steps that are sent, but for the first of each phase, those that carry a share or
announce alternatives, and the last one."""

PR_SET_PDEATHSIG = 1

FOR_FITS = (
    *(f"{tasks.__name__}.{one.name}.fit" for one in iter_modules(tasks.__path__) if one.ispkg),
    "scipy.linalg",
    "scipy.optimize",
    "scipy.special",
)
"""The fits of all tasks, and modules that the core imports lazily; imported before the first fit arrives."""


@dataclass(frozen=True)
class Failure:
    """An exception: its class, its message and, where it is unexpected, its traceback."""

    error: str
    detail: str
    traceback: str | None = None


Message = Step | FitCheckpoint | Fitted | Failure
Order: TypeAlias = tuple[Fit, tuple[LogEntry, ...], Limits | None]
"""A fit, the log of an earlier child process to resume from, and its limits; None: those of the process."""

Pipe: TypeAlias = "Connection[Message, Order]"


def serve(descriptor: int, parent: int, trainer: str, limits: Limits) -> None:
    """Import the modules, then run each fit that comes through the pipe; exits with the pipe and with its parent."""
    _end_with(parent)
    tune_malloc()
    faulthandler.enable()
    if limits.memory is not None:
        limit_memory(limits.memory)
    module, _, name = trainer.partition(":")
    train: Trainer = getattr(import_module(module), name)
    for name in FOR_FITS:
        import_module(name)
    connection: Pipe
    with Connection(descriptor) as connection:
        orders: SimpleQueue[Order] = SimpleQueue()
        Thread(target=_listen, args=(connection, orders), daemon=True).start()
        with suppress(BrokenPipeError):
            while True:
                _obey(orders.get(), train, limits, connection)


def _obey(order: Order, train: Trainer, limits: Limits, connection: Pipe) -> None:
    """Run a fit and send its messages; nothing of it is sent or kept after its end."""
    fit, fit_log, given = order
    if given is not None and given.memory is not None:
        limit_memory(given.memory)
    for message in _work(train, fit, given or limits, fit_log):
        connection.send(message)
        if not isinstance(message, Step | FitCheckpoint):
            return


def _work(train: Trainer, fit: Fit, limits: Limits, fit_log: tuple[LogEntry, ...]) -> Iterator[Message]:
    try:
        yield from _seldom(run(fit, train, limits, fit_log))
    except SparseBayesError as error:
        yield Failure(type(error).__name__, str(error))
    except MemoryError as error:
        yield Failure("MemoryError", str(error))
    except Exception as error:  # noqa: BLE001 - the boundary of the process: the worker logs it
        yield Failure(type(error).__name__, str(error), traceback.format_exc())


def _seldom(found: Iterator[Step | FitCheckpoint | Fitted]) -> Iterator[Step | FitCheckpoint | Fitted]:
    """Return the first step of each phase, then about one a second, the last one, the checkpoints and the end; also
    each step that carries what no later one repeats."""
    withheld: Step | None = None
    phase, due, rest_due = "", float("-inf"), float("-inf")
    for result in found:
        now = time.monotonic()
        if isinstance(result, FitCheckpoint):
            if now >= rest_due:
                yield result
                rest_due = now + STEP_SECONDS
            continue
        if isinstance(result, Step):
            is_unique = result.phase != phase or result.share or result.announced is not None
            if not is_unique and now < due:
                withheld = result
                continue
            phase = result.phase
        if not isinstance(result, Step) and withheld is not None:
            yield withheld
        yield result
        withheld, due = None, time.monotonic() + STEP_SECONDS


def _end_with(parent: int) -> None:
    # Only the worker ends a fit; a signal to the whole process group, of a terminal or an init, is ignored.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if sys.platform == "linux":
        # It does not need the GIL, which C code may hold for minutes.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _listen(connection: Pipe, orders: "SimpleQueue[Order]") -> None:
    with suppress(EOFError, OSError):
        while True:
            orders.put(connection.recv())
    os._exit(1)
