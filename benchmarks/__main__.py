"""`python -m benchmarks [name ...]`: measure and print the benchmarks that README.md lists."""

import argparse
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import get_args

from benchmarks import (
    algorithms,
    decisions,
    drift,
    edge_cases,
    goldens,
    mixture,
    noise,
    nulls,
    promotion,
    report,
    service,
    splines,
)
from benchmarks.accuracy import friedman as accuracy_friedman
from benchmarks.accuracy import many_classes, real_sets, two_classes
from benchmarks.accuracy import sinc as accuracy_sinc
from benchmarks.components.tables import components
from benchmarks.daily.tables import daily_tables
from benchmarks.expansions.tables import expansions
from benchmarks.files import DataFolder, NotRun
from benchmarks.hostile.attacks import hostile
from benchmarks.hostile.request_cost import request_cost
from benchmarks.images.tables import images
from benchmarks.jobs.slots import slots
from benchmarks.jobs.storage import storage
from benchmarks.jobs.tables import jobs
from benchmarks.options import Engines, Options
from benchmarks.papers.tables import papers
from benchmarks.report import Table
from benchmarks.serving.endurance import endurance
from benchmarks.serving.limits import limits
from benchmarks.serving.sizing import sizing
from benchmarks.serving.tables import serving
from benchmarks.signals.tables import signals
from benchmarks.speed import memory, timing
from benchmarks.speed.fit_pairs import fit_pairs
from benchmarks.speed.million import million
from benchmarks.speed.planned_costs import planned_costs
from benchmarks.speed.training_costs import training_costs
from benchmarks.tables import by_functions, by_rows, comparison, large

BENCHMARKS: dict[str, Callable[[Options], list[Table]]] = {
    "papers": papers,
    "spline": splines.splines,
    "mixture": mixture.mixture,
    "decisions": decisions.mixture,
    "signals": signals,
    "expansions": expansions,
    "components": components,
    "images": images,
    "noise": noise.pure,
    "nulls": nulls.nulls,
    "edge-cases": edge_cases.edge_cases,
    "promotion": promotion.promotion,
    "drift": drift.drift,
    "algorithms": algorithms.algorithms,
    "time": timing.sinc,
    "time-classes": timing.classes,
    "time-defaults": timing.defaults,
    "training-costs": training_costs,
    "planned-costs": planned_costs,
    "memory": memory.memory,
    "million": million,
    "airfoil": service.airfoil,
    "wdbc": service.wdbc,
    "jobs": jobs,
    "slots": slots,
    "storage": storage,
    "serving": serving,
    "endurance": endurance,
    "sizing": sizing,
    "limits": limits,
}

ACCURACY: dict[str, Callable[[Options], list[Table]]] = {
    "accuracy-sinc": accuracy_sinc.beside_peers,
    "accuracy-friedman": accuracy_friedman.beside_peers,
    "accuracy-inputs": accuracy_friedman.among_noise,
    "accuracy-regression": real_sets.beside_peers,
    "accuracy-classes": two_classes.beside_peers,
    "accuracy-many-classes": many_classes.beside_peers,
}
"""Run where they are named, or all of them by the name `accuracy`: with the peers they take hours."""

BESIDE: dict[str, Callable[[Options], list[Table]]] = {
    "hostile": hostile,
    "request-cost": request_cost,
    "fit-pairs": fit_pairs,
}
"""Run where they are named: they compare with another checkout."""

GOLDENS: dict[str, Callable[[Options], list[Table]]] = {"goldens": goldens.goldens}
"""Run where they are named: they compare with stored figures of another state."""

TABLES: dict[str, Callable[[Options], list[Table]]] = {
    "open-tables": comparison.open_tables,
    "daily-tables": daily_tables,
    "generators": comparison.generators,
    "sealed": comparison.sealed,
    "many-rows": large.large,
    "error-by-rows": by_rows.by_rows,
    "error-by-functions": by_functions.by_functions,
}
"""Run where they are named: with the peers they take hours, and looks at the sealed half are counted."""

ALL = BENCHMARKS | ACCURACY | BESIDE | GOLDENS | TABLES


def main(arguments: list[str] | None = None) -> None:
    """Run what was named, by default all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Prints tables, asserts nothing.")
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"which: {', '.join(ALL)}; {', '.join(BENCHMARKS)} by default"
    )
    parser.add_argument("--quick", action="store_true", help="few draws and small sizes")
    parser.add_argument("--repeats", type=int, help="draws where the papers took 100, and of accuracy, 20 by default")
    parser.add_argument(
        "--splits", type=int, help="of real sets of regression, at most 5; of public tables, 10 by default"
    )
    parser.add_argument("--data", type=Path, help="the folder of real data (also RELEVANCE_BENCH_DATA)")
    parser.add_argument("--processes", type=int, default=2, help="for repeats; times are taken in one")
    parser.add_argument("--peers-cache", type=Path, help="a folder where accuracy keeps the peers' figures")
    parser.add_argument("--draws-file", type=Path, help="where papers and time keep the figures of draws, to go on")
    parser.add_argument("--against", type=Path, help=f"another checkout with its .venv, for {', '.join(BESIDE)}")
    parser.add_argument(
        "--engines",
        choices=get_args(Engines),
        default="all",
        help="ours: peers from the cache alone; peers: only into the cache",
    )
    parser.add_argument(
        "--tables",
        nargs="+",
        default=(),
        help="of goldens, open-tables, daily-tables, generators, many-rows or error-by-functions, these alone",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="write the tables to benchmarks/README.md too, or to the page of the documentation that has them",
    )
    parser.add_argument("--pictures", action="store_true", help="draw those of accuracy into docs/pictures")
    given = parser.parse_args(arguments)
    named = [one for name in given.names for one in (ACCURACY if name == "accuracy" else [name])]
    unknown = [name for name in named if name not in ALL]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}: there are accuracy, {', '.join(ALL)}")
    options = _options(given.data, given.quick, given.repeats, given.processes)
    options = replace(options, engines=given.engines, peers_cache=given.peers_cache)
    if given.splits is not None:
        options = replace(options, real_splits=given.splits, table_splits=given.splits)
    options = replace(options, draws_file=given.draws_file, against=given.against, tables=tuple(given.tables))
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    for name in named or (() if given.pictures else BENCHMARKS):
        start = perf_counter()
        tables = _tables(name, options)
        for table in tables:
            print(table.text(), end="\n\n", flush=True)
        print(f"[{name}: {perf_counter() - start:.0f} s]", file=sys.stderr)
        if given.write:
            report.write(name, tables)
    if given.pictures:
        _draw(options)


def _draw(options: Options) -> None:
    from benchmarks.accuracy.pictures import draw  # only pictures need matplotlib

    for path in draw(options):
        print(path)


def _tables(name: str, options: Options) -> list[Table]:
    try:
        return ALL[name](options)
    except NotRun as absent:
        return [report.not_run(name, absent)]


def _options(data: Path | None, quick: bool, repeats: int | None, processes: int) -> Options:
    named = os.environ.get("RELEVANCE_BENCH_DATA")
    folder = DataFolder(data or (Path(named) if named else None))
    if quick:
        few = Options(folder, repeats or 5, splits=2, draws=5, rounds=3, processes=processes)
        return replace(few, accuracy_draws=repeats or 3, quick=True)
    return Options(folder, repeats or 100, processes=processes, accuracy_draws=repeats or 20)


if __name__ == "__main__":
    main()
