"""Donoho & Johnstone's four signals with noise of sd 1, beside wavelet shrinkage."""

from functools import partial

import numpy as np
from scipy.special import ndtr

from benchmarks.accuracy.ours import regressor
from benchmarks.accuracy.scoring import TWO_SIDED_95
from benchmarks.files import Split
from benchmarks.generators import SIGNALS, Signal, signal_split
from benchmarks.options import Options
from benchmarks.repeats import Figures, mean, repeated, with_error
from benchmarks.report import Table
from benchmarks.signals.dictionaries import MIXED, OWN, Denoised, ours
from benchmarks.signals.wavelets import WAVELETS, shrunk
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.types import Array

DRAWS = {512: 10, 2_048: 4}
"""Points of a signal, and the most draws of it."""

MAX_POINTS_UNPRICED = 512
"""And of a process: what over-fits has as many functions as points, and takes hours with more."""

KNOWN = 1.0

HEADER = ("signal", "engine", "RMSE, noise learned", "inside 95 %", "functions", "CPU s", "RMSE, noise known", "inside")

NOTES = (
    (
        "Signals scaled to sd 7, noise sd 1, at (n - 1/2)/N; RMSE to the truth there. Inside: how probably a new noisy "
        "value there lies in the 95 % interval, exactly. Own: steps for blocks, Laplacians of widths .005 and .02 for "
        "bumps, steps and B-splines for heavisine, Gabor wavelets for doppler. Mixed: steps, B-splines and these "
        "Laplacians for all four. A bias in each. Unpriced: the papers' prior. Process: the default under that prior."
    ),
    (
        "Wavelets: PyWavelets, the universal threshold, periodic, 32 widest functions left as they are; of haar, db4 "
        "and sym8 the best in the mean by the truth, in their favour. Noise learned: by the median of the finest "
        "coefficients. All shifts: hard thresholds averaged over all shifts of the signal; it has no few functions."
    ),
)


def denoising(options: Options) -> list[Table]:
    """A table for each number of points."""
    return [_table(rows, min(maximum, options.accuracy_draws), options) for rows, maximum in DRAWS.items()]


def _table(points: int, draws: int, options: Options) -> Table:
    rows: list[tuple[str, ...]] = []
    for name in SIGNALS:
        found = repeated(partial(_figures, name, points), draws, processes=options.processes)
        rows += [_row(name, engine, found) for engine in _engines(found)]
    return Table(f"Four signals of {points:,} points, {draws} draws", HEADER, tuple(rows), NOTES)


def _engines(found: list[Figures]) -> list[str]:
    """The engines measured, and of several wavelets the best."""
    engines = list(dict.fromkeys(name.partition(": ")[0] for name in found[0]))
    families = {engine.rpartition(", ")[0] for engine in engines if engine.endswith(WAVELETS)}
    best = {
        min((f"{family}, {one}" for one in WAVELETS), key=lambda engine: mean(found, f"{engine}: learned rmse"))
        for family in families
    }
    return [engine for engine in engines if engine in best or not engine.endswith(WAVELETS)]


def _row(name: Signal, engine: str, found: list[Figures]) -> tuple[str, ...]:
    def cell(figure: str, digits: int) -> str:
        called = f"{engine}: {figure}"
        if called not in found[0]:
            return "–"
        return with_error(found, called) if figure.endswith("rmse") else f"{mean(found, called):.{digits}f}"

    figures = (("learned rmse", 3), ("learned inside", 3), ("learned functions", 1), ("learned seconds", 2))
    return (name, engine, *(cell(*one) for one in (*figures, ("known rmse", 3), ("known inside", 3))))


def _figures(name: Signal, points: int, draw: int) -> Figures:
    split, figures = signal_split(name, draw, rows=points), Figures()
    for offered, basis in (("own", OWN[name]), ("mixed", MIXED)):
        for paid, price in (("", True), (", unpriced", False)):
            if not price and points > MAX_POINTS_UNPRICED:
                continue
            engine = f"{offered}{paid}"
            figures |= _scored(f"{engine}: learned", ours(split, basis, price=price), split.t_test)
            figures |= _scored(f"{engine}: known", ours(split, basis, price=price, noise_sd=KNOWN), split.t_test)
    for family, every_shift in (("wavelets", False), ("wavelets, all shifts", True)):
        for wavelet in WAVELETS:
            for noise, sd in (("learned", None), ("known", KNOWN)):
                one = shrunk(split, wavelet, noise_sd=sd, every_shift=every_shift)
                figures |= _scored(f"{family}, {wavelet}: {noise}", one, split.t_test, counted=not every_shift)
    if points <= MAX_POINTS_UNPRICED:
        figures |= _scored("process: learned", _process(split), split.t_test)
    return figures


def _scored(called: str, one: Denoised, truth: Array, *, counted: bool = True) -> Figures:
    figures = {f"{called} rmse": one.rmse(truth), f"{called} seconds": one.seconds}
    if counted:
        figures[f"{called} functions"] = float(one.functions)
    if one.sd is not None:
        ends = (one.mean - truth + side * TWO_SIDED_95 * one.sd for side in (-1.0, 1.0))
        lower, upper = (ndtr(end / KNOWN) for end in ends)
        figures[f"{called} inside"] = float(np.mean(upper - lower))
    return figures


def _process(split: Split) -> Denoised:
    found = regressor(split, GaussianProcess())
    predicted = found.predict(split.X_test, split.t_test)
    assert predicted.distribution is not None
    return Denoised(predicted.mean, predicted.distribution.sd, found.functions, found.seconds)
