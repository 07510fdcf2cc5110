"""A fitted version with its document, by which it is pickled."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import TypeAlias

from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.types import Indices
from relevance_bayes.documents import npz
from relevance_bayes.documents.exported import ExportedComponents, ExportedSupervised
from relevance_bayes.documents.writing import document_of
from relevance_bayes.tasks.components.prediction import ComponentsModel
from relevance_bayes.tasks.listing import FunctionLocation, listed, listed_images, places
from relevance_bayes.tasks.supervised.prediction import SupervisedModel
from relevance_bayes.types.functions import RelevanceVector
from relevance_bayes.types.records import Converter, encode

Vectors: TypeAlias = tuple[RelevanceVector, ...]

_VECTORS: Converter[Vectors] = Converter(Vectors)


@dataclass(frozen=True, eq=False)
class SupervisedVersion:
    """A version that predicts numbers or classes, as a `document` in npz, and its functions in the target's units."""

    exported: ExportedSupervised
    document: bytes
    vectors: Vectors

    @classmethod
    def of(cls, exported: ExportedSupervised, vectors: Vectors) -> "SupervisedVersion":
        """Return a version that was trained here."""
        return cls(exported, npz.write(document_of(exported)), _in_units(vectors, exported))

    @classmethod
    def read(cls, document: bytes, vectors: object = None) -> "SupervisedVersion":
        """Return the version in a document; its functions are those of the document where none are given as JSON."""
        exported = npz.read(document)
        if not isinstance(exported, ExportedSupervised):
            raise ValueError(f"Expected a version with a target, got one of the task {exported.report.task}.")
        if vectors is not None:
            return cls(exported, document, _VECTORS.decode(vectors))
        predictor = exported.predictor
        found = places(predictor.learned, predictor.encoding, _locations)
        functions = tuple(listed(predictor.learned, predictor.encoding.target.classes, found))
        return cls(exported, document, _in_units(functions, exported))

    @cached_property
    def model(self) -> SupervisedModel:
        """The factorised model."""
        return SupervisedModel.of(self.exported.predictor, self.exported.report)

    def __reduce__(self) -> tuple[Callable[[bytes, object], "SupervisedVersion"], tuple[bytes, object]]:
        """Return the document, and the functions as JSON."""
        return SupervisedVersion.read, (self.document, encode(self.vectors))


@dataclass(frozen=True, eq=False)
class ComponentsVersion:
    """Components of rows, as a `document` in npz, and the rows that carry them."""

    exported: ExportedComponents
    document: bytes
    vectors: Vectors

    @classmethod
    def of(cls, exported: ExportedComponents, vectors: Vectors) -> "ComponentsVersion":
        """Return a version that was trained here."""
        return cls(exported, npz.write(document_of(exported)), vectors)

    @classmethod
    def read(cls, document: bytes, vectors: object = None) -> "ComponentsVersion":
        """Return the version in a document; its rows are those of the document where none are given as JSON."""
        exported = npz.read(document)
        if not isinstance(exported, ExportedComponents):
            raise ValueError(f"Expected components, got a version of the task {exported.report.task}.")
        if vectors is not None:
            return cls(exported, document, _VECTORS.decode(vectors))
        found = exported.predictor.components
        locations = repeat(FunctionLocation(found.kernel.type), len(found.rows))
        return cls(exported, document, tuple(listed_images(found, locations)))

    @cached_property
    def model(self) -> ComponentsModel:
        """The components."""
        return ComponentsModel(self.exported.predictor)

    def __reduce__(self) -> tuple[Callable[[bytes, object], "ComponentsVersion"], tuple[bytes, object]]:
        """Return the document, and the rows as JSON."""
        return ComponentsVersion.read, (self.document, encode(self.vectors))


def _in_units(functions: Vectors, exported: ExportedSupervised) -> Vectors:
    """Return functions with their weights in the units of the target, those of classes in the latent's."""
    target = exported.predictor.encoding.target
    return functions if target.classes else tuple(one.in_units(target.latent_unit) for one in functions)


def _locations(functions: KernelFunctions, _: Indices) -> Iterator[FunctionLocation]:
    """Yield functions without a row, which the document does not have."""
    return (FunctionLocation(functions.kernel.type) for _ in range(functions.size))
