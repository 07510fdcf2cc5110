"""A fit in a process of its own, which imports the core and nothing else of the service."""

import ctypes
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
from pathlib import Path
from threading import Thread
from typing import Literal, Protocol, TypeAlias

import numpy as np

from app.sparse_bayes.errors import SparseBayesError
from app.sparse_bayes.selection import Folding, Rows, Step, Trained
from app.sparse_bayes.spec import Spec
from app.sparse_bayes.types import Array

STEP_SECONDS = 1.0
"""Least time between two steps that are told; the last always is, and the first of each phase."""

EXTRA_COLUMNS = 4
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Task:
    """What to fit: a file of float64, `training` rows, then `held_out` ones.

    Each row is its `inputs` numbers, then t, its noise sd, the fold key and the number of its dataset row.
    """

    path: Path
    training: int
    held_out: int
    inputs: int
    spec: Spec
    by: Literal["random", "groups", "order"]
    rivals: tuple[Spec, ...] = ()
    folds: int = 0


@dataclass(frozen=True)
class Failure:
    """An exception's class, its text and, where nobody foresaw it, its traceback."""

    error: str
    detail: str
    traceback: str | None = None


Message = Step | Trained | Failure
Pipe: TypeAlias = "Connection[Message, Task]"


class Trainer(Protocol):
    """`app.sparse_bayes.selection.train`, or what stands for it."""

    def __call__(
        self,
        rows: Rows,
        spec: Spec,
        *,
        rivals: tuple[Spec, ...] = (),
        folding: Folding,
        held_out: Rows | None = None,
        folds: int = 0,
        threads: int = 1,
    ) -> Iterator[Step | Trained]: ...


def serve(descriptor: int, parent: int, trainer: str, *, threads: int) -> None:
    """Import what is needed, then do the one task that comes through the pipe; ends with it, and with its parent."""
    _end_with(parent)
    module, _, name = trainer.partition(":")
    train: Trainer = getattr(import_module(module), name)
    connection: Pipe
    with Connection(descriptor) as connection:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        Thread(target=_end_with_pipe, args=(connection,), daemon=True).start()
        with suppress(BrokenPipeError):
            for message in _work(train, task, threads):
                connection.send(message)


def _work(train: Trainer, task: Task, threads: int) -> Iterator[Message]:
    try:
        rows, held_out, keys = _map(task)
        folding = Folding(task.by, None if task.by == "random" else keys)
        results = train(
            rows,
            task.spec,
            rivals=task.rivals,
            folding=folding,
            held_out=held_out,
            folds=task.folds,
            threads=threads,
        )
        yield from _seldom(results)
    except SparseBayesError as error:
        yield Failure(type(error).__name__, str(error))
    except MemoryError as error:
        yield Failure("MemoryError", str(error))
    except Exception as error:  # noqa: BLE001 - the boundary of the process: the worker logs it
        yield Failure(type(error).__name__, str(error), traceback.format_exc())


def _map(task: Task) -> tuple[Rows, Rows | None, Array]:
    # Pages of the file, not copies of it: what was written and not read again costs no memory.
    mapped = np.memmap(task.path, "<f8", "r", shape=(task.training + task.held_out, task.inputs + EXTRA_COLUMNS))
    table = np.asarray(mapped)
    held_out = _rows(task, table[task.training :]) if task.held_out else None
    keys = np.ascontiguousarray(table[: task.training, task.inputs + 2])
    return _rows(task, table[: task.training]), held_out, keys


def _rows(task: Task, part: Array) -> Rows:
    noise_sd = np.ascontiguousarray(part[:, task.inputs + 1]) if task.spec.likelihood.noise_by_row else None
    return Rows(part[:, : task.inputs], np.ascontiguousarray(part[:, task.inputs]), noise_sd)


def _seldom(results: Iterator[Step | Trained]) -> Iterator[Step | Trained]:
    """The first step of each phase, then about one a second, the last one, and the end."""
    withheld: Step | None = None
    phase, due = "", float("-inf")
    for result in results:
        if isinstance(result, Step):
            if result.phase == phase and time.monotonic() < due:
                withheld = result
                continue
            phase = result.phase
        if isinstance(result, Trained) and withheld is not None:
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


def _end_with_pipe(connection: Pipe) -> None:
    with suppress(EOFError, OSError):
        connection.recv_bytes()
    os._exit(1)
