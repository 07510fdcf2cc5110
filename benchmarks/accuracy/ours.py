"""The fit of a job that specifies only its data and its target."""

from functools import partial
from time import process_time

import numpy as np

from app.errors import TrainingFailedError
from benchmarks.accuracy.scoring import Classifier, PredictedClasses, PredictedNumbers, Regressor
from benchmarks.files import NotRun, Split
from benchmarks.fitting import NO_DATASET, Fitted, fitted
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.models.model import TargetLikelihood
from relevance_bayes.core.models.pool import n_functions
from relevance_bayes.core.types import Array
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.values import Task
from relevance_bayes.tables.columns import CategoryArray, Column, NumberArray
from relevance_bayes.tasks.supervised.request import PriorChoice, SupervisedRequest, named_likelihood

TARGET = "t"


def learned(
    split: Split, task: Task, prior: PriorChoice | None = None, *, likelihood: TargetLikelihood | None = None
) -> Fitted:
    """Plan and fit with the defaults, or with another likelihood, or another prior and what goes with it."""
    request = SupervisedRequest(
        NO_DATASET,
        TARGET,
        task=task,
        prior=prior,
        likelihood=None if likelihood is None else named_likelihood(likelihood),
    )
    return fitted({**inputs(split.X), TARGET: _target(split.t, task)}, request)


def inputs(X: Array) -> dict[str, Column]:
    """Return the columns of X (N, d) as an upload holds them."""
    return {f"x{number}": NumberArray(column) for number, column in enumerate(X.T, 1)}


def _target(t: Array, task: Task) -> Column:
    """Return numbers, or the classes 0.0, 1.0, ... by labels in this order."""
    if task == "regression":
        return NumberArray(t)
    labels = tuple(f"{number:03d}" for number in range(int(t.max()) + 1))
    return CategoryArray(t.astype(np.int32), labels)


def regressor(split: Split, prior: PriorChoice | None = None) -> Regressor:
    """Fit with the defaults, or with another prior and what goes with it."""
    start = process_time()
    found = learned(split, "regression", prior)
    seconds = process_time() - start
    return Regressor(n_functions(found.model), len(split.t), seconds, partial(_predicted_numbers, found))


def classifier(split: Split, prior: PriorChoice | None = None) -> Classifier:
    """Fit with the defaults, or with another prior and what goes with it; raises NotRun where these are refused."""
    start = process_time()
    try:
        found = learned(split, "classification", prior)
    except (InvalidRequestError, SparseBayesError, TrainingFailedError) as refused:
        raise NotRun(f"the training is refused: {refused}") from refused
    seconds = process_time() - start
    return Classifier(n_functions(found.model), len(split.t), seconds, partial(_predicted_classes, found))


def _predicted_numbers(found: Fitted, X: Array, t: Array) -> PredictedNumbers:
    return found.predicted_numbers(inputs(X), t)


def _predicted_classes(found: Fitted, X: Array) -> PredictedClasses:
    return found.predicted_classes(inputs(X))
