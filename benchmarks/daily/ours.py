"""Ours on daily tables: a job that names data and target, on columns as an upload reads them."""

from collections.abc import Sequence
from dataclasses import fields, replace
from time import process_time

import numpy as np

from app.errors import TrainingFailedError
from benchmarks.accuracy.scoring import Distribution, PredictedClasses, PredictedNumbers
from benchmarks.daily.splits import DailySplit
from benchmarks.files import NotRun
from benchmarks.fitting import NO_DATASET, classes_of, fitted
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.models.pool import ready_of
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.tables.moments import histogram_of
from relevance_bayes.tasks.supervised.evaluation import TargetRows
from relevance_bayes.tasks.supervised.input_rows import InputDistribution
from relevance_bayes.tasks.supervised.request import SupervisedRequest

DEFAULTS = SupervisedRequest(NO_DATASET, "")


def predictions(
    split: DailySplit, request: SupervisedRequest = DEFAULTS
) -> tuple[float, Indices, PredictedNumbers | PredictedClasses]:
    """The CPU seconds, the rows without an error, and their predictions; raises NotRun where the job is refused."""
    start = process_time()
    try:
        found = fitted(split.learned, replace(request, target=split.table.target))
    except (InvalidRequestError, SparseBayesError, TrainingFailedError) as refused:
        raise NotRun(f"{split.table.name} is refused: {refused}") from refused
    seconds = process_time() - start
    histograms = [histogram_of(column.name, split.learned[column.name]) for column in found.encoding.inputs]
    distribution = InputDistribution(found.encoding, None, tuple(histograms))
    rows = TargetRows.of(found.encoding, distribution, split.measured)
    each = [
        (places, classes_of(prediction) if split.classes else found.numbers_of(prediction, split.t_test[places]))
        for places, prediction in rows.predictions(ready_of(found.model))
    ]
    places = np.concatenate([some for some, _ in each])
    order = np.argsort(places)
    return seconds, places[order], _joined([predicted for _, predicted in each], order)


def _joined(each: Sequence[PredictedNumbers | PredictedClasses], order: Indices) -> PredictedNumbers | PredictedClasses:
    """Predictions of some rows at a time as one, in another order (N,)."""

    def of(name: str, parts: Sequence[object]) -> Array:
        return np.asarray(np.concatenate([getattr(part, name) for part in parts])[order])

    if isinstance(each[0], PredictedClasses):
        return PredictedClasses(of("probabilities", each), of("labels", each))
    densities = [one.distribution for one in each if isinstance(one, PredictedNumbers)]
    names = [one.name for one in fields(Distribution)]
    return PredictedNumbers(of("mean", each), Distribution(**{name: of(name, densities) for name in names}))
