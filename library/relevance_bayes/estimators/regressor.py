"""Regression: a number with its error bar."""

from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import ClassVar, Literal, Self, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import assert_all_finite, check_consistent_length, check_random_state, column_or_1d

from relevance_bayes.core.models.pool import degrees_of_freedom_of
from relevance_bayes.core.types import Array
from relevance_bayes.estimators.base import Raw, refuse_faults
from relevance_bayes.estimators.fitting import one_blas_thread, refusals
from relevance_bayes.estimators.supervised import SupervisedEstimator, target_values, warn_of_nulls, warn_of_unknown
from relevance_bayes.records.values import Task
from relevance_bayes.tables.columns import NumberArray
from relevance_bayes.tasks.supervised.predictions import RegressionPrediction

RandomState: TypeAlias = int | np.random.RandomState | None
"""The source of random numbers, as scikit-learn's functions take it."""


class RelevanceRegressor(RegressorMixin, SupervisedEstimator):
    """Sparse Bayesian regression: a few functions, and an error bar for each prediction.

    By default the evidence chooses kernels, length scales and noise; several processes are weighted by folds.

    Parameters
    ----------
    inputs : sequence of str, optional
        The columns to learn from. By default every suitable column of a table: without row numbers, texts that differ
        in every row, and constants. Of an array, whose columns are named x0, x1, ..., every column that varies.
    likelihood : dict, optional
        The distribution of targets around the function, such as ``{"type": "student_t"}`` for outliers or
        ``{"type": "poisson"}`` for counts. By default Gaussian noise of one size, learned.
    basis : dict or list of dict, optional
        The functions to select from, such as ``{"type": "kernel", "kernel": {"type": "matern_3_2"}}``. By default
        Gaussian kernels with a constant and, under the prior of a process, the inputs themselves.
    prior : dict, optional
        ``{"type": "gaussian_process"}``, ``{"type": "independent"}`` or ``{"type": "automatic"}``, the default.
    algorithm : dict, optional
        The algorithm that maximises the evidence. By default it follows from the prior.
    standardise : bool, optional
        Whether inputs are standardised. By default unless a width is given as a number.
    missing : {"error", "drop_rows", "indicator"}, default=None
        The handling of gaps: refused; their rows left out in the training; or filled in, with a 0/1 column for each
        input with gaps. By default "indicator" where an input has gaps in `fit`, else "error".
    missing_values : list of str, optional
        The texts that mean a missing value in the columns of a table, in any case. By default ``NA``, ``?``, ``-`` and
        their like, in columns that are otherwise numbers, booleans or times; a list replaces these, and counts in every
        column, also as a number: ``["-999"]``.
    split : dict, optional
        The rows that stay together in holdout and folds: ``{"type": "random"}``, the default,
        ``{"type": "group", "column": "patient"}`` or ``{"type": "order", "column": "day"}``.
    holdout : float, default=0.0
        The share of rows that are held out to measure metrics.
    validation : dict, optional
        ``{"folds": 5}``: cross-validation of the whole training.
    seed : int, default=0
        With the rows' content, determines holdout and folds, as random_state does in scikit-learn.
    effort : {"quick", "normal", "thorough"}, default="normal"
        The amount of computation: one fit, a comparison of several models by five folds, or of more by ten.
    prefer : {"accuracy", "small"}, default="accuracy"
        Whether several processes are reduced until little is lost, or to fewer functions.
    max_score_loss : float, optional
        The limit of that loss, in nats a row. By default as `prefer` sets it.
    local : dict, optional
        Whether a prediction may be conditioned on its nearest rows, which the model then stores, such as
        ``{"type": "none"}``. By default this is compared from 5,000 rows on.
    budget : dict, optional
        The most work of the fit, such as ``{"cpu_seconds": 5}``: what the reference core computes in that time, the
        same on every machine. Alternatives, folds and rows are left out for it; ``report_.plan.budget`` states which.
    unknown_categories : {"average", "error"}, default="average"
        The prediction of a row with a category that no row of `fit` had: the average over the known categories, by
        their frequencies, with a warning and a wider interval; or an error.
    nulls : {"average", "error"}, default="average"
        The treatment of rows with a missing value of an input without an indicator: predicted as averages over the
        values of training rows, with a warning where `fit` had no gaps, or an error.
    keep_rows : bool, default=True
        Keep the inputs of 64 training rows, from which missing values are drawn.
    dates : {"calendar", "time"}, default="calendar"
        The inputs of a date: the time, and its position within year, week and day where that predicts better; or the
        time alone, without the comparison.
    text : {"target", "leave_out"}, default="target"
        Whether texts of more than 50 values are encoded by their effects on the target, where that predicts better, or
        left out.
    positive_class : None
        Of `RelevanceClassifier`: a number has no classes.

    Attributes
    ----------
    relevance_vectors_ : tuple of RelevanceVector
        The kept functions with their weights, and the rows of X at which kernels are centred.
    members_ : tuple of Member
        The models that predict together, often only one: kernel, weight, hyperparameters and evidence.
    evidence_ : float
        The log marginal likelihood in nats, where there is one member.
    lengthscales_ : ndarray
        The length scales of the kernel, where there is one member whose inputs are not warped.
    report_ : SupervisedReport
        The report of the training: plan, scores, alternatives and warnings. With weights its rows are those of the
        table in which rows are repeated.
    document_ : bytes
        The fitted version as a document in npz, the bytes that pickles, `push` and `pull` move.
    n_features_in_ : int
        The number of columns of `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X was a table.

    Notes
    -----
    Options have the names and the JSON of the service's API (``POST /v1/training-jobs``), or are records of the
    library. A model that is fitted here and one that the service trains of the same table have the same arrays, and
    their predictions are the same to the bit.

    Examples
    --------
    >>> import numpy as np
    >>> from relevance_bayes.estimators import RelevanceRegressor
    >>> X = np.linspace(-10, 10, 100)[:, None]
    >>> y = np.sinc(X[:, 0] / np.pi) + np.random.default_rng(0).normal(0, 0.05, 100)
    >>> model = RelevanceRegressor(effort="quick").fit(X, y)
    >>> mean, sd = model.predict([[0.0], [5.0]], return_std=True)
    >>> mean.round(1).tolist(), sd.round(2).tolist()
    ([1.0, -0.2], [0.05, 0.05])
    >>> mean, interval = model.predict([[0.0]], return_interval=0.95)
    >>> interval.round(1).tolist()
    [[0.9, 1.1]]
    >>> len(model.relevance_vectors_) < 20
    True

    """

    _task: ClassVar[Task] = "regression"

    def fit(
        self,
        X: object,
        y: object,
        sample_weight: object = None,
        *,
        noise_precision: ArrayLike | None = None,
    ) -> Self:
        """Learn from rows with their targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            An array of numbers, or a table of pandas, polars or pyarrow with numbers, truth values, texts, points in
            time and gaps.
        y : array-like of shape (n_samples,)
            The targets. A Series gives the target its name.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts, integers of 0 and above: a weight of 2 is a row that is given twice. As in the
            service, a row counts once where the targets are measured numbers, of which no two agree by chance, which
            is warned of; rows count as often as they are given where targets are counts or rounded.
        noise_precision : float or array-like of shape (n_samples,), optional
            The known precision of the noise, 1/sd**2, of all rows or of each. By default it is learned. Rows to predict
            have the mean variance of the noise of the training rows.

        Returns
        -------
        self : object
            The fitted estimator.

        """
        self._forget()
        values = _numbers(target_values(self, y))
        noise_sd = self._known_noise(values, noise_precision)
        self._learn(X, y, NumberArray(values), sample_weight, noise_sd=noise_sd)
        return self

    @overload
    def predict(
        self,
        X: object,
        return_std: Literal[False] = False,
        return_interval: None = None,
        *,
        return_cov: Literal[False] = False,
    ) -> Array: ...
    @overload
    def predict(
        self, X: object, return_std: bool = False, return_interval: float | None = None, *, return_cov: bool = False
    ) -> Array | tuple[Array, ...]: ...
    def predict(
        self, X: object, return_std: bool = False, return_interval: float | None = None, *, return_cov: bool = False
    ) -> Array | tuple[Array, ...]:
        """Predict numbers, with their error bars where these are requested.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows with the columns of `fit`.
        return_std : bool, default=False
            Whether the standard deviations of the predictive distributions are returned, which include the noise.
        return_interval : float, optional
            The probability, between 0 and 1, of central predictive intervals that are returned.
        return_cov : bool, default=False
            Whether the covariance of the rows, which includes the noise on its diagonal, is returned in place of the
            standard deviations: of models with Gaussian noise, for at most 1,000 rows.

        Returns
        -------
        mean : ndarray of shape (n_samples,)
            The predictive means.
        sd : ndarray of shape (n_samples,)
            The standard deviations, with `return_std`.
        covariance : ndarray of shape (n_samples, n_samples)
            The covariance, with `return_cov`; its diagonal is the square of the standard deviations.
        interval : ndarray of shape (n_samples, 2)
            The lower and upper ends, with `return_interval`.

        """
        if return_interval is not None and not 0.0 < return_interval < 1.0:
            raise ValueError(f"Expected an interval between 0 and 1, got {return_interval:g}.")
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std and return_cov can be requested.")
        found = self._predicted(X, return_interval, covariance=return_cov)
        spread = found.covariance if return_cov else found.sd if return_std else None
        interval = None if return_interval is None else np.column_stack([found.lower, found.upper])
        requested = tuple(one for one in (spread, interval) if one is not None)
        return (found.mean, *requested) if requested else found.mean

    def sample_y(self, X: object, n_samples: int = 1, random_state: RandomState = 0) -> Array:
        """Draw samples from the joint predictive distribution of rows.

        It is Gaussian, or Student's t where predictions integrate the variance of the noise, and includes the noise.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Rows with the columns of `fit`, at most 1,000, of a model with Gaussian noise.
        n_samples : int, default=1
            The number of samples of each row.
        random_state : int, RandomState instance or None, default=0
            Determines the draws: an int gives the same ones in each call.

        Returns
        -------
        samples : ndarray of shape (n_samples_X, n_samples)
            Each column is one joint draw of all rows.

        """
        found = self._predicted(X, None, covariance=True)
        assert found.covariance is not None
        random = check_random_state(random_state)
        draws: Array = random.multivariate_normal(np.zeros(found.rows), found.covariance, n_samples).T
        tails = degrees_of_freedom_of(self._version.exported.predictor.learned)
        if tails is not None:
            draws = draws / np.sqrt(random.chisquare(tails, n_samples) / tails)
        return found.mean[:, None] + draws

    def _predicted(self, X: object, interval: float | None, *, covariance: bool = False) -> RegressionPrediction:
        block = self._predict_block(X)
        with one_blas_thread(), refusals():
            options = self._predict_options() if interval is None else self._predict_options(interval)
            options = replace(options, covariance=True) if covariance else options
            found = self._version.model.predict(block, options)
        refuse_faults(found.faults)
        assert isinstance(found, RegressionPrediction)
        warn_of_unknown(found.unknown_categories)
        if not self._has_gaps:
            warn_of_nulls(found.nulls)
        return found

    def _known_noise(self, y: Array, precision: ArrayLike | None) -> Array | float | None:
        """Return the noise sd of all rows, or of each (N,)."""
        if precision is None:
            return None
        if self.likelihood is not None:
            raise ValueError("A known noise precision implies Gaussian noise: leave out `likelihood`.")
        given = np.asarray(precision, np.float64)
        if given.ndim:
            given = column_or_1d(given, input_name="noise_precision")
            check_consistent_length(y, given)
        if not (np.isfinite(given) & (given > 0.0)).all():
            raise ValueError("Expected noise precisions above 0.")
        sd = 1.0 / np.sqrt(given)
        return sd if sd.ndim else float(sd)


def _numbers(targets: Raw) -> Array:
    """Return targets (N,) as numbers; raises ValueError for texts, points in time and others."""
    if targets.dtype.kind in "biuf":
        return targets.astype(np.float64)
    values = targets.tolist() if targets.dtype.kind in "OUS" else targets
    others = [one for one in values if not isinstance(one, Real | Decimal | np.bool_)]
    if others:
        name = "texts" if isinstance(others[0], str) else f"values of type {type(others[0]).__name__}"
        raise ValueError(f"Expected numbers in y, got {name}.")
    numbers: Array = targets.astype(np.float64)
    assert_all_finite(numbers, input_name="y")
    return numbers
