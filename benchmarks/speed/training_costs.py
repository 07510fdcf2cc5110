"""The cost of a training by rows and inputs: the CPU time and memory of defaults and of `effort: quick`."""

import json
import subprocess
import sys
from dataclasses import dataclass
from time import process_time
from typing import Literal, get_args

import numpy as np

from benchmarks.fitting import NO_DATASET, fitted
from benchmarks.generators import TABLE_SEED, friedman
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.speed.one_fit import forget_peak, peak_bytes
from relevance_bayes.records.values import Effort
from relevance_bayes.tables.columns import Block, CategoryArray, Column, NumberArray
from relevance_bayes.tasks.supervised.request import SupervisedRequest

Kind = Literal["number", "two classes", "three classes", "four classes", "count"]
CLASSES: dict[Kind, int] = {"two classes": 2, "three classes": 3, "four classes": 4}

SIZES: tuple[tuple[Kind, int, int], ...] = (
    ("number", 150, 5),
    ("number", 300, 10),
    ("number", 600, 30),
    ("number", 1_000, 10),
    ("number", 1_000, 60),
    ("number", 2_000, 10),
    ("number", 4_000, 10),
    ("number", 8_000, 10),
    ("number", 20_000, 10),
    ("number", 100_000, 10),
    ("two classes", 300, 10),
    ("two classes", 1_000, 10),
    ("two classes", 4_000, 10),
    ("two classes", 20_000, 10),
    ("three classes", 2_000, 10),
    ("four classes", 600, 10),
    ("count", 600, 10),
    ("count", 2_500, 10),
)
QUICK_SIZES: tuple[tuple[Kind, int, int], ...] = (("number", 150, 5),)

WARM_UP_ROWS = 50

NOTE = """\
CPU seconds of one core and the peak of memory above that before the fit, each fit in a fresh process with one thread,
one draw. Numbers are Friedman's first function of the first five inputs with noise of sd 1; classes are quantiles of
it; counts have its exponential, divided by its mean, times 3 as their mean."""


@dataclass(frozen=True)
class TrainingCost:
    """CPU `seconds` and the `peak` of memory in bytes of one training."""

    seconds: float
    peak: int


def training_costs(options: Options) -> list[Table]:
    """One table, by target, rows and inputs."""
    rows = []
    for kind, n_rows, n_inputs in QUICK_SIZES if options.quick else SIZES:
        normal, quick = (_in_own_process(kind, n_rows, n_inputs, effort) for effort in ("normal", "quick"))
        sizes = (kind, f"{n_rows:,}", str(n_inputs))
        rows.append((*sizes, f"{normal.seconds:.1f}", f"{normal.peak / 2**20:.0f}", f"{quick.seconds:.2f}"))
    header = ("Target", "Rows", "Inputs", "`normal`, CPU s", "Memory, MiB", "`quick`, CPU s")
    return [Table("CPU time and memory", header, tuple(rows), (NOTE,))]


def drawn(kind: Kind, rows: int, inputs: int) -> Block:
    """Return a table with a target `y` of a kind."""
    rng = np.random.default_rng((TABLE_SEED, rows, inputs))
    X = rng.uniform(0.0, 1.0, (rows, inputs))
    block: dict[str, Column] = {f"x{number}": NumberArray(column) for number, column in enumerate(X.T)}
    signal = friedman(1, X)
    if kind == "count":
        mean = np.exp((signal - signal.mean()) / signal.std())
        block["y"] = NumberArray(rng.poisson(3.0 * mean / mean.mean()).astype(np.float64))
        return block
    t = signal + rng.normal(0.0, 1.0, rows)
    if kind == "number":
        block["y"] = NumberArray(t)
        return block
    bounds = np.quantile(t, np.linspace(0.0, 1.0, CLASSES[kind] + 1)[1:-1])
    labels = tuple(f"class {number}" for number in range(CLASSES[kind]))
    block["y"] = CategoryArray(np.searchsorted(bounds, t).astype(np.int32), labels)
    return block


def measure(kind: Kind, rows: int, inputs: int, effort: Effort) -> TrainingCost:
    """Train in this process, after a small training that imports all."""
    request = SupervisedRequest(NO_DATASET, "y", effort=effort)
    fitted(drawn(kind, WARM_UP_ROWS, inputs), request)
    block = drawn(kind, rows, inputs)
    before, start = forget_peak(), process_time()
    fitted(block, request)
    return TrainingCost(process_time() - start, peak_bytes() - before)


def _in_own_process(kind: Kind, rows: int, inputs: int, effort: str) -> TrainingCost:
    command = (sys.executable, "-m", __name__, kind, str(rows), str(inputs), effort)
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return TrainingCost(**json.loads(output))


def main(arguments: list[str]) -> None:
    """Print the cost of one training as JSON."""
    (kind,) = (one for one in get_args(Kind) if one == arguments[0])
    (effort,) = (one for one in get_args(Effort) if one == arguments[3])
    cost = measure(kind, int(arguments[1]), int(arguments[2]), effort)
    print(json.dumps({"seconds": cost.seconds, "peak": cost.peak}))


if __name__ == "__main__":
    main(sys.argv[1:])
