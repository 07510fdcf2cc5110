"""Our defaults as the service makes them: what a job gets that names only its data and its target."""

from dataclasses import dataclass
from functools import partial
from time import process_time
from uuid import UUID

import numpy as np

from app.domain.planning.choices import chosen_spec, rivals
from app.domain.requests import PriorChoice, SupervisedRequest, Task
from app.domain.tables import ColumnSummary
from app.sparse_bayes.errors import SparseBayesError
from app.sparse_bayes.likelihoods import GaussianNoise, LogGaussian, StudentT
from app.sparse_bayes.model import Model
from app.sparse_bayes.prediction import ClassPrediction, NumberPrediction, predict
from app.sparse_bayes.selection import Rows, Trained, train
from app.sparse_bayes.spec import Spec
from app.sparse_bayes.types import Array
from benchmarks.accuracy.scoring import ClassAnswer, Classifier, Distribution, RealAnswer, Regressor
from benchmarks.files import NotRun, Split
from benchmarks.learning import Scaled


@dataclass(frozen=True, eq=False)
class Learned:
    """The model, in the units of inputs and target as they were encoded."""

    model: Model
    inputs: Scaled
    target: Scaled


def learned(split: Split, task: Task, prior: PriorChoice | None = None) -> Learned:
    """The one place that chooses and trains: all as the service does it, or another prior and what goes with it."""
    request = SupervisedRequest(dataset_id=UUID(int=0), target="t", prior=prior)
    classes = len(np.unique(split.t)) if task == "classification" else 0
    spec, rows = chosen_spec(request, task, classes=classes, inputs=()), len(split.t)
    least, most = float(split.t.min()), float(split.t.max())
    beside = rivals(request, spec, rows=rows, target=ColumnSummary("t", "number", 0, minimum=least, maximum=most))
    inputs, target = Scaled.of(split.X), _encoded(split.t, spec, *beside)
    *_, last = train(Rows(inputs(split.X), target(split.t)), spec, rivals=beside)
    assert isinstance(last, Trained)
    return Learned(last.model, inputs, target)


def _encoded(t: Array, *specs: Spec) -> Scaled:
    """Numbers that may be shifted are standardised, positive ones scaled, classes and counts left as they are."""
    if any(isinstance(spec.likelihood, LogGaussian) for spec in specs):
        return Scaled(np.zeros(()), np.exp(np.log(t).mean()))
    if isinstance(specs[0].likelihood, GaussianNoise | StudentT):
        return Scaled.of(t)
    return Scaled(np.zeros(()), np.ones(()))


def regressor(split: Split, prior: PriorChoice | None = None) -> Regressor:
    """Defaults, or another prior and what goes with it."""
    start = process_time()
    found = learned(split, "regression", prior)
    seconds = process_time() - start
    return Regressor(len(found.model.mean), len(split.t), seconds, partial(_real_answer, found))


def classifier(split: Split, prior: PriorChoice | None = None) -> Classifier:
    """Defaults, or another prior and what goes with it; raises NotRun where the core refuses the classes."""
    start = process_time()
    try:
        found = learned(split, "classification", prior)
    except SparseBayesError as refused:
        raise NotRun(f"the core refuses: {refused}") from refused
    seconds = process_time() - start
    return Classifier(len(found.model.mean), len(split.t), seconds, partial(_class_answer, found))


def _real_answer(found: Learned, X: Array, t: Array) -> RealAnswer:
    target = found.target
    prediction = predict(found.model, found.inputs(X))
    assert isinstance(prediction, NumberPrediction)
    scale = float(target.scale)
    lower, mean, upper = (
        target.shift + scale * values
        for values in (prediction.quantile(0.025), prediction.mean, prediction.quantile(0.975))
    )
    told = Distribution(
        scale * np.sqrt(prediction.variance), lower, upper, prediction.log_density(target(t)) - np.log(scale)
    )
    return RealAnswer(mean, told)


def _class_answer(found: Learned, X: Array) -> ClassAnswer:
    prediction = predict(found.model, found.inputs(X))
    assert isinstance(prediction, ClassPrediction)
    probabilities = prediction.probabilities
    return ClassAnswer(probabilities, probabilities.argmax(axis=1).astype(np.float64))
