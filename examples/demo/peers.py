"""scikit-learn's Gaussian process and support vectors on the demo's rows, with usual searches of their parameters."""

import warnings
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from examples.demo.truth import Array

COSTS = tuple(2.0**power for power in range(-1, 11, 2))
GAMMAS = tuple(2.0**power for power in range(-9, 2, 2))
RESTARTS = 2


@dataclass(frozen=True, eq=False)
class Peer:
    """Predictions at places: `mean` (M,), `sd` (M,) if any; functions kept, and seconds including the search."""

    name: str
    mean: Array
    sd: Array | None
    functions: int
    seconds: float


def gaussian_process(X: Array, t: Array, places: Array) -> Peer:
    """Return the predictions of an exact process with a length scale for each input, the best of three starts."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    start = perf_counter()
    kernel = ConstantKernel() * RBF(np.ones(X.shape[1])) + WhiteKernel()
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=RESTARTS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of length scales at their bounds
        model.fit((X - X.mean(axis=0)) / X.std(axis=0), t)
    seconds = perf_counter() - start
    mean, sd = model.predict((places - X.mean(axis=0)) / X.std(axis=0), return_std=True)
    return Peer("Gaussian process", np.asarray(mean, np.float64), np.asarray(sd, np.float64), len(t), seconds)


def support_vectors(X: Array, t: Array, places: Array) -> Peer:
    """Return the predictions of an SVR, without sd; C and gamma are selected by 5-fold cross-validation."""
    from sklearn.model_selection import GridSearchCV, KFold
    from sklearn.svm import SVR

    start = perf_counter()
    folds = KFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(SVR(), {"C": COSTS, "gamma": GAMMAS}, cv=folds, scoring="neg_mean_squared_error")
    search.fit((X - X.mean(axis=0)) / X.std(axis=0), (t - t.mean()) / t.std())
    seconds = perf_counter() - start
    reported = search.predict((places - X.mean(axis=0)) / X.std(axis=0))
    mean = np.asarray(t.mean() + t.std() * reported, np.float64)
    return Peer("support vectors", mean, None, len(search.best_estimator_.support_), seconds)
