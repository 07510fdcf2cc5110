"""The repository of what records of predictions need to know of versions, by their ids."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from app.database.transaction import Transaction
from app.registry.tables import ModelRow, ModelVersionRow


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
