"""A support vector machine as a user would tune it: standardised, C and gamma by 5-fold cross-validation."""

from time import perf_counter

import numpy as np

from benchmarks.files import Split
from benchmarks.learning import Scaled
from benchmarks.repeats import Figures
from relevance_bayes.core.types import Array

COSTS = tuple(2.0**power for power in range(-1, 11, 2))
GAMMAS = tuple(2.0**power for power in range(-9, 2, 2))
EPSILON = 0.1
FOLDS = 5
GRID = {"C": COSTS, "gamma": GAMMAS}


def support_regression(split: Split) -> Figures:
    """SVR on standardised targets: RMSE in the targets' units; it gives no distribution."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVR

    inputs, target = Scaled.of(split.X), Scaled.of(split.t)
    start = perf_counter()
    best = GridSearchCV(SVR(epsilon=EPSILON), GRID, cv=_folds(), scoring="neg_mean_squared_error")
    best.fit(inputs(split.X), target(split.t))
    seconds = perf_counter() - start
    mean: Array = target.shift + target.scale * np.asarray(best.predict(inputs(split.X_test)), np.float64)
    rmse = float(np.sqrt(np.mean((mean - split.t_test) ** 2)))
    return {"rmse": rmse, "vectors": float(len(best.best_estimator_.support_)), "seconds": seconds}


def support_classification(split: Split) -> Figures:
    """SVC, error by its sign; log loss by Platt's sigmoid, fitted to 5-fold predictions of the best."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    inputs = Scaled.of(split.X)
    X, X_test = inputs(split.X), inputs(split.X_test)
    start = perf_counter()
    best = GridSearchCV(SVC(), GRID, cv=FOLDS).fit(X, split.t)
    platt = CalibratedClassifierCV(SVC(**best.best_params_), cv=FOLDS, ensemble=False).fit(X, split.t)
    seconds = perf_counter() - start
    wrong = np.asarray(best.predict(X_test), np.float64) != split.t_test
    chosen: Array = np.asarray(platt.predict_proba(X_test), np.float64)[
        np.arange(len(X_test)), split.t_test.astype(int)
    ]
    return {
        "error": float(wrong.mean()),
        "log_loss": -float(np.log(np.maximum(chosen, np.finfo(float).tiny)).mean()),
        "vectors": float(len(best.best_estimator_.support_)),
        "seconds": seconds,
    }


def _folds() -> object:
    from sklearn.model_selection import KFold

    return KFold(FOLDS, shuffle=True, random_state=0)
