"""The picture of signals by dictionaries: jumps found under noise, and what a code of so many functions is worth."""

from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np
from matplotlib.axes import Axes

from benchmarks.accuracy.canvas import BLUE, GREEN, MUTED, ORANGE, canvas
from benchmarks.files import Split
from benchmarks.generators import Signal, moments, scaled_signal, signal_split
from benchmarks.signals.dictionaries import MIXED, ours
from benchmarks.signals.pursuits import pursued
from benchmarks.signals.wavelets import WAVELETS, largest, shrunk
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.types import Array

POINTS = 512

LOWER = 30.0
"""By which the second of two curves is drawn below the first."""

ALLOWED = (4.0, 2.0, 1.0, 0.5, 0.25)
"""Errors that a code may have: the noise sd that our fits are given."""

CODED: tuple[Signal, ...] = ("heavisine", "doppler")


def draw_signals() -> Path:
    """Blocks with noise, as two engines clean it; and two signals without noise, as three code them."""
    titles = ("denoising: blocks with noise of sd 1", *(f"{name} without noise, coded" for name in CODED))
    drawing = canvas((14.0, 5.6), "Signals by dictionaries, 512 points", titles, shared=False)
    cleaned, *coded = drawing.panels
    _draw_cleaned(cleaned)
    for name, axes in zip(CODED, coded, strict=True):
        _draw_codes(axes, name)
    return drawing.save("signals")


def _draw_cleaned(axes: Axes) -> None:
    split = signal_split("blocks", 0, rows=POINTS)
    x, truth = split.X[:, 0], split.t_test
    found = ours(split, MIXED)
    shifted = min(
        (shrunk(split, one, noise_sd=None, every_shift=True) for one in WAVELETS), key=lambda one: one.rmse(truth)
    )
    label = f"relevance-bayes: {found.functions} functions, RMSE {found.rmse(truth):.2f}"
    beside = f"wavelets over all shifts, below: RMSE {shifted.rmse(truth):.2f}"
    for one, down, colour, text in ((found, 0.0, BLUE, label), (shifted, LOWER, ORANGE, beside)):
        axes.plot(x, split.t - down, ".", color=MUTED, ms=3, alpha=0.6)
        axes.plot(x, one.mean - down, color=colour, lw=1.6, label=text)
    axes.set(xlabel="x", yticks=[])


def _draw_codes(axes: Axes, name: Signal) -> None:
    """Error against functions; for wavelets the best one."""
    X, truth = moments(POINTS)[:, None], scaled_signal(name, POINTS)
    split = Split(X, truth, X, truth)
    codes = [ours(split, MIXED, noise_sd=allowed) for allowed in ALLOWED]
    axes.plot(
        *_ordered([(one.functions, one.rmse(truth)) for one in codes]),
        "o-",
        color=BLUE,
        label="relevance-bayes, priced",
    )
    counts = np.unique(np.linspace(2, max(one.functions for one in codes), 12).astype(int)).tolist()
    candidates = pose(X, truth, Spec(GaussianNoise(1.0), MIXED[:-1])).candidates
    columns = candidates.columns(X, range(candidates.size))
    with catch_warnings():
        simplefilter("ignore")  # of columns that are all but one another's copies
        matching = [(count, _distance(pursued(columns, truth, count - 1)(columns), truth)) for count in counts]
    axes.plot(*_ordered(matching), "s-", color=GREEN, ms=4, label="orthogonal matching pursuit, same functions")
    shorter = [(count, min(_distance(largest(truth, one, count), truth) for one in WAVELETS)) for count in counts]
    axes.plot(*_ordered(shorter), "D-", color=ORANGE, ms=4, label="largest wavelet coefficients, best of 3 bases")
    axes.set(xlabel="number of functions", ylabel="RMSE; the signal's sd is 7", yscale="log")


def _distance(values: Array, truth: Array) -> float:
    return float(np.sqrt(np.mean((values - truth) ** 2)))


def _ordered(places: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    counts, errors = zip(*sorted(places), strict=True)
    return list(counts), list(errors)
