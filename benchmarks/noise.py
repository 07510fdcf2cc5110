"""(d) Targets that have nothing to do with the inputs: what a good default finds is almost nothing."""

import numpy as np

from benchmarks.files import Split
from benchmarks.generators import pure_noise
from benchmarks.learning import regression
from benchmarks.options import Options
from benchmarks.repeats import Figures, column, middle, repeated
from benchmarks.report import Table


def pure(options: Options) -> list[Table]:
    """N = 100, defaults."""
    measured = repeated(_measured, options.draws, processes=options.processes)
    functions, shares = sorted(column(measured, "functions")), sorted(column(measured, "share"))
    row = (
        f"{middle(measured, 'functions'):g}",
        f"{functions[0]:g} to {functions[-1]:g}",
        f"{middle(measured, 'share'):.3f}",
        f"{shares[0]:.3f} to {shares[-1]:.3f}",
        f"{middle(measured, 'of_sample'):.3f}",
    )
    header = (
        "functions, median",
        "all draws",
        "learned sd / true, median",
        "all draws",
        "learned / sample's sd, median",
    )
    note = (
        "Goal: at most 3 functions in the median, learned sd within 10 %. A sample's own sd strays by 7 % at N = 100."
    )
    return [Table(f"Pure noise, N = 100, defaults, {options.draws} draws", header, (row,), (note,))]


def _measured(draw: int) -> Figures:
    X, t = pure_noise(draw)
    figures = regression(Split(X, t, X, np.zeros_like(t)))
    return figures | {"share": figures["noise_sd"], "of_sample": figures["noise_sd"] / float(t.std())}
