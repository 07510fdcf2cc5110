"""Ours on daily tables: a job that names data and target, on columns as an upload reads them."""

from dataclasses import replace
from time import process_time

import numpy as np

from app.errors import TrainingFailedError
from benchmarks.accuracy.scoring import PredictedClasses, PredictedNumbers
from benchmarks.daily.splits import DailySplit
from benchmarks.files import NotRun
from benchmarks.fitting import NO_DATASET, fitted
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.types import Indices
from relevance_bayes.plans.requests import SupervisedRequest
from relevance_bayes.tables.columns import taken
from relevance_bayes.tables.encoding import encode_inputs
from relevance_bayes.types.errors import InvalidRequestError

DEFAULTS = SupervisedRequest(NO_DATASET, "")


def predictions(
    split: DailySplit, request: SupervisedRequest = DEFAULTS
) -> tuple[float, Indices, PredictedNumbers | PredictedClasses]:
    """The CPU seconds, the rows without a fault, and their predictions; raises NotRun where the job is refused."""
    start = process_time()
    try:
        found = fitted(split.learned, replace(request, target=split.table.target))
    except (InvalidRequestError, SparseBayesError, TrainingFailedError) as refused:
        raise NotRun(f"{split.table.name} is refused: {refused}") from refused
    seconds = process_time() - start
    _, faults = encode_inputs(found.encoding, split.measured)
    refused_rows = {fault.row for fault in faults}
    predicted_rows = np.array([row for row in range(len(split.t_test)) if row not in refused_rows], np.intp)
    rows = {name: taken(column, predicted_rows) for name, column in split.measured.items()}
    predicted = (
        found.predicted_classes(rows) if split.classes else found.predicted_numbers(rows, split.t_test[predicted_rows])
    )
    return seconds, predicted_rows, predicted
