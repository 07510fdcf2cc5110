"""One engine on one set: every split, peers out of the cache where they are in it."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from math import floor, log10, sqrt
from statistics import stdev
from time import perf_counter

from benchmarks.accuracy.cases import Case, DataSet
from benchmarks.accuracy.peers_cache import Key, PeersCache, digest
from benchmarks.files import NotRun
from benchmarks.options import Options
from benchmarks.repeats import Figures, mean, repeated

NOTHING = "–"


@dataclass(frozen=True)
class Package:
    """The package of a peer: the name to import and the name to install."""

    module: str
    name: str


SKLEARN = Package("sklearn", "scikit-learn")
FASTRVM = Package("fastrvm", "fastrvm")


@dataclass(frozen=True)
class Engine:
    """`measure` gives the figures of a case; a peer has its package, and the settings on which its figures depend."""

    name: str
    measure: Callable[[Case], Figures]
    package: Package | None = None
    settings: str = ""


@dataclass(frozen=True)
class Measured:
    """The figures of every split; none, and why, where the engine could not be measured."""

    engine: str
    data: str
    splits: list[Figures]
    absent: str = ""

    def mean(self, name: str) -> float | None:
        """Over the splits; None where there is no such figure."""
        return mean(self.splits, name) if self._has(name) else None

    def cell(self, name: str, *, times: float = 1.0, digits: int | None = None) -> str:
        """The mean and, without `digits`, its standard error, to three figures."""
        if not self._has(name):
            return NOTHING
        values = [times * figures[name] for figures in self.splits]
        average = sum(values) / len(values)
        if digits is not None:
            return f"{average:,.{digits}f}"
        digits = max(0, 2 - floor(log10(abs(average)))) if average else 0
        if len(values) < 2:
            return f"{average:.{digits}f}"
        return f"{average:.{digits}f} ± {stdev(values) / sqrt(len(values)):.{digits}f}"

    def ratio(self, other: "Measured | None", name: str) -> str:
        """Of the means, this to the other."""
        mine, theirs = self.mean(name), None if other is None else other.mean(name)
        return NOTHING if mine is None or theirs is None else f"{mine / theirs:.2f}"

    def _has(self, name: str) -> bool:
        return bool(self.splits) and name in self.splits[0]


def measured(engine: Engine, data: DataSet, options: Options) -> Measured:
    """All splits of a set by one engine."""
    try:
        if engine.package is not None and find_spec(engine.package.module) is None:
            raise NotRun(f"{engine.package.name} is not installed")
        data.read(data.numbers[0])
        one = partial(_one, engine, data, PeersCache(options.peers_cache), options.engines == "ours")
        start = perf_counter()
        splits = repeated(one, len(data.numbers), processes=options.processes)
        print(f"[{engine.name} on {data.name}: {perf_counter() - start:.0f} s]", file=sys.stderr, flush=True)
        return Measured(engine.name, data.name, splits)
    except NotRun as reason:
        return Measured(engine.name, data.name, [], str(reason))


def not_run(found: Sequence[Measured]) -> tuple[str, ...]:
    """A note for every reason, with all that it kept from running."""
    reasons: dict[str, list[str]] = {}
    for one in found:
        if one.absent:
            reasons.setdefault(one.absent, []).append(f"{one.engine} on {one.data}")
    return tuple(f"{', '.join(kept)}: NOT RUN: {reason}." for reason, kept in reasons.items())


def _one(engine: Engine, data: DataSet, cache: PeersCache, ours_only: bool, place: int) -> Figures:
    number = data.numbers[place]
    case = data.read(number)
    if engine.package is None:
        return engine.measure(case)
    key = Key(engine.name, engine.settings, version(engine.package.name), data.name, number, digest(case.split))
    known = cache.get(key)
    if known is not None:
        return known
    if ours_only:
        raise NotRun("only our engines are measured, and the peers' cache does not have it")
    figures = engine.measure(case)
    cache.put(key, figures)
    return figures
