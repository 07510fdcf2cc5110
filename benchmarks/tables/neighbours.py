"""A Gaussian process on the nearest rows, by scikit-learn: what a user would write for more rows than it can carry."""

import warnings
from time import process_time

import numpy as np

from benchmarks.accuracy.cases import some_rows
from benchmarks.accuracy.scoring import gaussian
from benchmarks.learning import Scaled
from benchmarks.tables.outcomes import Outcome
from benchmarks.tables.peers import MAX_LENGTH_SCALES
from benchmarks.tables.splits import TableSplit

NEIGHBOURS = 256
ROWS_FOR_SCALES = 1_000


def nearest_rows_process(split: TableSplit) -> Outcome:
    """Each new row given its 256 nearest training rows, by a Matern 3/2 process learned on 1,000 rows.

    One length scale for each column, or for all where there are many. Neighbours are the nearest in units of these.
    """
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
    from sklearn.neighbors import NearestNeighbors

    rows = split.numbers()
    inputs, target = Scaled.of(rows.X), Scaled.of(rows.t)
    X, X_test, t = inputs(rows.X), inputs(rows.X_test), target(rows.t)
    few, columns = some_rows(rows, ROWS_FOR_SCALES, 0), X.shape[1]
    length = np.full(columns, columns**0.5) if columns <= MAX_LENGTH_SCALES else columns**0.5
    start = process_time()
    model = GaussianProcessRegressor(ConstantKernel() * Matern(length, nu=1.5) + WhiteKernel(), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(inputs(few.X), target(few.t))
    seconds = process_time() - start
    process, noise = model.kernel_.k1, float(model.kernel_.k2.noise_level)
    scale = process.k2.length_scale
    near = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(X / scale).kneighbors(X_test / scale, return_distance=False)
    mean, variance = np.empty(len(X_test)), np.empty(len(X_test))
    for place, (x, numbers) in enumerate(zip(X_test, near, strict=True)):
        covariance = process(X[numbers])
        covariance.flat[:: NEIGHBOURS + 1] += noise
        with_new = process(X[numbers], x[None])[:, 0]
        weights = np.linalg.solve(covariance, np.column_stack([t[numbers], with_new]))
        mean[place], explained = with_new @ weights
        variance[place] = process(x[None])[0, 0] - explained + noise
    unit = float(target.scale)
    predicted = gaussian(target.shift + unit * mean, unit * np.sqrt(variance), rows.t_test)
    return Outcome(seconds, 0, predicted)
