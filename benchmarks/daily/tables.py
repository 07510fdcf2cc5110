"""Daily tables: ours by defaults and without texts of many values, beside histogram gradient boosting."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from relevance_bayes.tables.columns import CategoryArray, TimestampArray

SPLITS, QUICK_SPLITS = 3, 1
OPTIONS = replace(ours.DEFAULTS, text="leave_out")
HEADER = (
    "table",
    "rows",
    "inputs",
    "what is hard",
    "error",
    "no texts",
    "HistGB",
    "log score",
    "no texts",
    "HistGB",
    "refused",
    "CPU s",
    "no texts",
    "HistGB",
)
NOTES = (
    (
        "A job from CSV that names data and target; no texts: with the option `text` of `leave_out`. "
        f"At most {MAX_TRAINING_ROWS} rows for training and {MAX_TEST_ROWS} for testing. Error: RMSE of numbers, the "
        "share of wrong labels of classes. Log score: the mean negative log density or log loss, in nats a row. Lower "
        "is better. Refused: the share of the rows for testing with an error in place of a prediction, such as for a "
        "gap in a column without gaps; all are measured on the others."
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
    return [Table("Daily tables", HEADER, tuple(rows), (f"Splits: {splits}.", *NOTES, *missing))]


def _engines() -> tuple[Engine, Engine, Engine]:
    own = Engine("ours", ours.predictions, "daily, defaults", code_digest())
    by_effects = Engine("ours", partial(ours.predictions, request=OPTIONS), "daily, target", code_digest())
    return own, by_effects, Engine("HistGB", _peer, f"daily, {TREES}", version("scikit-learn"))


def _peer(split: DailySplit) -> Predicted:
    seconds, predicted = peer.predictions(split)
    return seconds, np.arange(len(split.t_test)), predicted


def _row(table: DailyTable, splits: int, cache: PeersCache) -> tuple[str, ...]:
    measured = [_measured(split_of(table, number), cache) for number in range(splits)]
    first, each = split_of(table, 0), list(zip(*measured, strict=True))
    figures = [f"{_mean(engine, name):.4g}" for name in ("error", "loss") for engine in each]
    seconds = [f"{_mean(engine, 'seconds'):.0f}" for engine in each]
    return table.name, f"{len(first.t):,}", _inputs(first), table.difficulty, *figures, _refused(each[0]), *seconds


def _mean(each: Sequence[Figures], name: str) -> float:
    return fmean(one[name] for one in each)


def _refused(own: Sequence[Figures]) -> str:
    share = _mean(own, "refused")
    return f"{100.0 * share:.1f} %" if share else "–"


def _inputs(split: DailySplit) -> str:
    counts = Counter(_kind(column) for name, column in split.learned.items() if name != split.table.target)
    return ", ".join(f"{counts[kind]} {kind}{'s' if counts[kind] > 1 else ''}" for kind in sorted(counts))


def _kind(column: object) -> str:
    return "text" if isinstance(column, CategoryArray) else "date" if isinstance(column, TimestampArray) else "number"


def _measured(split: DailySplit, cache: PeersCache) -> tuple[Figures, ...]:
    """The figures of the engines on the rows that ours predicts by defaults."""
    first, *others = _engines()
    found = _cached(first, split, cache)
    predicted_rows = np.array([row for row in range(len(split.t_test)) if not found[f"refused_{row}"]], np.intp)
    return found, *(_cached(other, split, cache, predicted_rows) for other in others)


def _cached(engine: Engine, split: DailySplit, cache: PeersCache, rows: Indices | None = None) -> Figures:
    """The figures on these rows, by default on all without a fault."""
    settings = engine.settings if rows is None else f"{engine.settings} on {rows.tolist()}"
    key = Key(engine.name, settings, engine.version, f"daily-{split.table.name}", split.number, split.digest)
    found = cache.get(key)
    if found is None:
        seconds, predicted_rows, predicted = engine.predict(split)
        rows = predicted_rows if rows is None else rows
        if not np.isin(rows, predicted_rows).all():
            raise NotRun(f"{engine.settings} refuses rows of {split.table.name} that the defaults predict")
        refused = np.setdiff1d(np.arange(len(split.t_test)), predicted_rows)
        found = {f"refused_{row}": float(row in refused) for row in range(len(split.t_test))}
        found |= {"seconds": seconds, "refused": len(refused) / len(split.t_test)}
        found |= _figures(_taken(predicted, np.searchsorted(predicted_rows, rows)), split, rows)
        cache.put(key, found)
        print(f"[{engine.name}, {engine.settings}: {split.table.name}, {split.number}]", file=sys.stderr, flush=True)
    return found


def _taken(predicted: PredictedNumbers | PredictedClasses, rows: Indices) -> PredictedNumbers | PredictedClasses:
    if isinstance(predicted, PredictedClasses):
        return PredictedClasses(predicted.probabilities[rows], predicted.labels[rows])
    distribution = predicted.distribution
    assert distribution is not None
    taken = {name: values[rows] for name, values in vars(distribution).items()}
    return PredictedNumbers(predicted.mean[rows], replace(distribution, **taken))


def _figures(predicted: PredictedNumbers | PredictedClasses, split: DailySplit, rows: Indices) -> Figures:
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
