"""Friedman's three functions: one width for all inputs by default, a width for each under a process."""

from functools import partial

from benchmarks.generators import friedman_split
from benchmarks.learning import PROCESS, regression
from benchmarks.options import Options
from benchmarks.repeats import Figures, repeated, with_error
from benchmarks.report import Table

PAPERS = {
    1: ("2.80", "59.4", "2.92", "116.6"),
    2: ("3505", "6.9", "4140", "110.3"),
    3: ("0.0164", "11.5", "0.0202", "106.5"),
}
"""Mean squared error and vectors: RVM, SVM [TIPPING2001, section 4.4]."""

DIGITS = {1: 2, 2: 0, 3: 4}


def friedman(options: Options) -> list[Table]:
    """Defaults and the Gaussian process prior, on the papers' noise."""
    rows = []
    for number, papers in PAPERS.items():
        measured = repeated(partial(_measured, number), options.repeats, processes=options.processes)
        error = with_error(measured, "mse", digits=DIGITS[number])
        under_process = (
            with_error(measured, "process_mse", digits=DIGITS[number] + (number == 3)),
            with_error(measured, "process_vectors", digits=1),
        )
        rows.append((f"Friedman {number}", error, with_error(measured, "vectors", digits=1), *under_process, *papers))
    return [
        Table(
            f"Friedman's functions, N = 240, defaults, {options.repeats} draws",
            ("", "ours: MSE", "vectors", "process: MSE", "vectors", "RVM 2001", "vectors", "SVM 2001", "vectors"),
            tuple(rows),
            (
                "Squared error to the true function. Ours: the defaults, one width for all inputs, as in the papers.",
                "Process: the prior is `gaussian_process`, a width and a warp for each input.",
            ),
        )
    ]


def _measured(number: int, draw: int) -> Figures:
    split = friedman_split(number, draw)
    figures, process = regression(split), regression(split, PROCESS)
    return figures | {
        "mse": figures["rmse"] ** 2,
        "process_mse": process["rmse"] ** 2,
        "process_vectors": process["vectors"],
    }
