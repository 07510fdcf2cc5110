"""Peers of scikit-learn, each as its user would run it."""

import warnings
from time import process_time

import numpy as np

from benchmarks.accuracy import class_peers, real_peers
from benchmarks.accuracy.scoring import Classifier, PredictedClasses, PredictedNumbers, Regressor, gaussian
from benchmarks.files import Split
from benchmarks.learning import Scaled
from benchmarks.support_vectors import FOLDS
from benchmarks.tables.outcomes import Outcome
from benchmarks.tables.splits import MAX_TRAINING_ROWS, TableSplit
from relevance_bayes.core.types import Array

MAX_LENGTH_SCALES = 30
"""An exact process on more columns has one length scale for all: the gradient takes N x N numbers for each."""

PROCESS_RESTARTS = 1

TREES = {"learning_rate": (0.03, 0.1), "max_leaf_nodes": (7, 31)}
"""The search of histogram gradient boosting, by cross-validation."""

RIDGE_STRENGTHS = tuple(10.0**power for power in range(-4, 5))
"""C of logistic regression, by cross-validation."""


def exact_process(split: TableSplit) -> Outcome:
    """An exact Gaussian process whose first start has a length scale of sqrt(d) for each of d columns."""
    rows = split.numbers()
    columns = rows.X.shape[1]
    learn = real_peers.exact_process if columns <= MAX_LENGTH_SCALES else _one_length
    return _real(learn(MAX_TRAINING_ROWS, PROCESS_RESTARTS, rows, length=columns**0.5), rows)


def support_vectors(split: TableSplit) -> Outcome:
    """libsvm with C and gamma by cross-validation; classes by Platt's sigmoid."""
    rows = split.numbers()
    if split.table.task == "regression":
        return _real(real_peers.support(rows), rows)
    return _classes(class_peers.support(rows), rows)


def linear(split: TableSplit) -> Outcome:
    """Ridge regression with the penalty of the greatest evidence, or logistic regression by cross-validation."""
    rows = split.numbers()
    return _ridge(rows) if split.table.task == "regression" else _logistic(rows)


def trees(split: TableSplit) -> Outcome:
    """Histogram gradient boosting on codes of categories, with a small search."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.model_selection import GridSearchCV

    rows, categories = split.codes(), split.table.is_category
    regression = split.table.task == "regression"
    model = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    scoring = "neg_mean_squared_error" if regression else "neg_log_loss"
    start = process_time()
    search = GridSearchCV(model(categorical_features=categories, random_state=0), TREES, cv=FOLDS, scoring=scoring)
    search.fit(rows.X, rows.t)
    seconds = process_time() - start
    if regression:
        return Outcome(seconds, 0, PredictedNumbers(np.asarray(search.predict(rows.X_test), np.float64)))
    return Outcome(seconds, 0, predicted_classes(np.asarray(search.predict_proba(rows.X_test), np.float64)))


def predicted_classes(probabilities: Array) -> PredictedClasses:
    """The most probable class of each row."""
    return PredictedClasses(probabilities, probabilities.argmax(axis=1).astype(np.float64))


def _ridge(rows: Split) -> Outcome:
    from sklearn.linear_model import BayesianRidge

    inputs = Scaled.of(rows.X)
    start = process_time()
    model = BayesianRidge().fit(inputs(rows.X), rows.t)
    seconds = process_time() - start
    mean, sd = (np.asarray(values, np.float64) for values in model.predict(inputs(rows.X_test), return_std=True))
    return Outcome(seconds, rows.X.shape[1] + 1, gaussian(mean, sd, rows.t_test))


def _logistic(rows: Split) -> Outcome:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    inputs = Scaled.of(rows.X)
    start = process_time()
    search = GridSearchCV(LogisticRegression(max_iter=2_000), {"C": RIDGE_STRENGTHS}, cv=FOLDS, scoring="neg_log_loss")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(inputs(rows.X), rows.t)
    seconds = process_time() - start
    probabilities: Array = np.asarray(search.predict_proba(inputs(rows.X_test)), np.float64)
    return Outcome(seconds, rows.X.shape[1] + 1, predicted_classes(probabilities))


def _one_length(rows: int, restarts: int, split: Split, *, length: float) -> Regressor:
    """The exact process with one length scale for all columns."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    inputs = Scaled.of(split.X)
    kernel = ConstantKernel() * RBF(length) + WhiteKernel()
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=restarts, random_state=0)
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(inputs(split.X[:rows]), split.t[:rows])
    seconds = process_time() - start

    def predicted(X: Array, t: Array) -> PredictedNumbers:
        mean, sd = (np.asarray(values, np.float64) for values in model.predict(inputs(X), return_std=True))
        return gaussian(mean, sd, t)

    return Regressor(len(split.t), len(split.t), seconds, predicted)


def _real(learned: Regressor, rows: Split) -> Outcome:
    return Outcome(learned.seconds, learned.functions, learned.predict(rows.X_test, rows.t_test))


def _classes(learned: Classifier, rows: Split) -> Outcome:
    return Outcome(learned.seconds, learned.functions, learned.predict(rows.X_test))
