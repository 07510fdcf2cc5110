"""Friedman's functions with the noise of the papers' words: squared error to the truth beside an ARD process."""

from functools import partial

from benchmarks.accuracy.cases import DataSet, friedman, friedman_twice
from benchmarks.accuracy.coverage import coverage, share
from benchmarks.accuracy.measuring import Engine, Measured, measured, not_run
from benchmarks.accuracy.ours import regressor
from benchmarks.accuracy.real_peers import long_process_engine, process_engine, rvm_engine, support_engine
from benchmarks.accuracy.scoring import real_figures
from benchmarks.options import Options
from benchmarks.report import Table

PROCESS = process_engine(rows=1_000, restarts=3)
LONG_PROCESS = long_process_engine(rows=1_000, restarts=3, length=5.0)

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


AMONG_NOISE = "Thirty inputs of which twenty are noise, N = 240"
AMONG_NOISE_NOTES = (
    (
        "Friedman's function 1 of five inputs plus that of five others, beside twenty without effect; noise of sd "
        "1, whose NLL is 1.42. Engines and draws as for Friedman's functions; the ratio is to the GP whose first start "
        "has a length of 5 for each standardised input, since one from 1 each takes all for noise."
    ),
)


def beside_peers(options: Options) -> list[Table]:
    """Defaults against a Gaussian process, fastrvm and SVR."""
    found = [one for number in (1, 2, 3) for one in _of_all(friedman(number, options), (PROCESS,), options)]
    title = f"{TITLE}, {options.accuracy_draws} draws"
    return [Table(title, HEADER, _rows(found, PROCESS), (*NOTES, *not_run(found))), coverage(TITLE, found)]


def among_noise(options: Options) -> list[Table]:
    """The same where two of three inputs have no effect, relative to the process that finds the effect of any."""
    data = friedman_twice(options)
    found = _of_all(data, (PROCESS, LONG_PROCESS), options)
    title = f"{AMONG_NOISE}, {len(data.numbers)} draws"
    return [Table(title, HEADER, _rows(found, LONG_PROCESS), (*AMONG_NOISE_NOTES, *not_run(found)))]


def _of_all(data: DataSet, processes: tuple[Engine, ...], options: Options) -> list[Measured]:
    engines = (Engine("ours", partial(real_figures, regressor)), *processes, rvm_engine(), support_engine())
    return [measured(engine, data, options) for engine in engines]


def _rows(found: list[Measured], reference: Engine) -> tuple[tuple[str, ...], ...]:
    references = {one.data: one for one in found if one.engine == reference.name}
    return tuple(_row(one, references[one.data]) for one in found if not one.absent)


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
