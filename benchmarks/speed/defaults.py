"""Trainings by defaults beside peers: Friedman's first function by rows, tables of many inputs, and of much noise.

Defaults are what a job gets that names only its data and its target.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.accuracy.measuring import SKLEARN
from benchmarks.accuracy.ours import regressor
from benchmarks.accuracy.real_peers import exact_process
from benchmarks.accuracy.scoring import Regressor
from benchmarks.files import Split
from benchmarks.generators import counts_split, friedman_split, mixed_split, spectra_split
from benchmarks.speed.racing import Entrant, Fitted, Race, mean_square, rmse
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.supervised.request import AutomaticPrior, PriorChoice

PROCESS_ROWS = 1_000

CANDIDATES = 20
FOLDS = 5
MAX_TREES = 1_000


def drawn(rows: int, draw: int) -> Split:
    """10 inputs, noise of sd 1; measured on 1,000 rows of the true function."""
    return friedman_split(1, draw, rows=rows)


def boosted_trees(split: Split) -> Fitted:
    """scikit-learn's histogram boosting; what people search, by random search and 5-fold cross-validation."""
    from scipy.stats import loguniform, randint
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.model_selection import KFold, RandomizedSearchCV

    search = RandomizedSearchCV(
        HistGradientBoostingRegressor(max_iter=MAX_TREES, early_stopping=True, random_state=0),
        {
            "learning_rate": loguniform(0.01, 0.3),
            "max_leaf_nodes": randint(4, 64),
            "min_samples_leaf": randint(5, 51),
            "l2_regularization": loguniform(1e-3, 10.0),
        },
        n_iter=CANDIDATES,
        cv=KFold(FOLDS, shuffle=True, random_state=0),
        scoring="neg_mean_squared_error",
        random_state=0,
    ).fit(split.X, split.t)
    best = search.best_estimator_
    return Fitted(int(best.n_iter_), lambda X: np.asarray(best.predict(X), np.float64))


def _fitted(learn: Callable[[Split], Regressor], split: Split) -> Fitted:
    found = learn(split)

    def mean(X: Array) -> Array:
        return found.predict(X, np.zeros(len(X))).mean

    return Fitted(found.functions, mean)


def ours(prior: PriorChoice) -> Callable[[Split], Fitted]:
    """By defaults of all but data, target and, if it is not the default, the prior."""
    return partial(_fitted, partial(regressor, prior=prior))


PROCESS = Entrant("ours, gaussian_process", ours(GaussianProcess()))
AUTOMATIC = Entrant("ours", ours(AutomaticPrior()))
PEERS = (
    Entrant(
        "GP",
        partial(_fitted, partial(exact_process, PROCESS_ROWS, 0)),
        SKLEARN,
        PROCESS_ROWS,
        "its time grows with N^3",
    ),
    Entrant("boosted trees, searched", boosted_trees, SKLEARN),
)

DEFAULTS = Race(
    "defaults",
    drawn,
    mean_square,
    (AUTOMATIC, PROCESS, *PEERS),
    (150, 600, 1_000, 4_000, 20_000, 100_000),
    (150,),
)

SPECTRA, WIDE, COUNTS, NOISY = 192, 600, 3_304, 22_500


def drawn_table(rows: int, draw: int) -> Split:
    """The table that has so many rows: spectra of 100 inputs, 128 inputs of 8 factors, counts by 18 inputs, or 31
    inputs of 12 factors with much noise; smaller ones are of 128 inputs."""
    if rows == SPECTRA:
        return spectra_split(draw, rows=rows)
    if rows == COUNTS:
        return counts_split(draw, rows=rows)
    if rows == NOISY:
        return mixed_split(draw, rows=rows, inputs=31, factors=12, noise_sd=2.0)
    return mixed_split(draw, rows=rows, inputs=128, factors=8, noise_sd=0.1)


DRAWN_TABLES = Race("drawn-tables", drawn_table, rmse, (AUTOMATIC, *PEERS), (SPECTRA, WIDE, COUNTS, NOISY), (SPECTRA,))
