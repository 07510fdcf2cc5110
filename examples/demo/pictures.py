"""Pictures of a fit with its error bars and of a decision boundary; both mark the rows of functions."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from examples.demo.truth import Array, Curve, Points, probability_of_one, sinc
from relevance_bayes.client.responses import Prediction
from relevance_bayes.records.functions import RelevanceVector

INK, MUTED, BLUE, ORANGE, GREEN = "#222222", "#8a8a8a", "#0072b2", "#d55e00", "#009e73"
"""Colours that colour-blind people can distinguish."""

TWO_SIDED_95 = 1.96
CLASS_STYLES = ((BLUE, "o"), (ORANGE, "^"))


def draw_fit(
    path: Path, training: Curve, x: Array, predictions: Sequence[Prediction], vectors: Sequence[RelevanceVector]
) -> None:
    """Draw the mean, the intervals of the function and of new observations, and the truth."""
    mean, sd, own = (np.array(column) for column in zip(*map(_moments, predictions), strict=True))
    figure, axes = canvas((11, 6.2), "Regression: sin(x)/x, from 100 noisy points")
    axes.fill_between(
        x,
        mean - TWO_SIDED_95 * sd,
        mean + TWO_SIDED_95 * sd,
        color=BLUE,
        alpha=0.13,
        lw=0,
        label="95 % of new observations",
    )
    axes.fill_between(
        x,
        mean - TWO_SIDED_95 * own,
        mean + TWO_SIDED_95 * own,
        color=BLUE,
        alpha=0.32,
        lw=0,
        label="95 % for the function itself",
    )
    axes.plot(x, sinc(x), color=INK, lw=1.4, ls=(0, (5, 3)), label="the truth")
    axes.plot(x, mean, color=BLUE, lw=2.2, label="predicted mean")
    axes.plot(training.x, training.y, ".", color=MUTED, ms=6, label="training data")
    rows = [vector.row for vector in vectors if vector.row is not None]
    axes.plot(
        training.x[rows],
        training.y[rows],
        "o",
        mfc="none",
        mec=ORANGE,
        mew=2,
        ms=13,
        label=f"functions began on {len(rows)} of {len(training.x)} points",
    )
    axes.set(xlabel="x", ylabel="y", xlim=(x[0], x[-1]))
    _save(figure, axes, path)


def draw_boundary(
    path: Path, training: Points, grid: tuple[Array, Array], probability: Array, vectors: Sequence[RelevanceVector]
) -> None:
    """Draw the probability of class 1 over `grid`, its lines at .25, .5 and .75, and the best possible boundary."""
    figure, axes = canvas((9.4, 7.4), "Two classes: Ripley's mixture, from 250 points")
    across, up = np.meshgrid(*grid)
    axes.contourf(across, up, probability, levels=np.linspace(0, 1, 21), cmap=_two_colours(), alpha=0.9, zorder=0)
    lines = axes.contour(
        across,
        up,
        probability,
        levels=[0.25, 0.5, 0.75],
        colors=INK,
        linewidths=[1, 2.2, 1],
        linestyles=[":", "-", ":"],
    )
    axes.clabel(lines, fmt=lambda level: f"p = {level:g}", fontsize=9)
    best = probability_of_one(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    axes.contour(across, up, best, levels=[0.5], colors=GREEN, linewidths=2, linestyles=[(0, (5, 3))])
    axes.plot([], [], color=INK, lw=2.2, label="our boundary, p = 0.5")
    axes.plot([], [], color=GREEN, lw=2, ls=(0, (5, 3)), label="the best possible boundary")
    for label, (colour, marker) in enumerate(CLASS_STYLES):
        x, y = training.positions[training.labels == label].T
        axes.plot(x, y, marker, color=colour, ms=5, mec="white", mew=0.6, label=f"class {label}")
    x, y = training.positions[[vector.row for vector in vectors if vector.row is not None]].T
    axes.plot(
        x,
        y,
        "o",
        mfc="none",
        mec=INK,
        mew=2.2,
        ms=15,
        label=f"functions began on {len(x)} of {len(training.labels)} points",
    )
    axes.set(xlabel="x1", ylabel="x2", aspect="equal")
    _save(figure, axes, path)


def _moments(prediction: Prediction) -> tuple[float, float, float]:
    assert prediction.mean is not None
    assert prediction.sd is not None
    assert prediction.variance is not None
    variance = prediction.variance
    return prediction.mean, prediction.sd, float(np.sqrt(variance.weights + variance.residual))


def _two_colours() -> LinearSegmentedColormap:
    return LinearSegmentedColormap.from_list("classes", ["#a9cfe6", "#ffffff", "#f3c4a2"])


def canvas(size: tuple[float, float], title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=size, dpi=150)
    figure.set_layout_engine("constrained", w_pad=0.15, h_pad=0.15)
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=15, color=INK, pad=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=10)
    return figure, axes


def _save(figure: Figure, axes: Axes, path: Path) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=10)
    figure.savefig(path)
