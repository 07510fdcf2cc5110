"""The fit of an estimator: the request, its threads, and the version with its document, by which it is pickled."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import repeat
from pathlib import Path
from sys import maxsize
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Protocol, TypeAlias, TypeVar
from uuid import UUID

import numpy as np
from pydantic import TypeAdapter
from threadpoolctl import ThreadpoolController

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.selection import train
from relevance_bayes.core.types import Indices
from relevance_bayes.documents import schema as npz
from relevance_bayes.documents.reports import ExportedComponents, ExportedSupervised
from relevance_bayes.documents.schema import document_of
from relevance_bayes.records.errors import RelevanceError
from relevance_bayes.records.errors import listed as listed_names
from relevance_bayes.records.functions import RelevanceVector
from relevance_bayes.records.json import encode, validate
from relevance_bayes.records.values import ColumnKind
from relevance_bayes.tables.columns import (
    Block,
    BooleanArray,
    CategoryArray,
    Column,
    IdentifiedTable,
    NumberArray,
    block_rows,
    rows_of_a_block,
    taken,
)
from relevance_bayes.tables.statistics import TableStatistics
from relevance_bayes.tasks.components.report import ComponentsModel
from relevance_bayes.tasks.components.request import ComponentsRequest, plan_components
from relevance_bayes.tasks.components.training import ComponentsTraining, listed_images
from relevance_bayes.tasks.fit import Fit, Fitted, Limits
from relevance_bayes.tasks.listing import BlockHolding, FunctionLocation, expected, listed, places
from relevance_bayes.tasks.rows import Read
from relevance_bayes.tasks.supervised.plan import plan_supervised
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.tasks.supervised.request import SupervisedRequest
from relevance_bayes.tasks.supervised.training import SupervisedTraining

Vectors: TypeAlias = tuple[RelevanceVector, ...]

_VECTORS: TypeAdapter[Vectors] = TypeAdapter(Vectors)


@dataclass(frozen=True, eq=False)
class FittedSupervised:
    """A version that predicts numbers or classes, as a `document` in npz, and its functions in the target's units."""

    exported: ExportedSupervised
    document: bytes
    vectors: Vectors

    @classmethod
    def of(cls, exported: ExportedSupervised, vectors: Vectors) -> "FittedSupervised":
        """Return a version that was trained here."""
        return cls(exported, npz.write(document_of(exported)), _in_units(vectors, exported))

    @classmethod
    def read(cls, document: bytes, vectors: object = None) -> "FittedSupervised":
        """Return the version in a document; its functions are those of the document where none are given as JSON."""
        exported = npz.read(document)
        if not isinstance(exported, ExportedSupervised):
            raise ValueError(f"Expected a version with a target, got one of the task {exported.report.task}.")
        if vectors is not None:
            return cls(exported, document, validate(_VECTORS, vectors))
        predictor = exported.predictor
        found = places(predictor.learned, predictor.encoding, _locations)
        functions = tuple(listed(predictor.learned, predictor.encoding.target.classes, found))
        return cls(exported, document, _in_units(functions, exported))

    @cached_property
    def model(self) -> SupervisedModel:
        """The factorised model."""
        return SupervisedModel.of(self.exported.predictor, self.exported.report)

    def __reduce__(self) -> tuple[Callable[[bytes, object], "FittedSupervised"], tuple[bytes, object]]:
        """Return the document, and the functions as JSON."""
        return FittedSupervised.read, (self.document, encode(self.vectors))


@dataclass(frozen=True, eq=False)
class FittedComponents:
    """Components of rows, as a `document` in npz, and the rows that carry them."""

    exported: ExportedComponents
    document: bytes
    vectors: Vectors

    @classmethod
    def of(cls, exported: ExportedComponents, vectors: Vectors) -> "FittedComponents":
        """Return a version that was trained here."""
        return cls(exported, npz.write(document_of(exported)), vectors)

    @classmethod
    def read(cls, document: bytes, vectors: object = None) -> "FittedComponents":
        """Return the version in a document; its rows are those of the document where none are given as JSON."""
        exported = npz.read(document)
        if not isinstance(exported, ExportedComponents):
            raise ValueError(f"Expected components, got a version of the task {exported.report.task}.")
        if vectors is not None:
            return cls(exported, document, validate(_VECTORS, vectors))
        found = exported.predictor.components
        locations = repeat(FunctionLocation(found.kernel.type), len(found.rows))
        return cls(exported, document, tuple(listed_images(found, locations)))

    @cached_property
    def model(self) -> ComponentsModel:
        """The components."""
        return ComponentsModel(self.exported.predictor)

    def __reduce__(self) -> tuple[Callable[[bytes, object], "FittedComponents"], tuple[bytes, object]]:
        """Return the document, and the rows as JSON."""
        return FittedComponents.read, (self.document, encode(self.vectors))


def _in_units(functions: Vectors, exported: ExportedSupervised) -> Vectors:
    """Return functions with their weights in the units of the target, those of classes in the latent's."""
    target = exported.predictor.encoding.target
    return functions if target.classes else tuple(one.in_units(target.latent_unit) for one in functions)


