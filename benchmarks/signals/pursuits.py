"""Sparse linear models of scikit-learn on given columns, as their users have them: columns centred and of one size."""

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Protocol

import numpy as np

from relevance_bayes.core.types import Array

MAX_PURSUED = 100
"""Functions that pursuit by cross-validation may take."""

FOLDS = 5


class _Fitted(Protocol):
    """The members of all of them."""

    coef_: Array
    intercept_: float


@dataclass(frozen=True, eq=False)
class Linear:
    """weights'p(x) + intercept, the columns p (N, M) unscaled; `seconds` of CPU, any search counted."""

    weights: Array
    intercept: float
    seconds: float

    def __call__(self, columns: Array) -> Array:
        """The mean (N,) for other rows' columns (N, M)."""
        return np.asarray(columns @ self.weights + self.intercept)

    @property
    def functions(self) -> int:
        """Columns kept, and the constant."""
        return int(np.count_nonzero(self.weights)) + 1


def _learned(fit: Callable[[Array, Array], _Fitted], columns: Array, t: Array) -> Linear:
    centre = columns.mean(axis=0)
    size = np.linalg.norm(columns - centre, axis=0)
    size = np.where(size > 0.0, size, 1.0)
    start = process_time()
    fitted = fit((columns - centre) / size, t)
    seconds = process_time() - start
    weights = np.asarray(fitted.coef_, np.float64) / size
    return Linear(weights, float(fitted.intercept_ - centre @ weights), seconds)


def pursuit(columns: Array, t: Array, noise_sd: float) -> Linear:
    """Orthogonal matching pursuit until the residual is what the noise leaves."""
    from sklearn.linear_model import OrthogonalMatchingPursuit

    return _learned(OrthogonalMatchingPursuit(tol=noise_sd**2 * len(t)).fit, columns, t)


def pursuit_by_folds(columns: Array, t: Array, noise_sd: float) -> Linear:
    """Orthogonal matching pursuit; shuffled folds select the number of functions, and the noise is not used."""
    from sklearn.linear_model import OrthogonalMatchingPursuitCV
    from sklearn.model_selection import KFold

    folds = KFold(FOLDS, shuffle=True, random_state=0)
    return _learned(OrthogonalMatchingPursuitCV(cv=folds, max_iter=MAX_PURSUED).fit, columns, t)


def pursued(columns: Array, t: Array, kept: int) -> Linear:
    """Orthogonal matching pursuit of so many functions."""
    from sklearn.linear_model import OrthogonalMatchingPursuit

    return _learned(OrthogonalMatchingPursuit(n_nonzero_coefs=kept).fit, columns, t)


def lasso(columns: Array, t: Array, noise_sd: float) -> Linear:
    """The lasso's path, and on it what BIC likes best."""
    from sklearn.linear_model import LassoLarsIC

    return _learned(LassoLarsIC("bic", noise_variance=noise_sd**2).fit, columns, t)


def lasso_by_folds(columns: Array, t: Array) -> Linear:
    """The lasso, its penalty by cross-validation."""
    from sklearn.linear_model import LassoCV

    return _learned(LassoCV(cv=FOLDS, max_iter=20_000).fit, columns, t)
