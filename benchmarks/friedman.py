"""Friedman's three functions, one width for all inputs."""

from functools import partial

from benchmarks.generators import friedman_split
from benchmarks.learning import regression
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
    """Defaults, on the papers' noise."""
    rows = []
    for number, papers in PAPERS.items():
        measured = repeated(partial(_measured, number), options.repeats, processes=options.processes)
        error = with_error(measured, "mse", digits=DIGITS[number])
        rows.append((f"Friedman {number}", error, with_error(measured, "vectors", digits=1), *papers))
    return [
        Table(
            f"Friedman's functions, N = 240, defaults, {options.repeats} draws",
            ("", "ours: MSE", "vectors", "RVM 2001", "vectors", "SVM 2001", "vectors"),
            tuple(rows),
            ("Squared error to the true function; one width for all inputs, on inputs that are standardised.",),
        )
    ]


def _measured(number: int, draw: int) -> Figures:
    figures = regression(friedman_split(number, draw))
    return figures | {"mse": figures["rmse"] ** 2}