def _locations(functions: KernelFunctions, _: Indices) -> Iterator[FunctionLocation]:
    """Yield functions without a row, which the document does not have."""
    return (FunctionLocation(functions.kernel.type) for _ in range(functions.size))


V_co = TypeVar("V_co", covariant=True)
V = TypeVar("V")

MODEL, NUMBER = "model", 1
"""The name and the number of a version that no registry has."""

_SUPERVISED: TypeAdapter[SupervisedRequest] = TypeAdapter(SupervisedRequest)
_COMPONENTS: TypeAdapter[ComponentsRequest] = TypeAdapter(ComponentsRequest)


def learn(block: Block, options: Mapping[str, object]) -> tuple[ExportedSupervised, Vectors]:
    """Return the version that a table's rows give by the `options`, members of a request, and its functions.

    Raises ValueError.
    """
    with refusals():
        table = _identified(block)
        plan = plan_supervised(validate(_SUPERVISED, _request(options, table)), table)
        found = _version(
            block, lambda read, folder: SupervisedTraining.prepare(plan, table, read, folder, max_cells=maxsize)
        )
    return ExportedSupervised(MODEL, NUMBER, datetime.now(UTC), found.report, found.predictor), found.vectors


def learn_components(block: Block, options: Mapping[str, object]) -> tuple[ExportedComponents, Vectors]:
    """Return the components of a table's rows by the `options`, members of a request, and the rows that carry them.

    Raises ValueError.
    """
    with refusals():
        table = _identified(block)
        plan = plan_components(validate(_COMPONENTS, _request(options, table)), table)
        found = _version(
            block, lambda read, folder: ComponentsTraining.prepare(plan, table, read, folder, max_cells=maxsize)
        )
    return ExportedComponents(MODEL, NUMBER, datetime.now(UTC), found.report, found.predictor), found.vectors


@contextmanager
def refusals() -> Iterator[None]:
    """Raise the library's errors as ValueError, with all faults, as scikit-learn expects them."""
    try:
        yield
    except RelevanceError as error:
        raise ValueError(listed_names(error.detail, error.faults)) from error
    except SparseBayesError as error:
        raise ValueError(str(error)) from error


class _Training(Protocol[V_co]):
    """A plan with the file of its rows."""

    @property
    def fit(self) -> Fit:
        """Return the fit."""

    def version(self, result: object, *, seconds: float, holding: BlockHolding) -> V_co:
        """Return the version of its result."""


def _version(block: Block, prepare: Callable[[Read, Path], _Training[V]]) -> V:
    began = perf_counter()
    with one_blas_thread(), TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        training = prepare(lambda: blocks_of(block), Path(folder))
        *_, last = training.fit.steps(train, Limits(), FitLog())
        result = expected(last, Fitted).result
        return training.version(result, seconds=perf_counter() - began, holding=lambda _: (0, block))


def blocks_of(block: Block) -> Iterator[tuple[int, Block]]:
    """Yield the blocks in which the service stores such a table, each with the number of its first row.

    The last digits of means depend on the division.
    """
    size = rows_of_a_block(len(block))
    for first in range(0, block_rows(block), size):
        yield first, {name: taken(column, slice(first, first + size)) for name, column in block.items()}


def _request(options: Mapping[str, object], table: IdentifiedTable) -> dict[str, object]:
    """Return the request as plain JSON; options that are records become their members."""
    given = {name: encode(_without_numpy(value)) for name, value in options.items() if value is not None}
    return {**given, "dataset_id": str(table.id), "model": MODEL}


def _without_numpy(value: object) -> object:
    """Return an option with numbers and lists of Python in place of those of numpy, as searches generate them."""
    match value:
        case np.generic() | np.ndarray():
            found: object = value.tolist()
            return found
        case dict():
            return {name: _without_numpy(one) for name, one in value.items()}
        case list() | tuple():
            return [_without_numpy(one) for one in value]
        case _:
            return value


def _identified(block: Block) -> IdentifiedTable:
    """Return the summary of a table; its id follows from its content."""
    seen = TableStatistics([*block], [kind_of(column) for column in block.values()])
    for _, some in blocks_of(block):
        seen.add(some)
    digest = seen.digest()
    return IdentifiedTable(MODEL, block_rows(block), seen.summaries(), id=UUID(digest[:32]), digest=digest)


def kind_of(column: Column) -> ColumnKind:
    """Return the kind of a column."""
    match column:
        case NumberArray():
            return "number"
        case BooleanArray():
            return "boolean"
        case CategoryArray():
            return "category"
        case _:
            return "timestamp"


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS has one thread, as in the service's workers.

    Threads of BLAS wait for each other by spinning, which on busy cores takes far longer than the computation, and
    the last digits of products depend on their number.
    """
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> ThreadpoolController:
    """Return the libraries that are loaded, whose search takes milliseconds."""
    return ThreadpoolController()
