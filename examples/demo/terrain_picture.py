"""A picture of heights, of their predictions and sds, and of errors by the number of functions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from examples.demo.heights import Grid, Heights
from examples.demo.peers import Peer
from examples.demo.pictures import BLUE, GREEN, INK, MUTED, ORANGE
from examples.demo.truth import Array

STYLES = ((BLUE, "o"), (ORANGE, "s"), (INK, "D"), (GREEN, "^"))


class Labelled(Protocol):
    """The figures of an engine that a picture shows."""

    @property
    def reported(self) -> Peer: ...
    @property
    def rmse(self) -> float: ...


def draw_terrain(path: Path, training: Heights, land: Grid, labelled: Mapping[str, Labelled]) -> None:
    """Draw four panels: the land, the mean of the first engine, its sd; each engine's error against its functions."""
    figure = Figure(figsize=(16, 4.8), dpi=150)
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
    panels = figure.subplots(1, 4, width_ratios=(1.0, 1.0, 1.0, 0.95))
    ours = next(iter(labelled.values())).reported
    assert ours.sd is not None
    minimum, maximum = float(land.metres.min()), float(land.metres.max())
    _map(figure, panels[0], land, land.metres, "The land, metres", (minimum, maximum))
    mean, sd = (reported.reshape(land.metres.shape) for reported in (ours.mean, ours.sd))
    _map(figure, panels[1], land, mean, f"Predicted from {len(training.metres)} heights (dots)", (minimum, maximum))
    _map(figure, panels[2], land, sd, "Standard deviation of the prediction", (float(sd.min()), float(sd.max())))
    for axes in panels[1:3]:
        axes.plot(*training.places.T, ".", color=INK, ms=2.5, scalex=False, scaley=False)
    _worth(panels[3], labelled)
    figure.savefig(path)


def _map(figure: Figure, axes: Axes, land: Grid, values: Array, title: str, ends: tuple[float, float]) -> None:
    extent = (float(land.east[0]), float(land.east[-1]), float(land.north[0]), float(land.north[-1]))
    drawn = axes.imshow(
        values, origin="lower", extent=extent, cmap="cividis", vmin=ends[0], vmax=ends[1], interpolation="nearest"
    )
    figure.colorbar(drawn, ax=axes, orientation="horizontal", shrink=0.85, pad=0.02)
    axes.set_title(title, loc="left", fontsize=12.5, color=INK, pad=12)
    axes.set(xlabel="km east", ylabel="km north")
    axes.tick_params(colors=INK, labelsize=9)


def _worth(axes: Axes, labelled: Mapping[str, Labelled]) -> None:
    for (name, one), (colour, marker) in zip(labelled.items(), STYLES, strict=True):
        axes.plot(one.reported.functions, one.rmse, marker, color=colour, ms=10, label=name)
    axes.set(xscale="log", xlim=(5, 500), xlabel="functions kept", ylabel="root mean square error, metres")
    axes.set_xticks([10, 30, 100, 300], labels=["10", "30", "100", "300"], minor=False)
    axes.set_xticks([], minor=True)
    axes.margins(y=0.25)
    axes.grid(axis="y", color=MUTED, alpha=0.25, lw=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=10)
    axes.set_title("Error by functions kept", loc="left", fontsize=12.5, color=INK, pad=12)
