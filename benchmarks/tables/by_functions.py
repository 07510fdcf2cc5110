"""The error of one process against the most functions that it may have, on sets of many rows."""

from collections.abc import Callable
from math import log
from time import process_time

import numpy as np

from benchmarks.fitting import NO_DATASET, fitted
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.tables.by_rows import friedman_table
from benchmarks.tables.large import FOLD, published
from benchmarks.tables.ours import TARGET, block
from benchmarks.tables.splits import TableSplit
from relevance_bayes.core.algorithms import Greedy
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.models.pool import n_functions
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.tasks.supervised.request import KernelChoice, SupervisedRequest

KIN40K, FRIEDMAN = "kin40k", "Friedman 1"
SIZES, QUICK_SIZES = {FRIEDMAN: (8, 16, 32, 64, 128), KIN40K: (32, 64, 128, 256, 512, 1_024)}, (4, 8)
LONG_SIZES, LONG = {KIN40K: (1_024, 2_048)}, 120
"""Sizes that are measured with so many iterations of L-BFGS too: the last takes more than an hour."""

ROWS, QUICK_ROWS = 100_000, 2_000

HEADER = ("set", "rows", "at most", "iterations", "functions", "error", "NLL", "CPU s")

NOTES = (
    (
        "A job with the prior `gaussian_process`, `max_functions` and the Gaussian kernel. Error: of Friedman 1, with "
        "noise of sd 1, that of the predicted mean from the true function at 1,000 places; of kin40k, fold 3, the RMSE "
        "of new targets over their sd, as is NLL, in nats a row. Bias and inputs count as functions. Iterations: the "
        "`max_iterations` of the algorithm `greedy`, by default as many as its work permits."
    ),
)


def by_functions(options: Options) -> list[Table]:
    """One row for each set and number of functions."""
    sets: dict[str, Callable[[], TableSplit]] = {
        FRIEDMAN: lambda: friedman_table(QUICK_ROWS if options.quick else ROWS, 0),
        KIN40K: lambda: published(KIN40K, options.data.published(KIN40K, FOLD)),
    }
    rows = []
    for name, read in sets.items():
        if options.tables and name not in options.tables:
            continue
        split = read()
        scale = float(split.t_test.std()) if name == KIN40K else 1.0
        sizes = [(size, None) for size in (QUICK_SIZES if options.quick else SIZES[name])]
        long = [] if options.quick else [(size, LONG) for size in LONG_SIZES.get(name, ())]
        for size, iterations in (*sizes, *long):
            figures = _measured(split, size, iterations, scale)
            rows.append((name, f"{len(split.learned):,}", str(size), str(iterations or "default"), *figures))
    return [Table("Error against functions", HEADER, tuple(rows), NOTES)]


def _measured(split: TableSplit, max_functions: int, iterations: int | None, scale: float) -> tuple[str, ...]:
    """Functions, error, NLL and CPU seconds, in units of `scale`."""
    start = process_time()
    request = SupervisedRequest(
        NO_DATASET,
        TARGET,
        basis=KernelChoice(Gaussian()),
        prior=GaussianProcess(max_functions=max_functions),
        algorithm=Greedy(max_iterations=iterations),
    )
    found = fitted(block(split.table, split.learned), request)
    seconds = process_time() - start
    predicted = found.predicted_numbers(block(split.table, split.measured), split.t_test)
    error = float(np.sqrt(np.mean((predicted.mean - split.t_test) ** 2))) / scale
    density = predicted.distribution
    is_noisy = density is not None and split.table.name == KIN40K
    nll = f"{-float(density.log_density.mean()) - log(scale):.3f}" if density is not None and is_noisy else "–"
    return str(n_functions(found.model)), f"{error:.4f}", nll, f"{seconds:.0f}"
