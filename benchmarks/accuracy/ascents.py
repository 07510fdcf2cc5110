"""Every algorithm of independent weights: evidence against time."""

from pathlib import Path

from benchmarks.accuracy.canvas import BLUE, GREEN, INK, ORANGE, PURPLE, canvas
from benchmarks.algorithms import traces
from benchmarks.options import Options

COLOURS = (BLUE, GREEN, ORANGE, PURPLE)


def draw_algorithms(options: Options) -> Path:
    """The difference to the best final value in nats, against time."""
    found = traces(options)
    title = "Log marginal likelihood against CPU time"
    drawing = canvas((12, 5.2), title, list(found))
    for axes, of_all in zip(drawing.panels, found.values(), strict=True):
        best = max(max(trace.evidence) for trace in of_all.values())
        for colour, (name, trace) in zip(COLOURS, of_all.items(), strict=True):
            missing = [max(best - value, 1e-4) for value in trace.evidence]
            axes.plot(trace.seconds, missing, color=colour, lw=2, label=name)
            axes.plot(trace.seconds[-1], missing[-1], "o", color=colour, ms=7)
        axes.set(xscale="log", yscale="log", xlabel="CPU seconds, with kernel evaluations")
        axes.xaxis.label.set_color(INK)
    drawing.panels[0].set_ylabel("nats below the best final value", color=INK)
    return drawing.save("algorithms")
