"""Components of rows in a kernel's feature space, and the novelty of rows."""

from collections.abc import Sequence
from numbers import Integral
from typing import Self

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_scalar

from relevance_bayes.core.types import Array
from relevance_bayes.estimators.base import VersionEstimator, refuse_faults
from relevance_bayes.estimators.fitting import FittedComponents, learn_components, one_blas_thread
from relevance_bayes.records.values import Missing
from relevance_bayes.tasks.components.report import ComponentsPrediction, ComponentsReport
from relevance_bayes.tasks.prediction import PredictOptions


class SparseKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, VersionEstimator[FittedComponents]):
    """Sparse kernel principal components, and the novelty of rows.

    The components of rows in a kernel's feature space are carried by few of the rows. A row is novel where nearly all
    rows like the training rows have a higher log density.

    Parameters
    ----------
    inputs : sequence of str, optional
        The columns to learn from. By default every suitable column of a table, and of an array every one that varies.
    kernel : dict, optional
        The covariance, by default ``{"type": "gaussian"}``.
    width : float or sequence of float, optional
        The width of the kernel, for all inputs or, in the order of `inputs`, for each. By default the median distance
        of rows.
    min_explained_variance : float, default=0.9
        The share of the variance that the components explain; the remainder is noise.
    standardise : bool, optional
        Whether inputs are standardised. By default unless a width is given.
    missing : {"error", "drop_rows", "indicator"}, default=None
        The handling of gaps: refused; their rows left out in the training; or filled in, with a 0/1 column for each
        input with gaps. By default "indicator" where an input has gaps in `fit`, else "error".
    missing_values : list of str, optional
        The texts that mean a missing value in the columns of a table, in any case. By default ``NA``, ``?``, ``-`` and
        their like, in columns that are otherwise numbers, booleans or times; a list replaces these, and counts in every
        column, also as a number: ``["-999"]``.
    seed : int, default=0
        Determines which rows are drawn of many, as random_state does in scikit-learn.
    components : int, default=10
        The maximum number of components that `transform` returns, as n_components in scikit-learn.

    Attributes
    ----------
    relevance_vectors_ : tuple of RelevanceVector
        The rows that carry the components, with their weights.
    evidence_ : float
        The log marginal likelihood in nats, relative to that of noise only.
    report_ : ComponentsReport
        The report of the training.
    document_ : bytes
        The fitted version as a document in npz, the bytes that pickles, `push` and `pull` move.
    n_features_in_ : int
        The number of columns of `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X was a table.

    Examples
    --------
    >>> import numpy as np
    >>> from relevance_bayes.estimators import SparseKernelPCA
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 200)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = SparseKernelPCA(components=2).fit(ring)
    >>> model.transform(ring).shape
    (200, 2)
    >>> novelty = model.novelty([[1.0, 0.0], [0.0, 0.0]])
    >>> bool(novelty[0] < 0.9 < novelty[1])
    True

    """

    _task = "components"

    def __init__(
        self,
        *,
        inputs: Sequence[str] | None = None,
        kernel: object = None,
        width: float | Sequence[float] | None = None,
        min_explained_variance: float = 0.9,
        standardise: bool | None = None,
        missing: Missing | None = None,
        missing_values: Sequence[str] | None = None,
        seed: int = 0,
        components: int = 10,
    ) -> None:
        self.inputs = inputs
        self.kernel = kernel
        self.width = width
        self.min_explained_variance = min_explained_variance
        self.standardise = standardise
        self.missing = missing
        self.missing_values = missing_values
        self.seed = seed
        self.components = components

    def fit(self, X: object, y: object = None) -> Self:
        """Learn the components of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            An array of numbers, or a table of pandas, polars or pyarrow.
        y : object
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.

        """
        self._forget()
        block = self._training_block(X)
        check_scalar(self.components, "components", Integral, min_val=1)
        options = {name: value for name, value in self._options(block).items() if name != "components"}
        self._fitted = FittedComponents.of(*learn_components(block, {**options, "task": "components"}))
        return self

    def transform(self, X: object) -> Array:
        """Return the components of rows, those of the greatest variance first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        components : ndarray of shape (n_samples, n_components)
            The components.

        """
        return self._predicted(X).components

    def score_samples(self, X: object) -> Array:
        """Return the log densities of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            The log density of each row in the feature space, in nats.

        """
        return self._predicted(X).log_density

    def novelty(self, X: object) -> Array:
        """Return the share of rows like the training rows that have a higher log density.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        novelty : ndarray of shape (n_samples,)
            From 0 to 1; one usual row in twenty is above 0.95.

        """
        return self._predicted(X).novelty

    def reconstruction_error(self, X: object) -> Array:
        """Return the share of each row that the components leave out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        error : ndarray of shape (n_samples,)
            The squared distance in the feature space.

        """
        return self._predicted(X).missed

    @property
    def report_(self) -> ComponentsReport:
        """The report of the training."""
        return self._version.exported.report

    @property
    def evidence_(self) -> float:
        """The log marginal likelihood in nats, relative to that of noise only."""
        return self.report_.log_marginal_likelihood

    @classmethod
    def _read(cls, document: bytes) -> FittedComponents:
        return FittedComponents.read(document)

    @property
    def _n_features_out(self) -> int:
        return min(self.components, len(self.report_.variances))

    def _predicted(self, X: object) -> ComponentsPrediction:
        kinds = {column.name: column.kind for column in self.report_.plan.inputs}
        block = self._predicted_block(X, kinds)
        with one_blas_thread():
            found = self._version.model.predict(block, PredictOptions(components=self.components))
        refuse_faults(found.faults)
        return found
