"""Real sets of regression, 90 % to learn from: ours on all rows, a Gaussian process on as many as it can carry."""

from functools import partial

from benchmarks.accuracy.cases import real
from benchmarks.accuracy.coverage import coverage, share
from benchmarks.accuracy.measuring import Engine, Measured, measured, not_run
from benchmarks.accuracy.ours import regressor
from benchmarks.accuracy.real_peers import process_engine, rvm_engine
from benchmarks.accuracy.scoring import real_figures
from benchmarks.options import Options
from benchmarks.report import Table

SETS = ("yacht", "autompg", "energy", "concrete", "airfoil", "power", "kin40k")
TITLE = "Real sets of regression"
HEADER = ("set", "engine", "splits", "N", "RMSE", "RMSE / GP's", "NLL", "inside 95 %", "functions", "CPU s")

PROCESS_ROWS = {"kin40k": 2_000}
MAX_PROCESS_ROWS = 1_000
QUICK_PEER_ROWS = 300
RVM_ROWS = (2_000, 500)
"""Learned from at most, and searched for the width on."""

NOTES = (
    (
        "Published splits from 3 on, on which nothing was tuned (0 to 2 were used for that); kin40k: 10,000 of the "
        "fold's rows to learn from. Means ± their standard errors, in the targets' units; NLL in nats."
    ),
    (
        "GP: scikit-learn, a length for each input, on at most 1,000 rows drawn by a named seed (kin40k: 2,000), 2 "
        "restarts (1 above 600 rows). fastrvm: gamma by 5-fold CV on at most 500 rows, then at most 2,000."
    ),
)
QUICK_NOTE = "Quick: split 3 alone, at most 600 rows to learn from, 300 for the peers."


def beside_peers(options: Options) -> list[Table]:
    """Defaults against a Gaussian process and fastrvm."""
    found, rows = [], []
    for name in SETS:
        data = real(name, options)
        process = process_engine(_process_rows(name, options), restarts=2)
        engines = (Engine("ours", partial(real_figures, regressor)), process, rvm_engine(*_rvm_rows(options)))
        of_all = [measured(engine, data, options) for engine in engines]
        (reference,) = (one for one in of_all if one.engine == process.name)
        rows += [_row(one, reference) for one in of_all if not one.absent]
        found += of_all
    notes = (*NOTES, *((QUICK_NOTE,) if options.quick else ()), *not_run(found))
    return [Table(TITLE, HEADER, tuple(rows), notes), coverage(TITLE, found)]


def _process_rows(name: str, options: Options) -> int:
    return QUICK_PEER_ROWS if options.quick else PROCESS_ROWS.get(name, MAX_PROCESS_ROWS)


def _rvm_rows(options: Options) -> tuple[int, int]:
    return (QUICK_PEER_ROWS, QUICK_PEER_ROWS) if options.quick else RVM_ROWS


def _row(one: Measured, reference: Measured) -> tuple[str, ...]:
    return (
        one.data,
        one.engine,
        str(len(one.splits)),
        one.cell("rows", digits=0),
        one.cell("rmse"),
        one.ratio(reference, "rmse"),
        one.cell("nll"),
        share(one),
        one.cell("functions", digits=1),
        one.cell("seconds", digits=1),
    )
