"""The repository of the functions of versions: relevance vectors and others."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sqlalchemy import and_, func, or_, select

from app.database import keyset
from app.database.keyset import KeysetPage
from app.database.transaction import Transaction
from app.registry.tables import RelevanceVectorRow
from app.registry.version_codec import CELLS, SHAPE, VECTOR, WEIGHTS
from relevance_bayes.records.functions import ListedFunction, RelevanceVector


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
