"""Stand-ins for the core's `train`: what a child may be made to do."""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from relevance_bayes.core.basis import ConstantFunction, InputFunctions, KernelFunctions
from relevance_bayes.core.errors import ConstantTargetError, DataError
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.selection import FitContext, Folding, Rows, Selection, Step, Trained, train
from relevance_bayes.records.reports import Evidence
from relevance_bayes.tasks.fit import Trainer

CHOSEN = "tests.jobs.worker.trainers:chosen"
MARKS = "RELEVANCE_TEST_MARKS"
"""A folder in which each start of `marked` and `stuck` leaves a file."""

GATE = "gate"
"""The file for which `marked` waits."""

FULL = "full"
"""The file during which the disk of the workers of `tests.faults` is full."""

Results = Iterator[Step | Trained]


def wait_for_the_gate() -> None:
    """Until the file GATE is there."""
    while not Path(os.environ[MARKS], GATE).exists():
        time.sleep(0.05)


def model_of(rows: Rows, spec: Spec, *, chosen: tuple[int, ...] = (0, 1)) -> Model:
    """A model that was not learned: kernels on two rows, and a bias."""
    on = np.array(chosen, np.intp)
    functions = KernelFunctions(Gaussian(), InputMap.isotropic(0.5), np.array(rows.X[on]), on)
    weights = np.arange(1.0, len(on) + 2.0)
    return Model(
        likelihood=spec.model_likelihood,
        functions=(functions, ConstantFunction()),
        mean=weights,
        covariance=np.diag(weights**2),
        alpha=weights,
        gamma=weights / (len(weights) + 1),
        noise_sd=0.5,
        evidence=Evidence(-10.0, "exact", 0.0, 0.0),
        inputs=rows.X.shape[1],
        rows=len(rows.t),
        candidates=len(rows.t) + 1,
        termination="converged",
    )


def step(number: int) -> Step:
    return Step("fit", number, None, "iterations", -10.0, number, 0.5)


def mark() -> None:
    """Leave a file with the name of this process, where somebody wants to know."""
    if MARKS in os.environ:
        Path(os.environ[MARKS], str(os.getpid())).touch()


def quick(rows: Rows, selection: Selection, *, held_out: Rows | None = None, **_: object) -> Results:
    """Two steps and the end."""
    spec, folds = selection.spec, selection.folds
    yield step(0)
    yield step(1)
    measured = {} if held_out is None else {"rmse": 2.0, "nll": 1.0}
    validation = {"mae": 1.5, "nll": 0.5, "rows": 2.0 * folds} if folds else {}
    yield Trained(model_of(rows, spec), spec, measured, {}, validation=validation)


def process(rows: Rows, selection: Selection, **_: object) -> Results:
    """A model with all that a process brings: a function that left its row, warps, inputs as functions."""
    yield step(0)
    model, weights = model_of(rows, selection.spec), np.arange(1.0, 6.0)
    bent = InputMap(np.array([0.5, 2.0, 3.0]), np.array([0.0, 0.1, 0.0]), np.zeros(3))
    rounded = rows.X[:2] * (1.0 + 1e-13)
    centres = rounded + np.array([[0.0, 0.0, 0.0], [0.25, 0.0, 0.0]])
    yield Trained(
        replace(
            model,
            functions=(
                KernelFunctions(Gaussian(), bent, centres, np.arange(2)),
                ConstantFunction(),
                InputFunctions(np.array([2, 0])),
            ),
            mean=weights,
            covariance=np.diag(weights),
            alpha=weights,
            gamma=weights / 6.0,
            signal_variance=0.25,
            last_gain=4.5,
            next_gain=0.5,
        ),
        selection.spec,
        {},
        {},
    )


def chatty(rows: Rows, selection: Selection, **_: object) -> Results:
    """A thousand steps as fast as they come, one of which carries a share."""
    yield from (replace(step(number), share=0.5 * (number == 500)) for number in range(1000))
    yield Trained(model_of(rows, selection.spec), selection.spec, {}, {})


def reported(
    rows: Rows, selection: Selection, *, folding: Folding, held_out: Rows | None = None, **_: object
) -> Results:
    """Report what was handed over, as an error's text."""
    yield from ()
    keys = None if folding.keys is None else folding.keys.tolist()
    out = None if held_out is None else (held_out.X.tolist(), held_out.t.tolist())
    raise DataError(repr((rows.X.tolist(), rows.t.tolist(), folding.by, keys, out, selection.folds)))


