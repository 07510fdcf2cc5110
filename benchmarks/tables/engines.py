"""The engines that are compared, ours among them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

from benchmarks.support_vectors import EPSILON, FOLDS, GRID
from benchmarks.tables import peers
from benchmarks.tables.boosting import boosted, locked_version
from benchmarks.tables.catalogue import Task
from benchmarks.tables.ours import code_digest, defaults
from benchmarks.tables.outcomes import Outcome
from benchmarks.tables.splits import MAX_TRAINING_ROWS, TableSplit

OURS = "ours"
PROCESS = "GP"
LOGISTIC = "logistic"


@dataclass(frozen=True)
class Engine:
    """One of `predict` (a split) and `predict_all` (the splits of a table) is given.

    Figures are kept by `settings` and `version`; the version of ours is a digest of the code that learns and predicts.
    """

    name: str
    predict: Callable[[TableSplit], Outcome] | None = None
    predict_all: Callable[[Sequence[TableSplit]], list[Outcome]] | None = None
    settings: str = ""
    version: str = ""

    def outcomes(self, splits: Sequence[TableSplit]) -> list[Outcome]:
        """The predictions of some splits of one table; raises NotRun."""
        if self.predict_all is not None:
            return self.predict_all(splits)
        assert self.predict is not None
        return [self.predict(split) for split in splits]


def engines(task: Task) -> tuple[Engine, ...]:
    """Ours and the peers of a task."""
    search = f"{FOLDS} folds, {GRID}"
    if task == "regression":
        lengths = (
            f"ARD to {peers.MAX_LENGTH_SCALES} columns, {MAX_TRAINING_ROWS} rows, {peers.PROCESS_RESTARTS} restart"
        )
        own: tuple[Engine, ...] = (
            _sklearn(PROCESS, peers.exact_process, lengths),
            _sklearn("SVR", peers.support_vectors, f"epsilon {EPSILON}, {search}"),
            _sklearn("ridge", peers.linear, "evidence"),
        )
    else:
        own = (
            _sklearn("SVC + Platt", peers.support_vectors, search),
            _sklearn(LOGISTIC, peers.linear, f"{FOLDS} folds, C {peers.RIDGE_STRENGTHS}"),
        )
    return (
        Engine(OURS, defaults, settings="defaults", version=code_digest()),
        *own,
        _sklearn("HistGB", peers.trees, f"{FOLDS} folds, {peers.TREES}"),
        *(_boosted(name, package) for name, package in (("LightGBM", "lightgbm"), ("CatBoost", "catboost"))),
    )


def _sklearn(name: str, predict: Callable[[TableSplit], Outcome], settings: str) -> Engine:
    return Engine(name, predict, settings=settings, version=version("scikit-learn"))


def _boosted(name: str, package: str) -> Engine:
    return Engine(name, predict_all=partial(boosted, package), settings="defaults", version=locked_version(package))
