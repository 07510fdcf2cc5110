"""Daily tables: ours by defaults and with two options, beside histogram gradient boosting."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from statistics import fmean

import numpy as np

from benchmarks.accuracy.peers_cache import Key, PeersCache
from benchmarks.accuracy.scoring import PredictedClasses, PredictedNumbers
from benchmarks.daily import ours, peer
from benchmarks.daily.catalogue import DAILY, DailyTable
from benchmarks.daily.splits import MAX_TEST_ROWS, MAX_TRAINING_ROWS, DailySplit, split_of
from benchmarks.files import NotRun
from benchmarks.options import Options
from benchmarks.repeats import Figures
from benchmarks.report import Table
from benchmarks.tables.measuring import FIGURES_FOLDER
from benchmarks.tables.ours import code_digest
from benchmarks.tables.outcomes import MIN_PROBABILITY
from benchmarks.tables.peers import TREES
from relevance_bayes.core.types import Indices
from relevance_bayes.tables.columns import CategoryColumn, TimestampColumn

SPLITS, QUICK_SPLITS = 3, 1
HEADER = (
    "table",
    "rows",
    "inputs",
    "what is hard",
    "error",
    "HistGB",
    "log score",
    "HistGB",
    "refused",
    "CPU s",
    "HistGB",
)
NOTES = (
    (
        f"A job from CSV that names data and target. Splits: {SPLITS}; at most {MAX_TRAINING_ROWS} rows for training "
        f"and {MAX_TEST_ROWS} for testing. Error: RMSE of numbers, the share of wrong labels of classes. Log score: "
        "the mean negative log density or log loss, in nats a row. Lower is better. Refused: the share of the rows for "
        "testing that are answered by an error, such as a category that no row for training has; both are measured on "
        "the others."
    ),
    (
        "HistGB: HistGradientBoosting of scikit-learn with the pipeline by hand: dates as year, month, day, weekday, "
        "day of the year and hour beside the time, texts of up to 255 values as categories, of more values by "
        f"TargetEncoder, gaps as they are; a search by 5 folds over {TREES}. Its distribution of numbers is normal, "
        "with the sd of the residuals of 5 folds. CPU s: one fit, with any search."
    ),
)

Predicted = tuple[float, Indices, PredictedNumbers | PredictedClasses]


@dataclass(frozen=True)
class Engine:
    """One of ours or the peer; figures are kept by `settings` and `version`."""

    name: str
    predict: Callable[[DailySplit], Predicted]
    settings: str
    version: str


def daily_tables(options: Options) -> list[Table]:
    """One row a table."""
    cache = PeersCache(options.peers_cache or FIGURES_FOLDER)
    chosen = [table for table in DAILY if not options.tables or table.name in options.tables]
    splits = QUICK_SPLITS if options.quick else min(options.table_splits, SPLITS)
    rows, missing = [], list[str]()
    for table in chosen:
        try:
            rows.append(_row(table, splits, cache))
        except NotRun as reason:
            missing.append(f"{reason}.")
    return [Table("Daily tables", HEADER, tuple(rows), (*NOTES, *missing))]


def _engines() -> tuple[Engine, Engine]:
    own = Engine("ours", ours.predictions, "daily, defaults", code_digest())
    return own, Engine("HistGB", _peer, f"daily, {TREES}", version("scikit-learn"))


def _peer(split: DailySplit) -> Predicted:
    seconds, predicted = peer.predictions(split)
    return seconds, np.arange(len(split.t_test)), predicted


def _row(table: DailyTable, splits: int, cache: PeersCache) -> tuple[str, ...]:
    measured = [_measured(split_of(table, number), cache) for number in range(splits)]
    first = split_of(table, 0)
    own, other = ([pair[place] for pair in measured] for place in (0, 1))
    figures = [f"{_mean(each, name):.4g}" for name in ("error", "loss") for each in (own, other)]
    seconds = [f"{_mean(each, 'seconds'):.0f}" for each in (own, other)]
    return table.name, f"{len(first.t):,}", _inputs(first), table.difficulty, *figures, _refused(own), *seconds


def _mean(each: list[Figures], name: str) -> float:
    return fmean(one[name] for one in each)


def _refused(own: list[Figures]) -> str:
    share = _mean(own, "refused")
    return f"{100.0 * share:.1f} %" if share else "–"


def _inputs(split: DailySplit) -> str:
    counts = Counter(_kind(column) for name, column in split.learned.items() if name != split.table.target)
    return ", ".join(f"{counts[kind]} {kind}{'s' if counts[kind] > 1 else ''}" for kind in sorted(counts))


def _kind(column: object) -> str:
    return "text" if isinstance(column, CategoryColumn) else "date" if isinstance(column, TimestampColumn) else "number"


def _measured(split: DailySplit, cache: PeersCache) -> tuple[Figures, Figures]:
    """The figures of ours and of the peer on the rows that ours answers."""
    own, other = _engines()
    found = _cached(own, split, cache)
    answered = np.array([row for row in range(len(split.t_test)) if not found[f"refused_{row}"]], np.intp)
    return found, _cached(other, split, cache, answered)


def _cached(engine: Engine, split: DailySplit, cache: PeersCache, answered: Indices | None = None) -> Figures:
    settings = engine.settings if answered is None else f"{engine.settings} on {answered.tolist()}"
    key = Key(engine.name, settings, engine.version, f"daily-{split.table.name}", split.number, split.digest)
    found = cache.get(key)
    if found is None:
        seconds, rows, predicted = engine.predict(split)
        if answered is not None:
            rows, predicted = answered, _taken(predicted, answered)
        refused = np.ones(len(split.t_test))
        refused[rows] = 0.0
        found = {"seconds": seconds, "refused": float(refused.mean())} | _figures(predicted, split, rows)
        found |= {f"refused_{row}": value for row, value in enumerate(refused.tolist())} if answered is None else {}
        cache.put(key, found)
        print(f"[{engine.name} on {split.table.name}, {split.number}]", file=sys.stderr, flush=True)
    return found


def _taken(predicted: PredictedNumbers | PredictedClasses, rows: Indices) -> PredictedNumbers | PredictedClasses:
    if isinstance(predicted, PredictedClasses):
        return PredictedClasses(predicted.probabilities[rows], predicted.labels[rows])
    distribution = predicted.distribution
    assert distribution is not None
    taken = {name: values[rows] for name, values in vars(distribution).items()}
    return PredictedNumbers(predicted.mean[rows], replace(distribution, **taken))


def _figures(predicted: PredictedNumbers | PredictedClasses, split: DailySplit, rows: Indices) -> Mapping[str, float]:
    t = split.t_test[rows]
    if isinstance(predicted, PredictedClasses):
        each = predicted.probabilities[np.arange(len(t)), t.astype(np.intp)]
        return {
            "error": float(np.mean(predicted.labels != t)),
            "loss": -float(np.log(np.maximum(each, MIN_PROBABILITY)).mean()),
        }
    distribution = predicted.distribution
    assert distribution is not None
    inside = (distribution.lower <= t) & (t <= distribution.upper)
    return {
        "error": float(np.sqrt(np.mean((predicted.mean - t) ** 2))),
        "loss": -float(distribution.log_density.mean()),
        "inside": float(inside.mean()),
    }
