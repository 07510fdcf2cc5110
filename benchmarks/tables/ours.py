"""Our defaults on typed columns by the service's own plan, encoding and fit: a job that names data and target."""

import hashlib
from functools import cache
from pathlib import Path
from time import process_time

import numpy as np

from app.errors import TrainingFailedError
from benchmarks.files import NotRun
from benchmarks.fitting import NO_DATASET, fitted
from benchmarks.tables.outcomes import Outcome
from benchmarks.tables.splits import TableSplit
from benchmarks.tables.table import DataTable
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.models.pool import n_functions
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.tables.columns import Block, CategoryArray, Column, NumberArray
from relevance_bayes.tasks.supervised.request import SupervisedRequest

TARGET = "target"

ROOT = Path(__file__).parents[2]

CODE = (
    "library/relevance_bayes/core",
    "library/relevance_bayes/tables",
    "library/relevance_bayes/tasks",
    "app/tasks",
    "app/jobs/worker",
    "benchmarks/fitting.py",
    "benchmarks/tables/ours.py",
)
"""Files and folders that decide what is learned and predicted."""


@cache
def code_digest() -> str:
    """Return twelve letters that stand for every line of the code that learns and predicts."""
    summed = hashlib.sha256()
    for name in CODE:
        for file in sorted((ROOT / name).rglob("*.py")) or [ROOT / name]:
            summed.update(file.read_bytes())
    return summed.hexdigest()[:12]


def defaults(split: TableSplit) -> Outcome:
    """Fit the defaults and predict; raises NotRun where service or core refuse the rows."""
    start = process_time()
    try:
        found = fitted(block(split.table, split.learned), SupervisedRequest(NO_DATASET, TARGET))
    except (InvalidRequestError, SparseBayesError, TrainingFailedError) as refused:
        raise NotRun(f"{split.table.name} is refused: {refused}") from refused
    seconds, measured = process_time() - start, block(split.table, split.measured)
    predicted = (
        found.predicted_classes(measured) if split.table.classes else found.predicted_numbers(measured, split.t_test)
    )
    return Outcome(seconds, n_functions(found.model), predicted, dict(found.validation))


def block(table: DataTable, rows: Indices) -> Block:
    """Some rows of a table as an upload holds them, the target among them."""
    columns: dict[str, Column] = {}
    for column in table.columns:
        columns[column.name] = _column(column.values[rows], column.labels)
    columns[TARGET] = _column(table.t[rows], table.classes)
    return columns


def _column(values: Array, labels: tuple[str, ...]) -> Column:
    return CategoryArray(values.astype(np.int32), labels) if labels else NumberArray(values)
