"""Classification: the probability of each class."""

from typing import ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from relevance_bayes.core.types import Array, Indices
from relevance_bayes.estimators.base import Raw, are_exact, refuse_faults, to_numpy, typed_column
from relevance_bayes.estimators.fitting import FittedSupervised, one_blas_thread
from relevance_bayes.estimators.supervised import SupervisedEstimator, target_values, warn_of_nulls, warn_of_unknown
from relevance_bayes.records.json import encode
from relevance_bayes.records.values import Task
from relevance_bayes.tables.columns import Block, CategoryArray, Column
from relevance_bayes.tables.encoding import real_values
from relevance_bayes.tasks.supervised.predictions import ClassificationPrediction


class RelevanceClassifier(ClassifierMixin, SupervisedEstimator):
    """Sparse Bayesian classification: calibrated probabilities from a few functions.

    By default folds choose between several models, and determine the temperature of the probabilities.

    Parameters
    ----------
    inputs : sequence of str, optional
        The columns to learn from. By default every suitable column of a table: without row numbers, texts that differ
        in every row, and constants. Of an array, whose columns are named x0, x1, ..., every column that varies.
    likelihood : dict, optional
        The model of the classes, such as ``{"type": "categorical"}``. By default ``bernoulli`` for two, and for
        3 to 10 ``bernoulli_per_class``: a model of each class against all others.
    basis : dict or list of dict, optional
        The functions to select from, such as ``{"type": "kernel", "kernel": {"type": "matern_3_2"}}``. By default
        Gaussian kernels with a constant.
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
        their frequencies, with a warning; or an error.
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
    positive_class : bool, int, float or str, optional
        The class that counts as positive in evaluations of the version, such as one that is pushed to the service. It
        changes neither the fit nor its predictions.

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
    classes_ : ndarray of shape (n_classes,)
        The classes: false and true, numbers ascending, or texts by alphabet, at most 1,000.
    n_features_in_ : int
        The number of columns of `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X was a table.

    Notes
    -----
    Options have the names and the JSON of the service's API (``POST /v1/training-jobs``), or are records of the
    library. A model that is fitted here and one that the service trains of the same table have the same arrays, and
    their predictions are the same to the bit.
    Where some rows are equal, all are learned from in the order of their content, so that a weight of 2 is exactly a
    row given twice. The service keeps the order of the table, on which the last digits of means, and with them folds
    and temperatures, depend.

    Examples
    --------
    >>> import numpy as np
    >>> from relevance_bayes.estimators import RelevanceClassifier
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 1, "inside", "outside")
    >>> model = RelevanceClassifier(effort="quick").fit(X, y)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]]).tolist()
    ['inside', 'outside']
    >>> bool(model.predict_proba([[0.0, 0.0]])[0, 0] > 0.9)
    True

    """

    _task: ClassVar[Task] = "classification"

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Learn from rows with their classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            An array of numbers, or a table of pandas, polars or pyarrow with numbers, truth values, texts, points in
            time and gaps.
        y : array-like of shape (n_samples,)
            The classes: truth values, numbers or texts. A Series gives the target its name.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts, integers of 0 and above: a weight of 2 is a row that is given twice.

        Returns
        -------
        self : object
            The fitted estimator.

        """
        self._forget()
        values = target_values(self, y)
        check_classification_targets(values)
        is_text = values.dtype.kind in "OUS" and any(isinstance(value, str) for value in values.tolist())
        if values.dtype.kind in "iu" and not are_exact(values):
            raise ValueError("Expected integers of at most 2**53 in magnitude as classes: give larger ones as texts.")
        target = typed_column("y", values.astype(object) if is_text else values, "category" if is_text else None)
        self._learn(X, y, target, sample_weight)
        self.classes_: Raw = to_numpy(self._labels.astype(values.dtype))
        return self

    def predict(self, X: object) -> Raw:
        """Predict the most probable classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            One of `classes_` for each row.

        """
        places = self._predicted(X).most_probable
        return self.classes_[places]

    def predict_proba(self, X: object) -> Array:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of `classes_`.

        """
        return self._predicted(X).probabilities

    def predict_log_proba(self, X: object) -> Array:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            The logarithms, in the order of `classes_`.

        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _rows(self, block: Block, rows: Indices | None) -> Indices | None:
        """Return the rows in order of their content where some are equal.

        Otherwise the rounding of means, on which folds depend, would make a difference between a weight of 2 and a row
        that is given twice. Rows that differ stay in their order, as in the service, and so do rows in time.
        """
        if self._fits_in_order():
            return rows
        values = np.column_stack([_sortable(column) for column in block.values()])
        chosen = np.arange(len(values)) if rows is None else rows
        ordered = chosen[np.lexsort(values[chosen].T)]
        before, after = values[ordered[:-1]], values[ordered[1:]]
        return ordered if ((before == after) | (np.isnan(before) & np.isnan(after))).all(axis=1).any() else rows

    def _fits_in_order(self) -> bool:
        """Return whether folds follow the order of the rows."""
        split = encode(self.split)
        return isinstance(split, dict) and split.get("type") == "order"

    @property
    def _labels(self) -> Raw:
        return np.array(self._version.exported.predictor.encoding.target.classes)

    def _restore(self, version: FittedSupervised) -> None:
        super()._restore(version)
        self.classes_ = self._labels

    def _predicted(self, X: object) -> ClassificationPrediction:
        block = self._predict_block(X)
        with one_blas_thread():
            found = self._version.model.predict(block, self._predict_options())
        refuse_faults(found.faults)
        assert isinstance(found, ClassificationPrediction)
        warn_of_unknown(found.unknown_categories)
        if not self._has_gaps:
            warn_of_nulls(found.nulls)
        return found


def _sortable(column: Column) -> Array:
    """Return numbers (N,) that are equal where the values are, and in their order."""
    return column.codes.astype(np.float64) if isinstance(column, CategoryArray) else real_values(column)
