"""Peers that predict classes, each as its user would run it: standardised inputs."""

import warnings
from functools import partial
from time import process_time

import numpy as np

from benchmarks.accuracy.cases import some_rows
from benchmarks.accuracy.measuring import SKLEARN, Engine
from benchmarks.accuracy.scoring import Classifier, PredictedClasses, class_figures
from benchmarks.files import Split
from benchmarks.learning import Scaled
from benchmarks.support_vectors import FOLDS, GRID
from relevance_bayes.core.types import Array

PROCESS_ROWS = 1_000

MAX_LENGTHS = 10
"""A length for each of more inputs takes scikit-learn's process many minutes; then it has one for all."""


def support_engine() -> Engine:
    """libsvm's classes; C and gamma by cross-validation, probabilities by Platt's sigmoid on left-out predictions."""
    return Engine("SVC + Platt", partial(class_figures, support), SKLEARN, f"{FOLDS} folds, {GRID}")


def process_engine() -> Engine:
    """Laplace's approximation of a Gaussian process with a length for each input, where they are few."""
    return Engine(
        "GP classifier", partial(class_figures, _process), SKLEARN, f"ARD to {MAX_LENGTHS} inputs, {PROCESS_ROWS} rows"
    )


def support(split: Split) -> Classifier:
    """Labels by the machine's own sign, as its user would take them."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    inputs = Scaled.of(split.X)
    X = inputs(split.X)
    start = process_time()
    best = GridSearchCV(SVC(), GRID, cv=FOLDS).fit(X, split.t)
    platt = CalibratedClassifierCV(SVC(**best.best_params_), cv=FOLDS, ensemble=False).fit(X, split.t)
    seconds = process_time() - start

    def predicted(at: Array) -> PredictedClasses:
        probabilities, labels = platt.predict_proba(inputs(at)), best.predict(inputs(at))
        return PredictedClasses(np.asarray(probabilities, np.float64), np.asarray(labels, np.float64))

    return Classifier(len(best.best_estimator_.support_), len(split.t), seconds, predicted)


def _process(split: Split) -> Classifier:
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    some = some_rows(split, PROCESS_ROWS, 0)
    inputs = Scaled.of(some.X)
    lengths = some.X.shape[1] if some.X.shape[1] <= MAX_LENGTHS else 1
    kernel = ConstantKernel() * RBF(np.ones(lengths))
    start = process_time()
    model = GaussianProcessClassifier(kernel, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(inputs(some.X), some.t)
    seconds = process_time() - start

    def predicted(at: Array) -> PredictedClasses:
        probabilities: Array = np.asarray(model.predict_proba(inputs(at)), np.float64)
        return PredictedClasses(probabilities, probabilities.argmax(axis=1).astype(np.float64))

    return Classifier(len(some.t), len(some.t), seconds, predicted)
