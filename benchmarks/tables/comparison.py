"""The open half at any time, the sealed half three times: our defaults beside the peers on public tables."""

from collections.abc import Sequence
from datetime import UTC, datetime

from benchmarks.accuracy.peers_cache import PeersCache
from benchmarks.files import NotRun
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.tables import looks
from benchmarks.tables.boosting import require_environment
from benchmarks.tables.catalogue import Task
from benchmarks.tables.engines import LOGISTIC, OURS, PROCESS
from benchmarks.tables.generated import generated
from benchmarks.tables.measuring import FIGURES_FOLDER, Results, measured, tables
from benchmarks.tables.reporting import each, overall
from benchmarks.tables.splits import Source
from benchmarks.tables.summary import Measured, class_summary, regression_summary

QUICK_SPLITS = 2
QUICK_TABLES = 3
"""Of each task."""

QUICK_NOTE = "Quick: two splits; three tables of each task unless some are named."


def open_tables(options: Options) -> list[Table]:
    """The open half, table by table."""
    return _reported(_chosen(tables("open"), options), options, "Open tables")


def generators(options: Options) -> list[Table]:
    """Generators whose truth is known; a split is a draw."""
    return _reported(_chosen(generated(), options), options, "Generators")


def sealed(options: Options) -> list[Table]:
    """The sealed half as a whole, by as many splits of each table as named: a look, which is recorded."""
    if options.quick or options.tables or options.engines == "ours":
        raise NotRun("a look takes the whole sealed half: no --quick, --tables or --engines ours")
    sources = tables("sealed")
    require_environment()
    if options.engines == "peers":
        return _kept(sources, options)
    look = looks.begin(datetime.now(UTC).date().isoformat(), looks.revision(), splits=options.table_splits)
    print(f"Look {look.number} of {looks.MAX_LOOKS} at the sealed half; it is recorded in {looks.FILE.name}.")
    results = _measured(sources, options)
    summaries = {task: _summary(_of(results, sources, task), task) for task in _tasks(sources)}
    looks.end(look, summaries)
    found = [
        overall(task, row, f"Sealed tables, look {look.number}", splits=look.splits) for task, row in summaries.items()
    ]
    missing = tuple(f"{reason}." for reason in results.missing)
    return [*found, Table("Sealed tables: notes", ("",), (), missing)] if missing else found


def _chosen(sources: Sequence[Source], options: Options) -> list[Source]:
    unknown = set(options.tables) - {source.name for source in sources}
    if options.tables:
        if unknown:
            raise NotRun(f"no table {', '.join(sorted(unknown))} here")
        return [source for source in sources if source.name in options.tables]
    if not options.quick:
        return list(sources)
    return [source for task in _tasks(sources) for source in _of_task(sources, task)[:QUICK_TABLES]]


def _measured(sources: Sequence[Source], options: Options) -> Results:
    return measured(
        sources,
        splits=_splits(options),
        processes=options.processes,
        cache=PeersCache(options.peers_cache or FIGURES_FOLDER),
        requested=options.engines,
    )


def _splits(options: Options) -> int:
    return QUICK_SPLITS if options.quick else options.table_splits


def _reported(sources: Sequence[Source], options: Options, title: str) -> list[Table]:
    if options.engines == "peers":
        return _kept(sources, options)
    results = _measured(sources, options)
    found = []
    for task in _tasks(sources):
        of_task = _of(results, sources, task)
        found += [overall(task, _summary(of_task, task), title, splits=_splits(options)), each(of_task, task, title)]
    notes = (*((QUICK_NOTE,) if options.quick else ()), *(f"{reason}." for reason in results.missing))
    return [*found, Table(f"{title}: notes", ("",), (), notes)] if notes else found


def _kept(sources: Sequence[Source], options: Options) -> list[Table]:
    """Put the peers' figures into the cache, and show none: of the sealed half that is no look."""
    missing = _measured(sources, options).missing
    return [Table("Figures that are missing", ("",), (), tuple(f"{reason}." for reason in missing))] if missing else []


def _summary(of_task: Measured, task: Task) -> dict[str, dict[str, float]]:
    if task == "regression":
        return regression_summary(of_task, ours=OURS, reference=PROCESS)
    return class_summary(of_task, ours=OURS, reference=LOGISTIC)


def _tasks(sources: Sequence[Source]) -> list[Task]:
    """The tasks of some tables, numbers first."""
    return sorted({source.task for source in sources}, reverse=True)


def _of_task(sources: Sequence[Source], task: Task) -> list[Source]:
    return [source for source in sources if source.task == task]


def _of(results: Results, sources: Sequence[Source], task: Task) -> Measured:
    return {source.name: results.splits[source.name] for source in _of_task(sources, task)}
