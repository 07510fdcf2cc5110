"""sinc with noise of two kinds and without, and nothing but noise: defaults and the papers' independent prior."""

from functools import partial
from statistics import median

from benchmarks.accuracy.cases import DataSet, noise, sinc
from benchmarks.accuracy.coverage import coverage
from benchmarks.accuracy.measuring import Engine, Measured, measured, not_run
from benchmarks.accuracy.ours import regressor
from benchmarks.accuracy.real_peers import process_engine, rvm_engine, support_engine
from benchmarks.accuracy.scoring import real_figures
from benchmarks.options import Options
from benchmarks.repeats import column
from benchmarks.report import Table
from relevance_bayes.core.priors import Independent

HEADER = ("target", "engine", "10 x RMSE to the truth", "NLL", "functions", "median", "all draws", "CPU s")
NOTES = (
    (
        "Draws of the seed 2027, on which nothing was tuned; without noise there is one. RMSE to the true function on "
        "1,000 points (noise: 0 at the rows), mean ± its standard error; NLL of fresh noisy targets."
    ),
    (
        "Ours: what a job gets that names only its data and its target. Independent: the papers' prior is named, width "
        "by 5-fold CV. GP: 3 restarts; fastrvm and SVR: tuned by 5-fold CV."
    ),
)


def beside_peers(options: Options) -> list[Table]:
    """Two priors of ours, and the peers of Friedman's functions."""
    engines = (
        Engine("ours", partial(real_figures, regressor)),
        Engine("ours, independent", partial(real_figures, partial(regressor, prior=Independent()))),
        process_engine(rows=1_000, restarts=3),
        rvm_engine(),
        support_engine(),
    )
    sets: list[DataSet] = [sinc("gaussian", options), sinc("uniform", options), noise(options), sinc("none", options)]
    found = [measured(engine, data, options) for data in sets for engine in engines]
    rows = tuple(_row(one) for one in found if not one.absent)
    title = "sinc and pure noise, N = 100"
    noisy = [one for one in found if one.data != sets[-1].name]
    return [
        Table(f"{title}, {options.accuracy_draws} draws", HEADER, rows, (*NOTES, *not_run(found))),
        coverage(title, noisy),
    ]


def _row(one: Measured) -> tuple[str, ...]:
    functions = column(one.splits, "functions")
    rmse = Measured(one.engine, one.data, [figures | {"to_truth": figures["mse"] ** 0.5} for figures in one.splits])
    return (
        one.data,
        one.engine,
        rmse.cell("to_truth", times=10.0),
        one.cell("nll"),
        one.cell("functions", digits=1),
        f"{median(functions):g}",
        f"{min(functions):g} to {max(functions):g}",
        one.cell("seconds", digits=2),
    )
