"""scikit-learn's Gaussian process and support vectors on the demo's rows, each searched as its users do."""

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
    """The `mean` told for each place (M,), its `sd` where there is one, functions kept, and seconds with any search."""

    name: str
    mean: Array
    sd: Array | None
    functions: int
    seconds: float


def gaussian_process(X: Array, t: Array, places: Array) -> Peer:
    """An exact process with a length for each input, from the best of three starts."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    start = perf_counter()
    kernel = ConstantKernel() * RBF(np.ones(X.shape[1])) + WhiteKernel()
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=RESTARTS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lengths at the ends of where it searches
        model.fit((X - X.mean(axis=0)) / X.std(axis=0), t)
    seconds = perf_counter() - start
    mean, sd = model.predict((places - X.mean(axis=0)) / X.std(axis=0), return_std=True)
    return Peer("Gaussian process", np.asarray(mean, np.float64), np.asarray(sd, np.float64), len(t), seconds)


def support_vectors(X: Array, t: Array, places: Array) -> Peer:
    """C and gamma by 5-fold cross-validation; it tells no distribution."""
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
