"""Our defaults as the service makes them: what a job gets that names only its data and its target."""

from time import process_time
from uuid import UUID

import numpy as np

from app.domain.planning.choices import chosen_spec
from app.domain.requests import Task, TrainingRequest
from app.sparse_bayes.errors import SparseBayesError
from app.sparse_bayes.model import Model
from app.sparse_bayes.prediction import ClassPrediction, NumberPrediction, predict
from app.sparse_bayes.priors import Prior
from app.sparse_bayes.selection import Rows, Trained, train
from app.sparse_bayes.types import Array
from benchmarks.accuracy.scoring import ClassAnswer, Classifier, Distribution, RealAnswer, Regressor
from benchmarks.files import NotRun, Split
from benchmarks.learning import Scaled


def learned(X: Array, t: Array, task: Task, prior: Prior | None = None) -> Trained:
    """The one place that trains: standardised X (N, d) and t (N,), all else as the service chooses it."""
    asked = TrainingRequest(dataset_id=UUID(int=0), target="t", prior=prior)
    *_, last = train(Rows(X, t), chosen_spec(asked, task))
    assert isinstance(last, Trained)
    return last


def regressor(split: Split, prior: Prior | None = None) -> Regressor:
    """Defaults, or another prior and what goes with it."""
    inputs, target = Scaled.of(split.X), Scaled.of(split.t)
    start = process_time()
    model = learned(inputs(split.X), target(split.t), "regression", prior).model
    seconds = process_time() - start
    return Regressor(
        len(model.mean), len(split.t), seconds, lambda X, t: _real_answer(model, inputs(X), target(t), target)
    )


def classifier(split: Split, prior: Prior | None = None) -> Classifier:
    """Defaults, or another prior and what goes with it; raises NotRun where the core refuses the classes."""
    inputs = Scaled.of(split.X)
    start = process_time()
    try:
        model = learned(inputs(split.X), split.t, "classification", prior).model
    except SparseBayesError as refused:
        raise NotRun(f"the core refuses: {refused}") from refused
    seconds = process_time() - start
    return Classifier(len(model.mean), len(split.t), seconds, lambda X: _class_answer(model, inputs(X)))


def _real_answer(model: Model, X: Array, t: Array, target: Scaled) -> RealAnswer:
    prediction = predict(model, X)
    assert isinstance(prediction, NumberPrediction)
    scale = float(target.scale)
    lower, mean, upper = (
        target.shift + scale * values
        for values in (prediction.quantile(0.025), prediction.mean, prediction.quantile(0.975))
    )
    told = Distribution(scale * np.sqrt(prediction.variance), lower, upper, prediction.log_density(t) - np.log(scale))
    return RealAnswer(mean, told)


def _class_answer(model: Model, X: Array) -> ClassAnswer:
    prediction = predict(model, X)
    assert isinstance(prediction, ClassPrediction)
    probabilities = prediction.probabilities
    return ClassAnswer(probabilities, probabilities.argmax(axis=1).astype(np.float64))
