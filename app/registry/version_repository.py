"""Versions as rows: predictors and functions as bytes, and what records of predictions need to know of them.

Predictors are the members of their documents, not compressed, so that bytes can be compared. The value of the frame is
{"format_version": that of the documents, "arrays": their names, sorted, "content": the members `task`, `inputs`,
`target` and `model` with {"array": name} in the place of each array}.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import and_, func, or_, select

from app.database import keyset
from app.database.base import Columns, Document
from app.database.frame import Arrays, Content, Json, UnreadableBytesError, read, write
from app.database.keyset import KeysetPage
from app.database.transaction import Transaction
from app.registry.tables import ModelRow, ModelVersionRow, RelevanceVectorRow
from relevance_bayes.documents.schema import CONTENT, FORMAT_VERSION, Stored, content_of, extract_arrays, predictor_of
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.errors import InvalidRequestError
from relevance_bayes.records.functions import ClassWeight, InputShape, ListedFunction, RelevanceVector
from relevance_bayes.records.json import validate
from relevance_bayes.records.values import Cell
from relevance_bayes.tasks.union import Predictor, VersionReport


def encode_predictor(predictor: Predictor) -> bytes:
    """Return a predictor as bytes: the same bytes for the same predictor."""
    content, arrays = extract_arrays(content_of(predictor))
    value: Json = {"format_version": FORMAT_VERSION, "arrays": sorted(arrays), "content": content}
    return write(Content.VERSION, value, [arrays[name] for name in sorted(arrays)], compressible=False)


def decode_predictor(data: bytes) -> Predictor:
    """Return a predictor from its bytes; raises UnreadableBytesError."""
    value, arrays = read(Content.VERSION, data)
    match value:
        case {"format_version": int(version), "arrays": [*names], "content": content}:
            if version != FORMAT_VERSION:
                raise UnreadableBytesError(f"expected a version of document format {FORMAT_VERSION}, got {version}")
        case _:
            raise UnreadableBytesError("expected the content of a version's document")
    named = {str(name): _array(arrays, number) for number, name in enumerate(names)}
    try:
        return predictor_of(validate(CONTENT, content, arrays=named))
    except KeyError as error:
        raise UnreadableBytesError(f"the array {error} is missing") from error
    except InvalidRequestError as error:
        raise UnreadableBytesError(f"expected the content of a version's document: {error}") from error


def _array(arrays: Arrays, number: int) -> Stored:
    return arrays.real(number) if arrays.dtype(number) == "<f8" else arrays.indices(number)


REPORT = Document(TypeAdapter(VersionReport))
DIAGNOSTICS = Document(TypeAdapter(Diagnostics))
NAMES = Document(TypeAdapter(tuple[str, ...]))
WEIGHTS = Document(TypeAdapter(tuple[ClassWeight, ...]))
SHAPE = Document(TypeAdapter(tuple[InputShape, ...]))
VECTOR = Columns(RelevanceVector)
CELLS: Document[dict[str, Cell]] = Document(TypeAdapter(dict[str, Cell]))


@dataclass(frozen=True)
class VersionRepository:
    """Versions by their ids."""

    tx: Transaction

    def record_shares(self, version_ids: Collection[UUID]) -> dict[UUID, float]:
        """Return the share of predictions to record for each of these versions that exists.

        None of them is deleted until this transaction ends.
        """
        row = ModelVersionRow
        query = select(row.id, ModelRow.record_share).join(ModelRow, ModelRow.id == row.model_id)
        found = self.tx.session.execute(
            query.where(row.id.in_(version_ids)).with_for_update(read=True, key_share=True, of=row)
        )
        return {one.id: one.record_share for one in found}

    def numbers(self, owner: str, model: str) -> dict[UUID, int]:
        """Return the versions of a model with their numbers."""
        row = ModelVersionRow
        query = select(row.id, row.number).join(ModelRow, ModelRow.id == row.model_id)
        found = self.tx.session.execute(query.where(ModelRow.owner == owner, ModelRow.name == model))
        return {one.id: one.number for one in found}

    def names(self, version_ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str, int]]:
        """Return the owner, the model and the number of each of these versions that exists."""
        row = ModelVersionRow
        query = select(row.id, ModelRow.owner, ModelRow.name, row.number).join(ModelRow, ModelRow.id == row.model_id)
        there = (row.id.in_(version_ids), ModelRow.deleted_at.is_(None))
        found = self.tx.session.execute(query.where(*there))
        return {version_id: (owner, model, number) for version_id, owner, model, number in found}


@dataclass(frozen=True)
class VectorRepository:
    """The functions of versions, which are written with their version and never change."""

    tx: Transaction

    def page(
        self, version_id: UUID, *, limit: int, after: str | None, sort: Literal["number", "weight"]
    ) -> KeysetPage[RelevanceVector]:
        """Return a page of functions by number, or by the absolute value of a function's greatest weight, descending.

        Raises InvalidRequestError.
        """
        row = RelevanceVectorRow
        query = select(row).where(row.version_id == version_id).limit(limit + 1)
        if sort == "number":
            if after is not None:
                query = query.where(row.number > keyset.read_number(after))
            found = self.tx.session.scalars(query.order_by(row.number)).all()
            return keyset.page(found, limit, _vector, lambda vector: vector.number)
        size = func.abs(row.weight_mean)
        if after is not None:
            last, last_number = keyset.read_weight(after)
            query = query.where(or_(size < last, and_(size == last, row.number > last_number)))
        found = self.tx.session.scalars(query.order_by(size.desc(), row.number)).all()
        return keyset.page(found, limit, _vector, lambda vector: (abs(vector.weight_mean), vector.number))

    def listed(self, version_id: UUID) -> tuple[ListedFunction, ...]:
        """Return all functions by number, with what an explanation shows of each."""
        row = RelevanceVectorRow
        query = select(row.number, row.kind, row.dataset_row, row.input).where(row.version_id == version_id)
        return tuple(ListedFunction(*found) for found in self.tx.session.execute(query.order_by(row.number)))


def _vector(row: RelevanceVectorRow) -> RelevanceVector:
    return VECTOR.read(
        row,
        row=row.dataset_row,
        inputs=CELLS.read_optional(row.inputs),
        weight_mean=row.weight_mean if row.weight_means is None else None,
        optimised=row.moved,
        weight_means=() if row.weight_means is None else WEIGHTS.read(row.weight_means),
        shape=() if row.shape is None else SHAPE.read(row.shape),
    )
