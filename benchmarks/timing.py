"""(e) Time and memory of one fit beside fastrvm and libsvm, interleaved in one run."""

import subprocess
import sys
from statistics import median
from time import perf_counter, process_time

import numpy as np

from benchmarks.engines import ENGINES, NEEDS, NOISE_SD, WIDTH, installed
from benchmarks.generators import sinc_split
from benchmarks.options import Options
from benchmarks.repeats import Figures, middle
from benchmarks.report import Table

HEADER = ("N", "engine", "wall s", "CPU s", "CPU / ours", "functions", "RMSE", "peak MB")

NOTES = """\
Every draw is fitted by all engines in turn, one thread each; medians over the draws. CPU seconds don't change with
what else the machine does; the ratio is the median of the draws' ratios. The kernel matrix counts. RMSE to the true
function on 1,000 points. Peak: resident memory of a fresh process above its start (imports, a small fit, the data).
fastrvm: RVR(kernel="rbf", gamma=r**-2, fit_intercept=True), noise learned, all else by its defaults. SVR: C = 1,
epsilon half the noise's sd, targets standardised: a single fit that is told its three parameters."""

WARM_UP_ROWS = 50


def timing(options: Options) -> list[Table]:
    """sinc with Gaussian noise 0.2, one Gaussian width for all."""
    here = [engine for engine in ENGINES if installed(engine)]
    for engine in here:
        _timed(engine, WARM_UP_ROWS, 0)
    rows = [row for size in options.sizes for row in _rows(here, size, options.rounds)]
    notes = [NOTES, *(f"{name}: NOT RUN: {NEEDS[name]} is not installed." for name in ENGINES if name not in here)]
    title = f"One fit to sinc, noise {NOISE_SD}, Gaussian r = {WIDTH:g}, {options.rounds} draws"
    return [Table(title, HEADER, tuple(rows), tuple(notes))]


def _rows(engines: list[str], size: int, rounds: int) -> list[tuple[str, ...]]:
    measured: dict[str, list[Figures]] = {engine: [] for engine in engines}
    for draw in range(rounds):
        for engine in engines:
            measured[engine].append(_timed(engine, size, draw))
    return [_row(engine, size, figures, measured["ours"]) for engine, figures in measured.items()]


def _row(engine: str, size: int, figures: list[Figures], ours: list[Figures]) -> tuple[str, ...]:
    return (
        f"{size:,}",
        engine,
        f"{middle(figures, 'wall'):.4f}",
        f"{middle(figures, 'cpu'):.4f}",
        f"{median(one['cpu'] / our['cpu'] for one, our in zip(figures, ours, strict=True)):.2f}",
        f"{middle(figures, 'functions'):g}",
        f"{middle(figures, 'rmse'):.4f}",
        f"{_peak(engine, size) / 1e6:.0f}",
    )


def _timed(engine: str, size: int, draw: int) -> Figures:
    split = sinc_split("gaussian", draw, rows=size, scale=NOISE_SD)
    wall, cpu = perf_counter(), process_time()
    fitted = ENGINES[engine](split.X, split.t)
    seconds = {"wall": perf_counter() - wall, "cpu": process_time() - cpu}
    residual = fitted.mean(split.X_test) - split.t_test
    return seconds | {"functions": float(fitted.functions), "rmse": float(np.sqrt(np.mean(residual**2)))}


def _peak(engine: str, size: int) -> int:
    command = (sys.executable, "-m", "benchmarks.one_fit", engine, str(size))
    return int(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
