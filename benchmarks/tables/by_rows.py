"""The error of the defaults against the number of rows: Friedman's first function, many draws."""

from functools import partial

import numpy as np

from benchmarks.generators import friedman_split
from benchmarks.options import Options
from benchmarks.repeats import Figures, column, mean, repeated
from benchmarks.report import Table
from benchmarks.tables.ours import defaults
from benchmarks.tables.outcomes import figures
from benchmarks.tables.splits import TableSplit
from benchmarks.tables.table import Column, DataTable

SIZES, QUICK_SIZES = (1_000, 10_000, 100_000, 1_000_000), (300, 1_000)
DRAWS = 5

HEADER = ("rows", "error, mean", "least to greatest", "/ error before", "functions, mean", "CPU s, mean")

NOTES = (
    (
        "Error: the root mean square difference of the predicted mean from the true function at 1,000 places; noise of "
        "sd 1, ten inputs of which five matter. A job that names data and target. / error before: of each draw, over "
        "that with a tenth of the rows, the greatest."
    ),
)


def by_rows(options: Options) -> list[Table]:
    """One row for each number of rows, the same draws in all of them."""
    sizes = QUICK_SIZES if options.quick else SIZES
    draws = 2 if options.quick else DRAWS
    rows, before = [], list[float]()
    for size in sizes:
        measured = repeated(partial(_measured, size), draws, processes=options.processes)
        errors = column(measured, "rmse")
        ratios = [now / then for now, then in zip(errors, before, strict=False)]
        rows.append(
            (
                f"{size:,}",
                f"{mean(measured, 'rmse'):.4f}",
                f"{min(errors):.4f} to {max(errors):.4f}",
                f"{max(ratios):.2f}" if ratios else "–",
                f"{mean(measured, 'functions'):.0f}",
                f"{mean(measured, 'seconds'):.0f}",
            )
        )
        before = errors
    return [Table(f"Error against rows, {draws} draws", HEADER, tuple(rows), NOTES)]


def friedman_table(rows: int, draw: int) -> TableSplit:
    """One draw of so many rows with noise of sd 1, measured on the true function."""
    drawn = friedman_split(1, draw, rows=rows)
    X, t = np.concatenate([drawn.X, drawn.X_test]), np.concatenate([drawn.t, drawn.t_test])
    columns = tuple(Column(f"x{number}", X[:, number]) for number in range(X.shape[1]))
    return TableSplit(DataTable("friedman", "regression", columns, t), draw, np.arange(rows), np.arange(rows, len(t)))


def _measured(rows: int, draw: int) -> Figures:
    split = friedman_table(rows, draw)
    return figures(defaults(split), split)
