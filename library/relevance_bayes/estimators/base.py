"""The parts that all estimators share: inputs, the fitted version, and its way to and from a service."""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from relevance_bayes.core.types import Array
from relevance_bayes.estimators.columns import named_table, table_column, typed_column
from relevance_bayes.estimators.fitting import refusals
from relevance_bayes.estimators.version import ComponentsVersion, SupervisedVersion, Vectors
from relevance_bayes.plans.requests import Missing
from relevance_bayes.tables.columns import Block, NumberBlock, block_rows
from relevance_bayes.types.errors import Fault
from relevance_bayes.types.values import ColumnKind
from relevance_bayes.types.version_documents import VersionDocument

V = TypeVar("V", SupervisedVersion, ComponentsVersion)

ARRAY_NAME = re.compile("x(0|[1-9][0-9]*)", re.ASCII)

MAX_FAULTS = 5
"""The maximum number of faults of rows in a message."""


class Service(Protocol):
    """The calls of `relevance_bayes.client.Client` by which versions move."""

    def import_document(self, content: bytes, *, model: str) -> object:
        """Import a document as the next version of a model."""

    def version_document(self, name: str, version: int | str | None = None) -> VersionDocument:
        """Return a version as a document."""


class VersionEstimator(BaseEstimator, Generic[V]):
    """An estimator whose fitted state is a version as the service has it."""

    _fitted: V
    _places: dict[str, int]
    """The number of each column by name."""
    _has_all_names: bool
    """True if these are all columns of the table that was learned from, also those that are left out."""
    inputs: Sequence[str] | None
    missing: Missing | None

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a version."""
        return hasattr(self, "_fitted")

    @property
    def document_(self) -> bytes:
        """The fitted version as a document in npz: the bytes that pickles, `push` and `pull` move."""
        return self._version.document

    @property
    def relevance_vectors_(self) -> Vectors:
        """The kept functions with their weights; those of a training with their rows and raw inputs."""
        return self._version.vectors

    @classmethod
    def from_document(cls, document: bytes, vectors: Vectors | None = None) -> Self:
        """Return a fitted estimator of a version's document.

        Parameters
        ----------
        document : bytes
            `document_` of another estimator, or a version that a service exported as npz.
        vectors : tuple of relevance_bayes.types.functions.RelevanceVector, optional
            `relevance_vectors_`, by default those of the document, which has no row numbers.

        Returns
        -------
        estimator : object
            Its parameters have their defaults; the options of the training are in `report_.plan`.

        """
        with refusals():
            version = cls._read(document)
        made = cls()
        made._restore(version if vectors is None else replace(version, vectors=vectors))
        return made

    def push(self, client: Service, name: str) -> object:
        """Add the fitted version to a model of a service.

        Parameters
        ----------
        client : relevance_bayes.client.Client
            The client of the service.
        name : str
            The name of the model: a new one, or one with the same task, target and inputs.

        Returns
        -------
        version : relevance_bayes.client.ImportedVersion
            The new version; `imported.digest` is the SHA-256 of `document_`.

        """
        return client.import_document(self.document_, model=name)

    @classmethod
    def pull(cls, client: Service, name: str, version: int | str | None = None) -> Self:
        """Return a fitted estimator of a service's version.

        Parameters
        ----------
        client : relevance_bayes.client.Client
            The client of the service.
        name : str
            The name of the model.
        version : int or str, optional
            A number or an alias, by default the newest version.

        Returns
        -------
        estimator : object
            Its `document_` are the bytes that the service exports.

        """
        document = client.version_document(name, version)
        return cls.from_document(document.content, document.vectors)

    @classmethod
    @abstractmethod
    def _read(cls, document: bytes) -> V:
        """Return the version in a document; raises ValueError for that of another task."""

    @property
    def _version(self) -> V:
        check_is_fitted(self)
        return self._fitted

    def _restore(self, version: V) -> None:
        """Take over a version that was not fitted here, of whose table only the inputs are known."""
        self._fitted = version
        names = tuple(column.name for column in version.exported.report.plan.inputs)
        numbers = _array_places(names)
        self._places = numbers or {name: place for place, name in enumerate(names)}
        self._has_all_names = False
        self.n_features_in_ = max(self._places.values()) + 1
        if numbers is None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _forget(self) -> None:
        """Remove what an earlier fit learned, so that a fit that fails leaves no mixture of both."""
        for name in {"_fitted", "classes_"} & vars(self).keys():
            delattr(self, name)
        self._has_all_names = True

    def _training_block(self, X: object) -> Block:
        """Return the columns of X to learn from, and note their names."""
        if (found := named_table(X)) is not None:
            table, names = found
            validate_data(self, X, skip_check_array=True)
            self._places = {name: place for place, name in enumerate(names)}
            block = {name: table_column(table, name) for name in names}
            if block_rows(block) < 2:
                raise ValueError(f"Expected at least 2 samples, got n_samples = {block_rows(block)}.")
            return block
        finite: bool | str = "allow-nan" if self.missing != "error" else True
        matrix = validate_data(self, X, dtype=np.float64, ensure_all_finite=finite, ensure_min_samples=2)
        names = array_names(matrix.shape[1])
        self._places = {name: place for place, name in enumerate(names)}
        return NumberBlock(names, matrix)

    def _options(self, block: Block) -> Mapping[str, object]:
        """Return the parameters as members of a request.

        Every column of an array that varies is an input, since an array has no column of row numbers.
        """
        given: dict[str, object] = self.get_params(deep=False)
        inputs: Sequence[str] | None = self.inputs
        if inputs is None and isinstance(block, NumberBlock):
            inputs = _varying(block) or None
        return {**given, "inputs": None if inputs is None else list(inputs)}

    def _predicted_block(self, X: object, kinds: Mapping[str, ColumnKind]) -> Block:
        """Return the columns of X that the version reads, of these kinds by name."""
        check_is_fitted(self)
        if (found := named_table(X)) is not None:
            table, names = found
            if self._has_all_names:
                validate_data(self, X, skip_check_array=True, reset=False)
            if absent := [name for name in kinds if name not in names]:
                raise ValueError(f"X has no column {', '.join(map(repr, absent))}, from which the model predicts.")
            return {name: table_column(table, name, kind) for name, kind in kinds.items()}
        matrix: Array = self._predicted_matrix(X)
        if [self._places[name] for name in kinds] == [*range(matrix.shape[1])] and {*kinds.values()} == {"number"}:
            return NumberBlock(tuple(kinds), matrix)
        return {name: typed_column(name, matrix[:, self._places[name]], kind) for name, kind in kinds.items()}

    def _predicted_matrix(self, X: object) -> Array:
        """Return an array, with the columns of `fit`; of a version that was fitted elsewhere, with enough of them."""
        accepts = "allow-nan" if self._accepts_gaps else True
        if self._has_all_names or hasattr(self, "feature_names_in_"):
            known: Array = validate_data(self, X, dtype=np.float64, ensure_all_finite=accepts, reset=False)
            return known
        numbers: Array = check_array(X, dtype=np.float64, ensure_all_finite=accepts, estimator=self)
        if numbers.shape[1] < self.n_features_in_:
            raise ValueError(
                f"X has {numbers.shape[1]} features, but {type(self).__name__} is expecting at least"
                f" {self.n_features_in_} features as input."
            )
        return numbers

    @property
    def _accepts_gaps(self) -> bool:
        return self._version.exported.report.plan.missing == "indicator"

    def __sklearn_tags__(self) -> object:
        """Return the tags: gaps are accepted unless they are refused or left out."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing in {None, "indicator"}
        return tags


def array_names(columns: int) -> tuple[str, ...]:
    """Return the names of the columns of an array."""
    return tuple(f"x{number}" for number in range(columns))


def _array_places(names: Sequence[str]) -> dict[str, int] | None:
    """Return the numbers of the columns of an array by their names; None for the columns of a table."""
    if not all(ARRAY_NAME.fullmatch(name) for name in names):
        return None
    return {name: int(name[1:]) for name in names}


def _varying(block: NumberBlock) -> tuple[str, ...]:
    """Return the names of the columns with more than one value."""
    low, high = np.fmin.reduce(block.matrix, axis=0), np.fmax.reduce(block.matrix, axis=0)
    return tuple(name for name, varies in zip(block.names, low < high, strict=True) if varies)


def refuse_faults(faults: tuple[Fault, ...]) -> None:
    """Raise ValueError with the first faults of rows, where there are any."""
    if faults:
        more = f" ({len(faults) - MAX_FAULTS} more)" if len(faults) > MAX_FAULTS else ""
        raise ValueError("\n".join(map(str, faults[:MAX_FAULTS])) + more)
