"""Peers that predict numbers, each as its user would run it: standardised inputs and targets."""

import warnings
from functools import partial
from time import process_time

import numpy as np

from benchmarks.accuracy.cases import some_rows
from benchmarks.accuracy.measuring import FASTRVM, SKLEARN, Engine
from benchmarks.accuracy.scoring import PredictedNumbers, Regressor, gaussian, real_figures
from benchmarks.files import NotRun, Split
from benchmarks.learning import Scaled
from benchmarks.support_vectors import EPSILON, FOLDS, GRID
from relevance_bayes.core.types import Array

RVM_GAMMAS = tuple(2.0**power for power in range(-10, 4))
"""A coarser grid is not fair to it: by steps of 4, Friedman 1 comes to 4.2 instead of 3.4."""

MANY_ROWS = 600
"""Above so many rows a Gaussian process starts once less."""


def process_engine(rows: int, restarts: int) -> Engine:
    """An exact Gaussian process with a length for each input, on at most `rows` rows."""
    learn = partial(exact_process, rows, restarts)
    return Engine("GP", partial(real_figures, learn), SKLEARN, f"ARD, {rows} rows, {restarts} restarts")


def long_process_engine(rows: int, restarts: int, *, length: float) -> Engine:
    """The same whose first start has longer lengths: of 1 each, rows of many inputs are strangers to each other."""
    learn = partial(exact_process, rows, restarts, length=length)
    settings = f"ARD, {rows} rows, {restarts} restarts, length {length:g}"
    return Engine(f"GP, lengths from {length:g}", partial(real_figures, learn), SKLEARN, settings)


def rvm_engine(rows: int = 2_000, searched: int = 500) -> Engine:
    """fastrvm on at most `rows` rows, one width by cross-validation on at most `searched`."""
    settings = f"{len(RVM_GAMMAS)} gammas, {FOLDS} folds of {searched} rows, {rows} rows"
    return Engine("fastrvm", partial(real_figures, partial(_rvm, rows, searched)), FASTRVM, settings)


def support_engine() -> Engine:
    """libsvm's regression, C and gamma by cross-validation."""
    return Engine("SVR", partial(real_figures, support), SKLEARN, f"epsilon {EPSILON}, {FOLDS} folds, {GRID}")


def exact_process(rows: int, restarts: int, split: Split, *, length: float = 1.0) -> Regressor:
    """On at most so many rows, from so many starts more than one; the first has `length` for each input."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    some = some_rows(split, rows, 0)
    inputs = Scaled.of(some.X)
    kernel = ConstantKernel() * RBF(np.full(some.X.shape[1], length)) + WhiteKernel()
    starts = max(0, restarts - (len(some.t) > MANY_ROWS))
    start = process_time()
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=starts, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(inputs(some.X), some.t)
    seconds = process_time() - start

    def predicted(X: Array, t: Array) -> PredictedNumbers:
        mean, sd = model.predict(inputs(X), return_std=True)
        return gaussian(np.asarray(mean, np.float64), np.asarray(sd, np.float64), t)

    return Regressor(len(some.t), len(some.t), seconds, predicted)


def _rvm(rows: int, searched: int, split: Split) -> Regressor:
    from fastrvm import RVR
    from sklearn.model_selection import GridSearchCV

    some = some_rows(split, rows, 0)
    fewer = some_rows(split, searched, 0)
    inputs, target = Scaled.of(some.X), Scaled.of(some.t)
    start = process_time()
    search = GridSearchCV(RVR(fit_intercept=True), {"gamma": RVM_GAMMAS}, cv=_folds())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search.fit(inputs(fewer.X), target(fewer.t))
        model = RVR(fit_intercept=True, gamma=search.best_params_["gamma"]).fit(inputs(some.X), target(some.t))
    except (RuntimeError, ValueError) as failed:
        raise NotRun(f"fastrvm failed: {failed}") from failed
    seconds = process_time() - start
    scale = float(target.scale)

    def predicted(X: Array, t: Array) -> PredictedNumbers:
        mean, sd = (np.asarray(moments, np.float64) for moments in model.predict(inputs(X), return_std=True))
        return gaussian(target.shift + scale * mean, scale * sd, t)

    return Regressor(int(model.n_relevance_), len(some.t), seconds, predicted)


def support(split: Split) -> Regressor:
    """C and gamma by 5-fold cross-validation."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVR

    inputs, target = Scaled.of(split.X), Scaled.of(split.t)
    start = process_time()
    search = GridSearchCV(SVR(epsilon=EPSILON), GRID, cv=_folds(), scoring="neg_mean_squared_error")
    search.fit(inputs(split.X), target(split.t))
    seconds = process_time() - start

    def predicted(X: Array, t: Array) -> PredictedNumbers:
        return PredictedNumbers(target.shift + target.scale * np.asarray(search.predict(inputs(X)), np.float64))

    return Regressor(len(search.best_estimator_.support_), len(split.t), seconds, predicted)


def _folds() -> object:
    from sklearn.model_selection import KFold

    return KFold(FOLDS, shuffle=True, random_state=0)