def imported(rows: Rows, selection: Selection, **_: object) -> Results:
    """Report what this process has imported, as an error's text."""
    yield from ()
    raise DataError(" ".join(sys.modules))


def threads(rows: Rows, selection: Selection, *, on: FitContext, **_: object) -> Results:
    """Report how many threads a fit has, and linear algebra in each, as an error's text."""
    yield from ()
    raise DataError(f"{on.threads} x {os.environ['OPENBLAS_NUM_THREADS']}")


def refusing(rows: Rows, selection: Selection, **_: object) -> Results:
    """Refuse the rows."""
    yield step(0)
    raise ConstantTargetError("all 7 targets are 3.0")


def broken(rows: Rows, selection: Selection, **_: object) -> Results:
    """Have a fault that nobody foresaw."""
    yield step(0)
    raise ZeroDivisionError("in the depths")


def greedy(rows: Rows, selection: Selection, **_: object) -> Results:
    """Request more memory than there is."""
    yield step(0)
    np.empty(2**58)


def dying(rows: Rows, selection: Selection, **_: object) -> Results:
    """Be killed from outside, each time."""
    yield step(0)
    os.kill(os.getpid(), signal.SIGKILL)


def crashing(rows: Rows, selection: Selection, **_: object) -> Results:
    """Read where nothing is, each time."""
    yield step(0)
    ctypes.string_at(0)


def poisonous(rows: Rows, selection: Selection, **_: object) -> Results:
    """Kill the worker, each time."""
    mark()
    yield step(0)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def hungry(rows: Rows, selection: Selection, **_: object) -> Results:
    """Request a gigabyte that there may be."""
    yield step(0)
    yield Trained(model_of(Rows(rows.X + np.zeros(2**27)[0], rows.t), selection.spec), selection.spec, {}, {})


def resting(rows: Rows, selection: Selection, *, on: FitContext, **_: object) -> Results:
    """Rest once and go on for ever; begun anew with that trail, end."""
    fit_log = on.fit_log
    if fit_log.recorded() is not None:
        yield step(3)
        yield Trained(model_of(rows, selection.spec), selection.spec, {}, {})
        return
    number = 0
    while True:
        yield step(min(number, 2))
        if not number:
            fit_log.record(fit_log.place, np.array([0.5]))
        number += 1
        time.sleep(0.05)


def endless(rows: Rows, selection: Selection, **_: object) -> Results:
    """Go on for ever."""
    number = 0
    while True:
        yield step(number)
        number += 1
        time.sleep(0.05)


def stuck(rows: Rows, selection: Selection, **_: object) -> Results:
    """Hold the interpreter's lock for ever."""
    mark()
    yield step(0)
    ctypes.PyDLL(None).sleep(600)


def marked(rows: Rows, selection: Selection, *, functions: int = 2, **_: object) -> Results:
    """Leave a file with the name of this process, then go on until the gate is there."""
    mark()
    gate = Path(os.environ[MARKS], GATE)
    number = 0
    while not gate.exists():
        yield step(number)
        number += 1
        time.sleep(0.05)
    yield Trained(model_of(rows, selection.spec, chosen=tuple(range(functions))), selection.spec, {}, {})


def heavy(rows: Rows, selection: Selection, **_: object) -> Results:
    """As `marked`, with a version that takes many pages of a database."""
    return marked(rows, selection, functions=150)


TRAINERS: tuple[Trainer, ...] = (
    quick,
    chatty,
    reported,
    imported,
    threads,
    refusing,
    broken,
    greedy,
    dying,
    endless,
    stuck,
    marked,
    train,
    process,
    crashing,
    hungry,
    resting,
    poisonous,
    heavy,
)


def spec_of(trainer: Trainer) -> Spec:
    """A spec that makes `chosen` act as this one: children know nothing but their task."""
    return Spec(GaussianNoise(), seed=TRAINERS.index(trainer))


def chosen(
    rows: Rows, selection: Selection, *, folding: Folding, held_out: Rows | None = None, on: FitContext
) -> Results:
    """The stand-in that the spec's seed names."""
    return TRAINERS[selection.spec.seed](rows, selection, folding=folding, held_out=held_out, on=on)
