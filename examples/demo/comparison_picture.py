"""A picture of the widths of a model by input, of the parts of its variance, and of its calibration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from examples.demo.pictures import BLUE, GREEN, INK, MUTED, ORANGE
from examples.demo.truth import Array
from relevance_bayes.client.responses import SupervisedVersion
from relevance_bayes.records.reports import InputWidth

COLOURS = {"automatic": BLUE, "independent": ORANGE}
NAMES = {"automatic": "defaults", "independent": "the classical machine"}
UNSEEN = 100.0
"""The width, in standard deviations, from which on an input has no effect on the kernels; bars end there."""

NEARLY_STRAIGHT = 20.0

PARTS = (("noise", MUTED), ("weights", BLUE), ("residual", GREEN))


class Labelled(Protocol):
    """The figures of a version that a picture shows."""

    @property
    def version(self) -> SupervisedVersion: ...
    @property
    def coverage(self) -> Array: ...
    @property
    def parts(self) -> Array: ...
    @property
    def straight(self) -> frozenset[str]: ...


def draw_comparison(path: Path, labelled: Mapping[str, Labelled], shares: Array) -> None:
    """Draw three panels: widths by input of the first version, mean variances by part, calibration."""
    figure = Figure(figsize=(14, 5.2), dpi=150)
    figure.set_layout_engine("constrained", w_pad=0.15, h_pad=0.15)
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.15, 0.75, 1.0))
    _widths(left, labelled["automatic"])
    _parts(middle, labelled)
    _reliability(right, labelled, shares)
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=INK, labelsize=10)
    figure.savefig(path)


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=12.5, color=INK, pad=12)


def _widths(axes: Axes, labelled: Labelled) -> None:
    found = _by_input(labelled.version)
    names = [str(width.input) for width in found]
    widths = [min(width.width, UNSEEN) for width in found]
    seen = [width < UNSEEN for width in widths]
    axes.barh(names, widths, color=[BLUE if one else "#d9d9d9" for one in seen], left=0.1)
    for place, (name, width, one) in enumerate(zip(names, widths, seen, strict=True)):
        text = _found(width) if one else "a straight line" if name in labelled.straight else "not used"
        axes.annotate(text, (width, place), xytext=(6, 0), textcoords="offset points", va="center", color=INK)
    axes.invert_yaxis()
    axes.set(xscale="log", xlim=(0.3, 40.0 * UNSEEN), xlabel="width of the functions, in standard deviations")
    _title(
        axes,
        "The width of each input (the truth: x1 to x3 bend,\nx4 and x5 are straight lines, x6 to x10 nothing)",
    )


def _by_input(version: SupervisedVersion) -> tuple[InputWidth, ...]:
    """Return the widths of the member with the largest weight of those with a width for each input."""
    several = [member for member in version.members if len(member.hyperparameters.widths) > 1]
    heaviest = max(several, key=lambda member: member.weight or 0.0)
    return heaviest.hyperparameters.widths


def _found(width: float) -> str:
    return f"{width:.2g}{', nearly straight' if width > NEARLY_STRAIGHT else ''}"


def _parts(axes: Axes, labelled: Mapping[str, Labelled]) -> None:
    names = [NAMES[name] for name in labelled]
    below = [0.0] * len(names)
    for number, (part, colour) in enumerate(PARTS):
        heights = [float(one.parts[number]) for one in labelled.values()]
        axes.bar(names, heights, bottom=below, color=colour, width=0.55, label=part)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axes.axhline(1.0, color=INK, lw=1.2, ls=(0, (5, 3)), label="true noise")
    axes.legend(frameon=False, fontsize=10)
    axes.set(ylabel="mean variance of a prediction")
    _title(axes, "Parts of the variance")


def _reliability(axes: Axes, labelled: Mapping[str, Labelled], shares: Array) -> None:
    axes.plot([0, 1], [0, 1], color=INK, lw=1.2, ls=(0, (5, 3)), label="calibrated")
    for name, one in labelled.items():
        axes.plot(shares, one.coverage, "o-", color=COLOURS[name], ms=4, lw=1.8, label=NAMES[name])
    axes.legend(frameon=False, fontsize=10)
    axes.set(xlabel="probability of the interval", ylabel="share of fresh rows within it", xlim=(0, 1), ylim=(0, 1))
    _title(axes, "Calibration of the intervals")
