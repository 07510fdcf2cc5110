"""Ripley's mixture drawn anew, where the best error that is possible is known."""

import numpy as np

from benchmarks.generators import ripley_best, ripley_split
from benchmarks.learning import RAW_HALF, classification
from benchmarks.options import Options
from benchmarks.repeats import Figures, mean, repeated, with_error
from benchmarks.report import Table
from relevance_bayes.core.basis import Bias
from relevance_bayes.core.likelihoods import Bernoulli
from relevance_bayes.core.models.model import Spec

HEADER = ("set", "draws", "ours: error %", "log loss", "vectors", "Bayes' rule: error %")


def mixture(options: Options) -> list[Table]:
    """The papers' machine with their width, and Bayes' rule."""
    measured = repeated(_mixture, options.repeats, processes=options.processes)
    row = (
        "250 rows, r = 0.5",
        str(len(measured)),
        with_error(measured, "error", times=100.0, digits=2),
        with_error(measured, "log_loss", digits=4),
        with_error(measured, "vectors", digits=1),
        f"{100.0 * mean(measured, 'best'):.2f}",
    )
    return [Table("Ripley's mixture, drawn anew", HEADER, (row,), ("10,000 rows are measured on in each draw.",))]


def _mixture(draw: int) -> Figures:
    split = ripley_split(draw)
    best = float(np.mean(ripley_best(split.X_test) != split.t_test))
    return classification(split, Spec(Bernoulli(), (RAW_HALF, Bias())), scaled=False) | {"best": best}
