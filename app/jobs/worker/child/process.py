"""A fit in a process of its own, which imports the core and next to nothing else of the service."""

import ctypes
import faulthandler
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import TypeAlias

from app.jobs.fit import Fit, FitCheckpoint, Fitted, Trainer, run
from app.jobs.limits import Limits, limit_memory
from app.malloc import tune_malloc
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.fit_log import LogEntry
from relevance_bayes.core.selection import Step

STEP_SECONDS = 1.0
"""Least time between two steps that are told; the last always is, and the first of each phase."""

PR_SET_PDEATHSIG = 1

FOR_FITS = (
    "app.tasks.approximation.fit",
    "app.tasks.components.fit",
    "app.tasks.images.fit",
    "app.tasks.supervised.fit",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.special",
)
"""Modules that fits need, and those that the core loads lazily: loaded before the first fit comes, not while that
waits."""


@dataclass(frozen=True)
class Failure:
    """An exception's class, its text and, where nobody foresaw it, its traceback."""

    error: str
    detail: str
    traceback: str | None = None


Message = Step | FitCheckpoint | Fitted | Failure
Order: TypeAlias = tuple[Fit, tuple[LogEntry, ...]]
"""The fit to do, and the log of an earlier child that was to do the same."""

Pipe: TypeAlias = "Connection[Message, Order]"


def serve(descriptor: int, parent: int, trainer: str, limits: Limits) -> None:
    """Import what is needed, then do fit after fit that comes through the pipe; ends with it, and with its parent."""
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
    """Say all there is to a fit, up to its end: nothing of it is said, or kept, after that."""
    fit, fit_log = order
    for message in _work(train, fit, limits, fit_log):
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
    """The first step of each phase, then about one a second, the last one, and the end; where it rested as often."""
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
            if result.phase == phase and now < due:
                withheld = result
                continue
            phase = result.phase
        if not isinstance(result, Step) and withheld is not None:
            yield withheld
        yield result
        withheld, due = None, time.monotonic() + STEP_SECONDS


def _end_with(parent: int) -> None:
    # Only the worker decides when a fit ends, also when a terminal or an init signals the whole group.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if sys.platform == "linux":
        # It needs no turn of the interpreter, which C code may hold for minutes.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _listen(connection: Pipe, orders: "SimpleQueue[Order]") -> None:
    with suppress(EOFError, OSError):
        while True:
            orders.put(connection.recv())
    os._exit(1)
