"""All engines on some tables, out of the cache where it has their figures."""

import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.accuracy.peers_cache import Key, PeersCache, digest
from benchmarks.files import NotRun
from benchmarks.options import Engines
from benchmarks.repeats import Figures
from benchmarks.tables.catalogue import ENTRIES, Entry
from benchmarks.tables.engines import OURS, Engine, engines
from benchmarks.tables.families import Half, family, half
from benchmarks.tables.outcomes import figures
from benchmarks.tables.splits import Source, TableSplit, divided
from benchmarks.tables.table import FOLDER, DataTable

FIGURES_FOLDER = FOLDER.with_name("tables-figures")
"""Where the figures are kept unless another folder is named."""


@dataclass(frozen=True)
class Results:
    """The figures of each split by table and engine, and why some are missing."""

    splits: dict[str, dict[str, dict[int, Figures]]]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """Some splits of a table for one engine; their figures go into the cache by their keys."""

    engine: Engine
    source: Source
    keys: dict[int, Key]


Finished = tuple[Job, dict[int, Figures] | str]
"""The figures by the split's number, or the reason why there are none."""


def tables(which: Half) -> list[Source]:
    """The tables of one half; raises NotRun where their files were not written."""
    return [
        Source(entry.name, entry.task, partial(_split, _file(entry)))
        for entry in ENTRIES
        if half(family(entry.name)) == which
    ]


def measured(
    sources: Sequence[Source], *, splits: int, processes: int, cache: PeersCache, requested: Engines
) -> Results:
    """The figures of all engines on all splits from 0 on; of engines that are not requested, those in the cache.

    The first split of all tables is measured first, so that a run that is broken off has figures of each table.
    """
    found: dict[str, dict[str, dict[int, Figures]]] = {source.name: {} for source in sources}
    jobs = []
    for source in sources:
        for job, known in _planned(source, range(splits), cache):
            found[source.name][job.engine.name] = known
            if job.keys and _is_requested(job.engine, requested):
                jobs += _parts(job)
    jobs.sort(key=lambda job: (min(job.keys), job.engine.name != OURS))
    missing = []
    for place, (job, figures_or_reason) in enumerate(_finished(jobs, cache, processes), 1):
        if isinstance(figures_or_reason, str):
            missing.append(f"{job.engine.name} on {job.source.name}: {figures_or_reason}")
        else:
            found[job.source.name][job.engine.name] |= figures_or_reason
        print(f"[{place} of {len(jobs)}: {job.engine.name} on {job.source.name}]", file=sys.stderr, flush=True)
    return Results(found, tuple(dict.fromkeys(missing)))


def _is_requested(engine: Engine, requested: Engines) -> bool:
    return requested == "all" or (engine.name == OURS) == (requested == "ours")


def _planned(source: Source, numbers: Iterable[int], cache: PeersCache) -> Iterable[tuple[Job, dict[int, Figures]]]:
    """For each engine what is to be measured, and what the cache has."""
    rows = {number: digest(source.read(number).numbers()) for number in numbers}
    for engine in engines(source.task):
        keys = {
            number: Key(engine.name, engine.settings, engine.version, source.name, number, rows[number])
            for number in rows
        }
        cached = {number: cache.get(key) for number, key in keys.items()}
        known = {number: one for number, one in cached.items() if one is not None}
        yield Job(engine, source, {number: key for number, key in keys.items() if number not in known}), known


def _parts(job: Job) -> list[Job]:
    """One job a split, but a single one where an engine takes all splits together."""
    if job.engine.predict_all is not None:
        return [job]
    return [Job(job.engine, job.source, {number: key}) for number, key in job.keys.items()]


def _finished(jobs: Sequence[Job], cache: PeersCache, processes: int) -> Iterable[Finished]:
    finish = partial(_finish, cache)
    if processes == 1 or len(jobs) == 1:
        yield from map(finish, jobs)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(finish, jobs)


def _finish(cache: PeersCache, job: Job) -> Finished:
    splits = [job.source.read(number) for number in job.keys]
    try:
        outcomes = job.engine.outcomes(splits)
    except (NotRun, ValueError, np.linalg.LinAlgError) as reason:
        return job, str(reason)
    found = {split.number: figures(outcome, split) for split, outcome in zip(splits, outcomes, strict=True)}
    for number, one in found.items():
        cache.put(job.keys[number], one)
    return job, found


def read_table(name: str) -> DataTable:
    """A table of the open half; raises NotRun where its file was not written."""
    if half(family(name)) != "open":
        raise NotRun(f"{name} is under seal")
    (entry,) = (entry for entry in ENTRIES if entry.name == name)
    return _table(_file(entry))


def _file(entry: Entry) -> Path:
    path = FOLDER / f"{entry.name}.npz"
    if not path.is_file():
        raise NotRun(f"{entry.name} was not written: `make tables`")
    return path


def _split(path: Path, number: int) -> TableSplit:
    return divided(_table(path), number)


@lru_cache(4)
def _table(path: Path) -> DataTable:
    return DataTable.read(path)
