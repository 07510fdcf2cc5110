"""Friedman's functions with the noise of the papers' words: squared error to the truth beside an ARD process."""

from functools import partial

from benchmarks.accuracy.cases import friedman
from benchmarks.accuracy.coverage import coverage, share
from benchmarks.accuracy.measuring import Engine, Measured, measured, not_run
from benchmarks.accuracy.ours import regressor
from benchmarks.accuracy.real_peers import process_engine, rvm_engine, support_engine
from benchmarks.accuracy.scoring import real_figures
from benchmarks.options import Options
from benchmarks.report import Table

TITLE = "Friedman's functions, N = 240"
HEADER = ("function", "engine", "MSE to the truth", "MSE / GP's", "NLL", "inside 95 %", "functions", "CPU s")
NOTES = (
    (
        "Noise of sd 1 (function 1) or a third of the signal's sd (2 and 3); draws of the seed 2027, on which nothing "
        "was tuned. NLL in nats and the share inside on 1,000 noisy targets. Means over the draws ± their standard "
        "errors."
    ),
    (
        "Ours: what a job gets that names only its data and its target. GP: scikit-learn, "
        "ConstantKernel * RBF (a length for each input) + WhiteKernel, normalize_y, 3 restarts. fastrvm: gamma by "
        "5-fold CV. SVR: C and gamma by 5-fold CV. Seconds count any search, one thread."
    ),
)


def beside_peers(options: Options) -> list[Table]:
    """Defaults against a Gaussian process, fastrvm and SVR."""
    process = process_engine(rows=1_000, restarts=3)
    engines = (Engine("ours", partial(real_figures, regressor)), process, rvm_engine(), support_engine())
    found, rows = [], []
    for number in (1, 2, 3):
        data = friedman(number, options)
        of_all = [measured(engine, data, options) for engine in engines]
        (reference,) = (one for one in of_all if one.engine == process.name)
        rows += [_row(one, reference) for one in of_all if not one.absent]
        found += of_all
    title = f"{TITLE}, {options.accuracy_draws} draws"
    return [Table(title, HEADER, tuple(rows), (*NOTES, *not_run(found))), coverage(TITLE, found)]


def _row(one: Measured, reference: Measured) -> tuple[str, ...]:
    return (
        one.data,
        one.engine,
        one.cell("mse"),
        one.ratio(reference, "mse"),
        one.cell("nll"),
        share(one),
        one.cell("functions", digits=1),
        one.cell("seconds", digits=2),
    )
