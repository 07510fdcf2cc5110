"""A version's inputs and outputs as tensors.

A version with only numeric inputs has one input tensor, a matrix of its columns in their order; a tensor for each
column is accepted too. Any other version has a tensor for each column: numbers FP64, booleans BOOL, texts and times
BYTES.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from app.errors import MalformedBodyError
from app.formats.cells import JSON
from app.formats.json_table import ByColumn, RawTable, has_column, typed_block
from app.http.dependencies import Services
from app.inference.tensors import TEXT, Tensor
from app.prediction import PredictRequest, ServedVersion, predict
from app.prediction.served_versions import ServedVersions
from app.registry.catalogue import Catalogue
from relevance_bayes.core.types import Array
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.models import Reference
from relevance_bayes.records.values import ColumnKind, Label
from relevance_bayes.tables.columns import Block, Labels, NumberBlock, no_rows
from relevance_bayes.tasks.prediction import Probabilities, RowPredictions

NUMBER = "FP64"
ANY_NUMBER = -1
"""A length that depends on the request."""

_DATATYPES: Mapping[ColumnKind, str] = {"number": NUMBER, "boolean": "BOOL", "category": TEXT, "timestamp": TEXT}
_MATRIX = "input"
_NOTHING: "Parameters" = {}

Parameters: TypeAlias = Mapping[str, JSON]
Output: TypeAlias = tuple[Tensor, Parameters]
"""A tensor and its parameters."""


@dataclass(frozen=True)
class Kind:
    """The metadata of a tensor."""

    name: str
    datatype: str
    shape: tuple[int, ...]
    parameters: Parameters = field(default_factory=dict)


def inputs_of(served: ServedVersion) -> tuple[Kind, ...]:
    """Return the input tensors of a version."""
    names = served.number_names
    if names:
        return (Kind(matrix_name(names), NUMBER, (ANY_NUMBER, len(names)), {"columns": list(names)}),)
    return tuple(Kind(name, _DATATYPES[kind], (ANY_NUMBER,)) for name, kind in served.columns)


def matrix_name(columns: Sequence[str]) -> str:
    """Return a name for the matrix of all columns that no column has."""
    name = _MATRIX
    while name in columns:
        name += "_"
    return name


def outputs_of(served: ServedVersion) -> tuple[Kind, ...]:
    """Return the output tensors of a version."""
    of_no_rows = predict(served, PredictRequest(no_rows(served.columns)))
    return tuple(
        Kind(tensor.name, tensor.datatype, (ANY_NUMBER, *tensor.shape[1:]), reported)
        for tensor, reported in tensors_of(of_no_rows).values()
    )


def block_of(served: ServedVersion, tensors: Sequence[Tensor]) -> tuple[Block, tuple[Fault, ...]]:
    """Return the rows in tensors, and the faults of cells that do not fit.

    Raises MalformedBodyError for tensors of another shape or type, InvalidDataError for other columns.
    """
    names = served.number_names
    if names and len(tensors) == 1 and tensors[0].name == matrix_name(names):
        return NumberBlock(names, _matrix(tensors[0], len(names))), ()
    kinds = dict(served.columns)
    if (noise := served.model.noise_column) is not None:
        kinds[noise] = "number"
    raw = RawTable(ByColumn({tensor.name: _cells(tensor, kinds.get(tensor.name)) for tensor in tensors}), {})
    columns = served.columns
    if noise is not None and has_column(raw, noise):
        columns = (*columns, (noise, "number"))
    return typed_block(raw, columns, not_read=served.not_read)


def _matrix(tensor: Tensor, columns: int) -> Array:
    """Return a matrix of numbers; one column may lack its axis."""
    shape = (*tensor.shape, 1) if columns == len(tensor.shape) == 1 else tensor.shape
    if len(shape) != 2 or shape[1] != columns:
        raise MalformedBodyError(f"Tensor {tensor.name!r}: expected shape [-1, {columns}], got {list(tensor.shape)}.")
    return _numbers(tensor).reshape(shape)


def _numbers(tensor: Tensor) -> Array:
    values = tensor.values
    if isinstance(values, tuple) or values.dtype.kind == "b":
        raise MalformedBodyError(f"Tensor {tensor.name!r}: expected {NUMBER}, or other numbers, got {tensor.datatype}.")
    return values.astype(np.float64, copy=False)


def _cells(tensor: Tensor, kind: ColumnKind | None) -> list[JSON]:
    """Return a column's cells, NaN as missing."""
    if len(tensor.shape) > 2 or tensor.shape[1:] not in {(), (1,)}:
        raise MalformedBodyError(f"Tensor {tensor.name!r}: expected shape [-1] or [-1, 1], got {list(tensor.shape)}.")
    if kind == "number":
        return [None if cell != cell else cell for cell in _numbers(tensor).tolist()]
    if kind is not None and tensor.datatype != _DATATYPES[kind]:
        raise MalformedBodyError(f"Tensor {tensor.name!r}: expected {_DATATYPES[kind]}, got {tensor.datatype}.")
    return [*tensor.values] if isinstance(tensor.values, tuple) else tensor.values.tolist()


def tensors_of(prediction: RowPredictions, names: Sequence[str] | None = None) -> Mapping[str, Output]:
    """Return the outputs for N rows by name: all of them, or those in `names` that exist."""
    found = prediction.arrays()
    chosen = found if names is None else (name for name in names if name in found)
    return {name: _tensor(name, found[name]) for name in chosen}


def _tensor(name: str, values: Array | Labels | Probabilities) -> Output:
    if isinstance(values, np.ndarray):  # checked first, since most outputs are arrays
        return Tensor(name, NUMBER, values.shape, values if values.ndim == 1 else values.ravel()), _NOTHING
    if isinstance(values, Labels):
        return _labels(name, values), _NOTHING
    shares = values.probabilities
    return Tensor(name, NUMBER, shares.shape, shares.ravel()), {"classes": [*values.classes]}


def _labels(name: str, labels: Labels) -> Tensor:
    """Return the most probable class of each row, in the type of the training classes."""
    classes, places = labels.classes, labels.places
    kinds = {*map(type, classes)}
    if kinds == {bool}:
        return Tensor(name, "BOOL", places.shape, np.array(classes, np.bool_)[places])
    if kinds == {int}:
        return Tensor(name, "INT64", places.shape, np.array(classes, np.int64)[places])
    if kinds <= {int, float}:
        return Tensor(name, NUMBER, places.shape, np.array(classes, np.float64)[places])
    texts: Sequence[Label] = [classes[place] for place in places.tolist()]
    return Tensor(name, TEXT, places.shape, tuple(map(str, texts)))


EXTENSIONS = ("binary_tensor_data", "model_repository", "statistics", "parameters")
PLATFORM = "relevance_sparse_bayes"
SERVER = "relevance"


@dataclass(frozen=True)
class InferenceMetadata:
    """A model's name and versions, including aliases, and the tensors of the requested version."""

    name: str
    versions: tuple[str, ...]
    inputs: tuple[Kind, ...]
    outputs: tuple[Kind, ...]


def described(services: Services, owner: str, reference: Reference) -> InferenceMetadata:
    """Return the metadata of a model; raises NotFoundError."""
    served = services[ServedVersions].version(owner, *reference)
    names = services[Catalogue].names(owner, reference.model)
    return InferenceMetadata(
        reference.model, tuple(str(one.version) for one in names), inputs_of(served), outputs_of(served)
    )
