"""Error against rows and against functions, from the measured tables of README.md."""

from pathlib import Path

from benchmarks import report
from benchmarks.accuracy.canvas import BLUE, MUTED, ORANGE, canvas
from benchmarks.tables.by_functions import FRIEDMAN, KIN40K, LONG


def draw_many_rows() -> Path:
    """Both on logarithmic axes."""
    drawing = canvas(
        (12, 4.8),
        "Error by number of training rows, and by number of functions",
        ["the defaults, five draws", "one Gaussian process, by max_functions"],
    )
    left, right = drawing.panels
    by_rows, by_functions = report.read("error-by-rows"), report.read("error-by-functions")
    rows = [_number(row["rows"]) for row in by_rows]
    errors = [_number(row["error, mean"]) for row in by_rows]
    ranges = [[_number(end) for end in row["least to greatest"].split(" to ")] for row in by_rows]
    label = "Friedman 1 with noise of sd 1: error from the true function"
    below, above = zip(*ranges, strict=True)
    left.fill_between(rows, below, above, color=BLUE, alpha=0.2, lw=0)
    left.plot(rows, errors, "o-", color=BLUE, lw=2, ms=7, label=label)
    left.set(xscale="log", yscale="log", xlabel="rows", ylabel="root mean square error of the predicted mean")
    left.set_xticks(rows, labels=[f"{row:,.0f}" for row in rows], minor=False)
    of_kin40k = "kin40k: error from new targets, over their sd"
    for name, iterations, style, colour, its_label in (
        (FRIEDMAN, "default", "o-", BLUE, label),
        (KIN40K, "default", "o-", ORANGE, of_kin40k),
        (KIN40K, str(LONG), "D--", ORANGE, f"kin40k, {LONG} iterations of L-BFGS"),
    ):
        some = [row for row in by_functions if (row["set"], row["iterations"]) == (name, iterations)]
        x, y = ([_number(row[column]) for row in some] for column in ("functions", "error"))
        right.plot(x, y, style, color=colour, lw=2, ms=7, label=its_label)
    right.set(xscale="log", xlabel="functions in the model, with bias and inputs")
    functions = [20, 50, 100, 200, 500, 1_000, 2_000]
    right.set_xticks(functions, labels=[f"{one:,}" for one in functions], minor=False)
    for axes in drawing.panels:
        axes.set_yticks(
            [0.02, 0.05, 0.1, 0.2, 0.5, 1.0], labels=["0.02", "0.05", "0.1", "0.2", "0.5", "1"], minor=False
        )
        axes.set_xticks([], minor=True)
        axes.set_yticks([], minor=True)
        axes.grid(axis="y", color=MUTED, alpha=0.25, lw=0.8)
    return drawing.save("many-rows")


def _number(cell: str) -> float:
    return float(cell.replace(",", ""))
