"""The base of the estimators, and the columns of what they are given."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import islice
from numbers import Integral, Real
from typing import (
    TYPE_CHECKING,  # noqa: TID251 - the client imports the estimators
    Generic,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    runtime_checkable,
)

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import _check_n_features, check_is_fitted, validate_data

from relevance_bayes.core.types import Array
from relevance_bayes.estimators.fitting import FittedComponents, FittedSupervised, Vectors, refusals
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.values import Cell, ColumnKind, Missing
from relevance_bayes.tables.columns import (
    Block,
    BooleanArray,
    CategoryArray,
    Column,
    NumberArray,
    NumberBlock,
    TimestampArray,
    block_rows,
)
from relevance_bayes.tables.kinds import (
    END_SECOND,
    FIRST_SECOND,
    MAX_EXACT_INTEGER,
    ROWS_LOOKED_AT,
    is_missing_text,
    is_number,
    kind_of_cells,
    seconds_of,
)

if TYPE_CHECKING:
    from relevance_bayes.client import Client

Raw: TypeAlias = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.object_]
"""An array of any type that columns have."""


@runtime_checkable
class Table(Protocol):
    """Named columns, as DataFrames of pandas and polars and tables of pyarrow have them."""

    @property
    def columns(self) -> Iterable[object]:
        """The columns, or their names."""

    def __getitem__(self, name: str) -> object:
        """Return one column."""


@runtime_checkable
class Series(Protocol):
    """A column of a table."""

    def to_numpy(self) -> Raw:
        """Return its values."""


@runtime_checkable
class _Convertible(Protocol):
    """A column of pandas."""

    @property
    def dtype(self) -> object:
        """The type of its values."""

    def astype(self, dtype: type[object]) -> object:
        """Return its values as another type."""


@runtime_checkable
class _Nullable(Protocol):
    """A column of polars or pyarrow, where NaN is a number and null a missing value."""

    def is_null(self) -> Series:
        """Return which values are null."""


@dataclass(frozen=True)
class _Renamed:
    """A table by other names of its columns."""

    table: Table
    keys: Mapping[str, object]
    """The table's own names by the new ones."""

    @property
    def columns(self) -> Iterable[object]:
        """The new names."""
        return self.keys

    def __getitem__(self, name: str) -> object:
        """Return one column."""
        return self.table[self.keys[name]]  # type: ignore[index]  # names of pandas may be numbers


def named_table(X: object) -> tuple[Table, tuple[str, ...]] | None:
    """Return a table with the names of its columns; None for what has none.

    Names that are no texts, such as the integers of pandas, are written as texts: without texts among the names a table
    of numbers is an array instead, as in scikit-learn. Raises ValueError for two columns of one name.
    """
    if not isinstance(X, Table):
        return None
    listed = getattr(X, "column_names", None)
    names = tuple(X.columns if listed is None else listed)
    if all(isinstance(name, str) for name in names):
        return X, names
    if not any(isinstance(name, str) for name in names) and all(map(_is_numeric, map(X.__getitem__, names))):
        return None
    keys = {str(name): name for name in names}
    if len(keys) < len(names):
        raise ValueError(f"Expected columns with different names, got {', '.join(map(repr, names))}.")
    return _Renamed(X, keys), tuple(keys)


def _is_numeric(column: object) -> bool:
    """Return whether an array of numbers has the values of a column of pandas."""
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    if kind != "O" or type(getattr(column, "dtype", None)).__name__ == "CategoricalDtype":
        return kind in "biuf"
    return not any(isinstance(value, str | date) for value in to_numpy(column).ravel().tolist())


@dataclass(frozen=True)
class MissingValues:
    """The values of columns that are missing besides None, NaN, NaT and NA.

    By default texts such as NA in columns of numbers, booleans and times; else the `listed` ones in every column, in
    any case, also as numbers.
    """

    listed: tuple[str, ...] | None = None

    @classmethod
    def of(cls, texts: Sequence[str] | None) -> Self:
        """Return those of a parameter; raises ValueError for one that is no list of texts."""
        if texts is None:
            return cls()
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"Expected missing_values as a list of texts, got {texts!r}.")
        return cls(tuple(text.strip().lower() for text in texts))

    def has(self, value: object, kind: ColumnKind | None = None) -> bool:
        """Return whether a value is a text for a missing one in columns of a `kind`, by default of those of numbers."""
        if not isinstance(value, str):
            return False
        text = value.strip()
        if self.listed is not None:
            return text.lower() in self.listed
        return kind != "category" and (not text or is_missing_text(text))

    def without(self, numbers: Array) -> Array:
        """Return numbers of any shape, NaN in the place of those that are listed."""
        listed = [float(text) for text in self.listed or () if is_number(text)]
        return np.where(np.isin(numbers, listed), np.nan, numbers) if listed else numbers


