"""Our defaults on typed columns by the service's own plan, encoding and fit: a job that names data and target."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from uuid import UUID

import numpy as np

from app.domain.datasets import Dataset
from app.domain.encoding import Encoding, encode_inputs, user_mean
from app.domain.errors import InvalidRequestError, TrainingFailedError
from app.domain.planning.supervised import plan_supervised
from app.domain.requests import SupervisedRequest
from app.domain.statistics import TableStatistics
from app.domain.tables import Block, CategoryColumn, Column, ColumnKind, NumberColumn
from app.settings import Settings
from app.sparse_bayes.errors import SparseBayesError
from app.sparse_bayes.pool import LearnedModel, n_functions, ready_of
from app.sparse_bayes.prediction import ClassPrediction, NumberPrediction
from app.sparse_bayes.selection import Trained, train
from app.sparse_bayes.types import Array, Indices
from app.worker.child.limits import Limits
from app.worker.child.tasks import results
from app.worker.fits.supervised import SupervisedFit
from benchmarks.accuracy.scoring import ClassAnswer, Distribution, RealAnswer
from benchmarks.files import NotRun
from benchmarks.tables.outcomes import Outcome
from benchmarks.tables.splits import TableSplit
from benchmarks.tables.table import DataTable

TARGET = "target"

NOBODY = UUID(int=0)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The model of a job and the encoding of its columns."""

    model: LearnedModel
    encoding: Encoding


def defaults(split: TableSplit) -> Outcome:
    """Fit the defaults and predict; raises NotRun where service or core refuse the rows."""
    start = process_time()
    try:
        found = fitted(block(split.table, split.learned))
    except (InvalidRequestError, SparseBayesError, TrainingFailedError) as refused:
        raise NotRun(f"{split.table.name} is refused: {refused}") from refused
    seconds = process_time() - start
    X, faults = encode_inputs(found.encoding, block(split.table, split.measured))
    if faults:
        raise NotRun(f"{split.table.name}: {faults[0].detail}")
    prediction, _ = ready_of(found.model).predict(X)
    match prediction:
        case ClassPrediction(probabilities=probabilities):
            labels = probabilities.argmax(axis=1).astype(np.float64)
            return Outcome(seconds, n_functions(found.model), ClassAnswer(probabilities, labels))
        case NumberPrediction():
            answer = _distribution(prediction, found.encoding, split.t_test)
            return Outcome(seconds, n_functions(found.model), answer)
    raise TypeError(f"expected numbers or classes, got {type(prediction).__name__}")


def fitted(rows: Block) -> Fitted:
    """Plan and fit a job whose dataset has these rows, as a worker does it."""
    plan = plan_supervised(SupervisedRequest(NOBODY, TARGET), _dataset(rows))
    settings = {name: Settings.model_fields[name].default for name in ("max_training_cells", "max_candidate_cells")}
    with TemporaryDirectory() as folder:
        fit = SupervisedFit.prepare(
            plan, _dataset(rows), lambda: iter([(0, rows)]), Path(folder), most_cells=settings["max_training_cells"]
        )
        *_, last = results(fit.task, train, Limits(1, None, settings["max_candidate_cells"]))
    if not isinstance(last, Trained):
        raise TypeError(f"expected a trained model, got {type(last).__name__}")
    return Fitted(last.learned, fit.made.encoding)


def block(table: DataTable, rows: Indices) -> Block:
    """Some rows of a table as an upload holds them, the target among them."""
    columns: dict[str, Column] = {}
    for column in table.columns:
        columns[column.name] = _column(column.values[rows], column.labels)
    columns[TARGET] = _column(table.t[rows], table.classes)
    return columns


def _column(values: Array, labels: tuple[str, ...]) -> Column:
    return CategoryColumn(values.astype(np.int32), labels) if labels else NumberColumn(values)


def _dataset(rows: Mapping[str, Column]) -> Dataset:
    kinds: list[ColumnKind] = [
        "category" if isinstance(column, CategoryColumn) else "number" for column in rows.values()
    ]
    statistics = TableStatistics(list(rows), kinds)
    statistics.add(rows)
    moment = datetime(2000, 1, 1, tzinfo=UTC)
    digest, columns = statistics.digest(), statistics.summaries()
    return Dataset(NOBODY, "nobody", "table", moment, statistics.rows, digest, columns)


def _distribution(prediction: NumberPrediction, encoding: Encoding, t: Array) -> RealAnswer:
    """The predictive distribution in the target's units."""
    target = encoding.target
    lower, mean, upper = (
        user_mean(target, values)
        for values in (prediction.quantile(0.025), prediction.mean, prediction.quantile(0.975))
    )
    log_density = prediction.log_density((t - target.shift) / target.scale) - np.log(target.scale)
    return RealAnswer(mean, Distribution(target.scale * np.sqrt(prediction.variance), lower, upper, log_density))
