"""The look of the pictures: colours, one row of panels, one legend below."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, MUTED, BLUE, ORANGE, GREEN, PURPLE = "#222222", "#8a8a8a", "#0072b2", "#d55e00", "#009e73", "#9a5b9a"
"""Colours that colour-blind people can distinguish."""

INCHES_A_LABEL = 3.6

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"


@dataclass(frozen=True, eq=False)
class Canvas:
    """A figure and its panels, from the left."""

    figure: Figure
    panels: tuple[Axes, ...]

    def save(self, name: str) -> Path:
        """Under docs/pictures, with every label of the panels once below them."""
        legend: dict[str, Artist] = {}
        for axes in self.panels:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                legend.setdefault(str(label), handle)
        columns = max(1, int(self.figure.get_figwidth() / INCHES_A_LABEL))
        self.figure.legend(
            list(legend.values()), list(legend), loc="outside lower center", ncols=columns, frameon=False, fontsize=10
        )
        path = PICTURES / f"{name}.png"
        self.figure.savefig(path)
        return path


def canvas(size: tuple[float, float], title: str, panels: Sequence[str] = ("",), *, shared: bool = True) -> Canvas:
    """`panels` are their titles; they have one y where it is `shared`."""
    figure = Figure(figsize=size, dpi=150)
    figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.12)
    figure.suptitle(title, x=0.02, ha="left", fontsize=14, color=INK)
    every: list[Axes] = []
    for number, named in enumerate(panels, start=1):
        axes = figure.add_subplot(1, len(panels), number, sharey=every[0] if every and shared else None)
        axes.set_title(named, loc="left", fontsize=11, color=INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=INK, labelsize=10)
        every.append(axes)
    return Canvas(figure, tuple(every))