ONLY_GAPS = MissingValues(())
"""No values but None, NaN, NaT and NA."""


def table_column(table: Table, name: str, kind: ColumnKind | None = None, missing: MissingValues = ONLY_GAPS) -> Column:
    """Return a column of a table as one of the `kind`, by default of that of its values.

    Raises ValueError, also for a name of several columns.
    """
    column = table[name]
    if isinstance(column, _Convertible) and type(column.dtype).__name__ == "CategoricalDtype":
        # Of pandas, whose categories may be numbers; as an array they are floats where a value is missing.
        column, kind = column.astype(object), kind or "category"
    values = to_numpy(column)
    if isinstance(column, _Nullable) and values.dtype.kind == "f":
        strange = np.flatnonzero(np.isnan(values) & ~to_numpy(column.is_null()).astype(np.bool_))
        if strange.size:
            raise ValueError(
                f"`{name}` is NaN in row {strange[0] + 1} of the data, expected a finite number; null is a missing"
                " value."
            )
    if values.ndim != 1:
        raise ValueError(f"Expected one column `{name}`, got {values.shape[-1]}.")
    return typed_column(name, values, kind, missing)


def to_numpy(values: object) -> Raw:
    """Return a column of a table, or a list, as an array."""
    own = getattr(values, "type", None)
    if hasattr(own, "index_type") and hasattr(values, "to_pylist"):
        # A dictionary of pyarrow, whose `to_numpy` has another value in place of null.
        return np.array(values.to_pylist(), dtype=object)
    found: Raw = np.array(values.to_numpy() if isinstance(values, Series) else values)
    return found


def typed_column(name: str, values: Raw, kind: ColumnKind | None = None, missing: MissingValues = ONLY_GAPS) -> Column:
    """Return `values` (N,) as a column of the `kind`, by default of that of the values; raises ValueError."""
    match values.dtype.kind:
        case "b" if kind in {None, "boolean"}:
            return BooleanArray(values.astype(np.int8))
        case "f" if kind in {None, "number"}:
            return NumberArray(missing.without(_finite(name, values)))
        case "i" | "u" if kind in {None, "number"} and are_exact(values):
            return NumberArray(missing.without(values.astype(np.float64)))
        case "M" if kind in {None, "timestamp"}:
            return TimestampArray(_seconds(name, values))
        case "m":
            raise ValueError(f"`{name}` has durations; convert them to numbers.")
    cells = [_cell(name, value) for value in values.tolist()]
    if kind is None:
        kind = kind_of_cells(_plain(cell) for cell in islice(cells, ROWS_LOOKED_AT) if not missing.has(cell))
    column = _READERS[kind](name, [None if missing.has(cell, kind) else cell for cell in cells])
    return NumberArray(missing.without(column.values)) if isinstance(column, NumberArray) else column


def are_exact(integers: Raw) -> bool:
    """Return whether all integers are float64; the service takes others for ids, which are texts."""
    return bool((np.abs(integers.astype(np.float64)) <= MAX_EXACT_INTEGER).all())


