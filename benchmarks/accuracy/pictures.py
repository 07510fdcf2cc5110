"""Pictures for docs/pictures: accuracy, reliability, time, variance, log odds, algorithms, signals and codes."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

from benchmarks.accuracy.ascents import draw_algorithms
from benchmarks.accuracy.canvas import BLUE, GREEN, INK, MUTED, ORANGE, PURPLE, canvas
from benchmarks.accuracy.cases import DataSet, friedman, two_classes
from benchmarks.accuracy.class_peers import support
from benchmarks.accuracy.components import draw_components
from benchmarks.accuracy.expansions import draw_expansions
from benchmarks.accuracy.images import draw_image
from benchmarks.accuracy.log_odds import draw_log_odds
from benchmarks.accuracy.many_rows import draw_many_rows
from benchmarks.accuracy.measuring import Engine, Measured, measured
from benchmarks.accuracy.ours import classifier, inputs, learned, regressor
from benchmarks.accuracy.real_peers import exact_process, process_engine
from benchmarks.accuracy.scoring import TWO_SIDED_95, Classifier, binned, calibration_error, real_figures
from benchmarks.accuracy.signals import draw_signals
from benchmarks.files import NotRun, Split
from benchmarks.generators import ACCURACY_SEED, SINC_NOISE, sinc
from benchmarks.options import Options
from benchmarks.speed.sinc import SINC, noisy
from relevance_bayes.core.models.prediction import NumberPrediction
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.types import Array

MAX_FUNCTIONS = (4, 8, 16, 32, 64)
PROCESS_ROWS_TIMED = 1_000


def draw(options: Options) -> list[Path]:
    """All that can be drawn here; reliability needs the folder of data."""
    drawn = [draw_functions(options), draw_time(options), draw_variance(), draw_log_odds(), draw_algorithms(options)]
    drawn += [draw_signals(), draw_expansions(), draw_components(), draw_many_rows()]
    for name, drawing in (("images", draw_image), ("reliability", partial(draw_reliability, options))):
        try:
            drawn.append(drawing())
        except NotRun as absent:
            print(f"{name}: NOT RUN: {absent}")
    return drawn


def draw_functions(options: Options) -> Path:
    """Error against functions kept, for as many as are allowed."""
    few = replace(options, accuracy_draws=min(options.accuracy_draws, 10))
    sets = [friedman(number, few) for number in (1, 2, 3)]
    title = "Error against number of functions, relative to an exact Gaussian process of all 240 rows"
    drawing = canvas((12, 5.2), title, [data.name for data in sets])
    for axes, data in zip(drawing.panels, sets, strict=True):
        peer = measured(process_engine(rows=1_000, restarts=3), data, few)
        reference = peer.mean("mse")
        if reference is None:
            raise NotRun(peer.absent)
        priors = [GaussianProcess(max_functions=maximum) for maximum in MAX_FUNCTIONS]
        ours = [_place(_under(prior, data, few), reference) for prior in priors]
        x, y = zip(*ours, strict=True)
        axes.axhline(1.0, color=MUTED, lw=1, ls=(0, (5, 3)))
        axes.plot(x, y, "o-", color=BLUE, lw=2, ms=7, label="Gaussian process, at most 4, 8, … 64 vectors")
        axes.plot(*_place(_under(Independent(), data, few), reference), "s", color=ORANGE, ms=9, label="RVM, one width")
        axes.plot(240, 1.0, "D", color=INK, ms=8, label="exact GP, a length scale for each input")
        axes.set(xscale="log", yscale="log", xlim=(4, 290), xlabel="functions in the model, with bias and inputs")
        axes.set_xticks([5, 10, 20, 50, 100, 240], labels=["5", "10", "20", "50", "100", "240"], minor=False)
        axes.set_xticks([], minor=True)
        axes.set_yticks([1, 2, 5, 10, 20, 50], labels=["1", "2", "5", "10", "20", "50"])
        axes.set_yticks([], minor=True)
    drawing.panels[0].set_ylabel("mean squared error, relative to the exact GP")
    return drawing.save("accuracy-functions")


def _under(prior: GaussianProcess | Independent, data: DataSet, options: Options) -> Measured:
    return measured(Engine("ours", partial(real_figures, partial(regressor, prior=prior))), data, options)


def _place(found: Measured, reference: float) -> tuple[float, float]:
    kept, error = found.mean("functions"), found.mean("mse")
    if kept is None or error is None:
        raise NotRun(found.absent)
    return kept, error / reference


def draw_reliability(options: Options) -> Path:
    """The calibration of probabilities, of banana and Pima together."""
    splits = [
        data.read(number).split
        for data in two_classes(options)
        if data.name in {"banana", "Pima"}
        for number in data.numbers
    ]
    drawing = canvas((6.4, 6.6), "Predicted probabilities and observed frequencies")
    (axes,) = drawing.panels
    axes.plot([0, 1], [0, 1], color=MUTED, lw=1, ls=(0, (5, 3)))
    engines = (("relevance-bayes", classifier, BLUE, "o", -0.004), ("SVC + Platt", support, ORANGE, "s", 0.004))
    for name, learn, colour, marker, aside in engines:
        predicted, came = _pooled(learn, splits)
        x, y, counts = (np.array(column) for column in zip(*binned(predicted, came), strict=True))
        error = calibration_error(np.column_stack([1.0 - predicted, predicted]), came)
        bars = 2.0 * np.sqrt(y * (1.0 - y) / counts)
        label = f"{name}, ECE {error:.3f}"
        axes.errorbar(x + aside, y, bars, fmt=marker, color=colour, ms=7, capsize=3, lw=1.3, label=label)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set(xlabel="mean probability of class 1 in a bin", ylabel="observed share of class 1, ± 2 standard errors")
    rows = sum(len(split.t_test) for split in splits)
    axes.set_title(f"banana and Pima, {len(splits)} splits, {rows:,} predictions", loc="left", fontsize=10)
    return drawing.save("reliability")


def _pooled(learn: Callable[[Split], Classifier], splits: list[Split]) -> tuple[Array, Array]:
    predicted = [learn(split).predict(split.X_test).probabilities[:, 1] for split in splits]
    return np.concatenate(predicted), np.concatenate([split.t_test for split in splits])


def draw_time(options: Options) -> Path:
    """CPU seconds of one fit; engines with a given width, and those that learn it."""
    drawing = canvas((7.6, 5.8), "Time of one fit to sinc, one thread")
    (axes,) = drawing.panels
    sizes = (125, 250, 500, 1_000) if options.quick else (125, 250, 500, 1_000, 2_000, 4_000)
    known = {"ours": ("relevance-bayes, width given", BLUE), "fastrvm": ("fastrvm, width given", GREEN)}
    known["libsvm SVR"] = ("SVR, hyperparameters given", PURPLE)
    for entrant in (entrant for entrant in SINC.entrants if entrant.installed):
        label, colour = known[entrant.name]
        seconds = [_seconds(entrant.learn, size) for size in sizes]
        axes.plot(sizes, seconds, "o-", color=colour, lw=2, ms=6, label=label)
    ours = [_seconds(partial(regressor, prior=GaussianProcess()), size) for size in sizes]
    axes.plot(
        sizes,
        ours,
        "o--",
        color=BLUE,
        mfc="white",
        lw=2,
        ms=6,
        label="relevance-bayes, Gaussian process, scales learned",
    )
    feasible = [size for size in sizes if size <= PROCESS_ROWS_TIMED]
    exact = [_seconds(partial(exact_process, PROCESS_ROWS_TIMED, 0), size) for size in feasible]
    axes.plot(feasible, exact, "D--", color=INK, mfc="white", lw=2, ms=6, label="exact GP, scales learned, no restarts")
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="CPU seconds, median of 3 draws")
    axes.set_xticks(sizes, labels=[f"{size:,}" for size in sizes])
    axes.set_xticks([], minor=True)
    axes.grid(axis="y", color=MUTED, alpha=0.25, lw=0.7)
    return drawing.save("time")


def _seconds(fit: Callable[[Split], object], rows: int) -> float:
    durations = []
    for one in range(3):
        split = noisy(rows, one)
        start = process_time()
        fit(split)
        durations.append(process_time() - start)
    return median(durations)


def draw_variance() -> Path:
    """A fit to rows with a gap, and the three parts of its variance, inside the rows and beyond."""
    rng = np.random.default_rng(ACCURACY_SEED)
    x = np.sort(np.concatenate([rng.uniform(-8.0, 3.0, 45), rng.uniform(7.0, 10.0, 15)]))
    t = sinc(x) + rng.normal(0.0, SINC_NOISE, len(x))
    at = np.linspace(-18.0, 20.0, 761)
    found = learned(Split(x[:, None], t, at[:, None], sinc(at)), "regression", GaussianProcess())
    predicted = found.predict(inputs(at[:, None]))
    assert isinstance(predicted, NumberPrediction)
    scale = float(found.encoding.target.scale)
    mean = found.encoding.target.shift + scale * predicted.mean
    drawing = canvas((11, 5.6), "Parts of the predictive variance: sinc with a gap, and extrapolation")
    (axes,) = drawing.panels
    parts = (
        ("uncertainty of the weights", predicted.weights, BLUE, 0.55),
        ("+ residual variance of the process", predicted.residual, GREEN, 0.35),
        ("+ noise: 95 % prediction interval", predicted.noise, MUTED, 0.25),
    )
    inner = np.zeros_like(mean)
    for label, part, colour, alpha in parts:
        outer = np.hypot(inner, TWO_SIDED_95 * scale * np.sqrt(part))
        axes.fill_between(at, mean + inner, mean + outer, color=colour, alpha=alpha, lw=0, label=label)
        axes.fill_between(at, mean - outer, mean - inner, color=colour, alpha=alpha, lw=0)
        inner = outer
    axes.plot(at, sinc(at), color=INK, lw=1.2, ls=(0, (5, 3)), label="true function")
    axes.plot(at, mean, color=BLUE, lw=2.2, label="predicted mean")
    axes.plot(x, t, ".", color=INK, ms=5, label=f"{len(x)} training rows")
    axes.set(xlabel="x", ylabel="y", xlim=(at[0], at[-1]))
    return drawing.save("variance")