def is_missing(value: object) -> bool:
    """Return whether a value of an array of objects is a gap: None, NaN, NaT, NA."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in {"NAType", "NaTType"}


_Value: TypeAlias = Cell | datetime


def _cell(name: str, value: object) -> _Value:
    """Return a value of an array of objects; None for a gap: None, NaN, NaT, NA."""
    match value:
        case None | bool() | str() | datetime():
            return None if value is not None and value != value else value
        case date():
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
        case Integral():
            return int(value)
        case Real():
            number = float(value)
            return None if np.isnan(number) else number
        case np.bool_():
            return bool(value)
    if is_missing(value):
        return None
    if hasattr(value, "is_finite") and hasattr(value, "as_integer_ratio"):  # Decimal, which is no Real
        return _cell(name, float(str(value)))
    raise TypeError(f"argument must be a string or a number: `{name}` has a {type(value).__name__}.")


def _plain(value: _Value) -> Cell:
    return value.isoformat() if isinstance(value, datetime) else value


def _numbers(name: str, cells: Sequence[_Value]) -> NumberArray:
    numbers = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if isinstance(cell, bool | str | datetime):
            raise ValueError(f"`{name}` is {cell!r} in row {row + 1} of the data, expected a number.")
        if cell is not None:
            numbers[row] = cell
    return NumberArray(_finite(name, numbers))


def _booleans(name: str, cells: Sequence[_Value]) -> BooleanArray:
    for row, cell in enumerate(cells):
        if not isinstance(cell, bool | None):
            raise ValueError(f"`{name}` is {cell!r} in row {row + 1} of the data, expected true or false.")
    return BooleanArray(np.array([-1 if cell is None else int(cell is True) for cell in cells], np.int8))


def _texts(name: str, cells: Sequence[_Value]) -> CategoryArray:
    texts = [None if cell is None else str(_plain(cell)) for cell in cells]
    labels = tuple(sorted({text for text in texts if text is not None}))
    places = {label: place for place, label in enumerate(labels)}
    return CategoryArray(np.array([-1 if text is None else places[text] for text in texts], np.int32), labels)


def _timestamps(name: str, cells: Sequence[_Value]) -> TimestampArray:
    seconds = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        found = seconds_of(str(_plain(cell)))
        if found is None:
            raise ValueError(
                f"`{name}` is {cell!r} in row {row + 1} of the data, expected a point in time of the years 1 to 9999."
            )
        seconds[row] = found
    return TimestampArray(seconds)


_READERS: Mapping[ColumnKind, Callable[[str, Sequence[_Value]], Column]] = {
    "number": _numbers,
    "boolean": _booleans,
    "category": _texts,
    "timestamp": _timestamps,
}


def _finite(name: str, values: Raw) -> NDArray[np.float64]:
    numbers = values.astype(np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"`{name}` contains infinity, expected finite numbers.")
    return numbers


def _seconds(name: str, values: Raw) -> NDArray[np.float64]:
    """Return seconds since 1970 UTC; raises ValueError for those outside the years 1 to 9999."""
    unit, ticks = ("ns", 1_000_000_000) if values.dtype.str.endswith("[ns]") else ("us", 1_000_000)
    moments = values.astype(f"datetime64[{unit}]")
    missing = np.isnat(moments)
    whole = np.where(missing, 0, moments.astype(np.int64))
    # Divided in two steps, because float64 can't represent all nanoseconds since 1970.
    seconds = np.where(missing, np.nan, np.floor_divide(whole, ticks) + np.remainder(whole, ticks) / ticks)
    if ((seconds < FIRST_SECOND) | (seconds >= END_SECOND)).any():
        raise ValueError(f"`{name}` has a point in time outside of the years 1 to 9999.")
    return seconds


V = TypeVar("V", FittedSupervised, FittedComponents)

ARRAY_NAME = re.compile("x(0|[1-9][0-9]*)", re.ASCII)

MAX_FAULTS = 5
"""The maximum number of faults of rows in a message."""


class VersionEstimator(BaseEstimator, Generic[V]):
    """An estimator whose fitted state is a version as the service has it."""

    _fitted: V
    _places: dict[str, int]
    """The number of each column by name."""
    _has_all_names: bool
    """True if these are all columns of the table that was learned from, also those that are left out."""
    inputs: Sequence[str] | None
    missing: Missing | None
    missing_values: Sequence[str] | None

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
        vectors : tuple of relevance_bayes.records.functions.RelevanceVector, optional
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

    def push(self, client: "Client", name: str) -> object:
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
    def pull(cls, client: "Client", name: str, version: int | str | None = None) -> Self:
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
            self._check_table(X, table, reset=True)
            self._places = {name: place for place, name in enumerate(names)}
            missing = MissingValues.of(self.missing_values)
            block = {name: table_column(table, name, missing=missing) for name in names}
            if block_rows(block) < 2:
                raise ValueError(f"Expected at least 2 samples, got n_samples = {block_rows(block)}.")
            return block
        finite: bool | str = "allow-nan" if self.missing != "error" else True
        matrix = validate_data(self, X, dtype=np.float64, ensure_all_finite=finite, ensure_min_samples=2)
        names = array_names(matrix.shape[1])
        self._places = {name: place for place, name in enumerate(names)}
        if self.missing_values is not None:
            matrix = MissingValues.of(self.missing_values).without(matrix)
        return NumberBlock(names, matrix)

    def _check_table(self, X: object, table: Table, *, reset: bool) -> None:
        """Note the names and the number of columns, or compare them; only the number where names are no texts."""
        if not isinstance(table, _Renamed):
            validate_data(self, X, skip_check_array=True, reset=reset)
            return
        if reset and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        _check_n_features(self, X, reset=reset)

    def _options(self, block: Block) -> Mapping[str, object]:
        """Return the parameters as members of a request.

        Every column of an array that varies is an input, since an array has no column of row numbers.
        """
        given: dict[str, object] = {**self.get_params(deep=False)}
        given.pop("missing_values")
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
                self._check_table(X, table, reset=False)
            if absent := [name for name in kinds if name not in names]:
                raise ValueError(f"X has no column {', '.join(map(repr, absent))}, from which the model predicts.")
            missing = MissingValues.of(self.missing_values)
            return {name: table_column(table, name, kind, missing) for name, kind in kinds.items()}
        matrix: Array = MissingValues.of(self.missing_values).without(self._predicted_matrix(X))
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
