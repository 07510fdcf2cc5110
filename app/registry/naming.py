"""Resolution of references to versions, many in few statements."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import func, select, tuple_
from sqlalchemy.orm import Session, aliased

from app.database.transaction import Transaction
from app.registry.tables import ModelAliasRow, ModelRow, ModelVersionRow
from relevance_bayes.records.references import NamedVersion

MAX_AT_ONCE = 200
"""The number of references in one statement."""


def version_ids(tx: Transaction, names: Sequence[NamedVersion]) -> Mapping[NamedVersion, UUID]:
    """Return the versions that references resolve to now; references to nothing are left out."""
    found: dict[NamedVersion, UUID] = {}
    for first in range(0, len(names), MAX_AT_ONCE):
        some = names[first : first + MAX_AT_ONCE]
        found |= _numbered(tx.session, [name for name in some if isinstance(name[2], int)])
        found |= _aliased(tx.session, [name for name in some if isinstance(name[2], str)])
        found |= _newest(tx.session, [name for name in some if name[2] is None])
    return found


def _numbered(session: Session, names: Sequence[NamedVersion]) -> dict[NamedVersion, UUID]:
    if not names:
        return {}
    query = select(ModelRow.owner, ModelRow.name, ModelVersionRow.number, ModelVersionRow.id)
    query = query.join(ModelRow, ModelVersionRow.model_id == ModelRow.id)
    required = tuple_(ModelRow.owner, ModelRow.name, ModelVersionRow.number).in_(names)
    return {(owner, name, number): found for owner, name, number, found in session.execute(query.where(required))}


def _aliased(session: Session, names: Sequence[NamedVersion]) -> dict[NamedVersion, UUID]:
    if not names:
        return {}
    query = select(ModelRow.owner, ModelRow.name, ModelAliasRow.name, ModelAliasRow.version_id)
    query = query.join(ModelRow, ModelAliasRow.model_id == ModelRow.id)
    required = tuple_(ModelRow.owner, ModelRow.name, ModelAliasRow.name).in_(names)
    return {(owner, name, alias): found for owner, name, alias, found in session.execute(query.where(required))}


def _newest(session: Session, names: Sequence[NamedVersion]) -> dict[NamedVersion, UUID]:
    if not names:
        return {}
    others = aliased(ModelVersionRow)
    last = select(func.max(others.number)).where(others.model_id == ModelRow.id).scalar_subquery()
    query = select(ModelRow.owner, ModelRow.name, ModelVersionRow.id)
    query = query.join(ModelRow, ModelVersionRow.model_id == ModelRow.id).where(ModelVersionRow.number == last)
    required = tuple_(ModelRow.owner, ModelRow.name).in_([name[:2] for name in names])
    return {(owner, name, None): found for owner, name, found in session.execute(query.where(required))}


def aliases_of(session: Session, model_ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, int]]:
    """Return the aliases of each model by name, with the numbers of their versions."""
    found: dict[UUID, dict[str, int]] = {model_id: {} for model_id in model_ids}
    pointing = (
        select(ModelAliasRow.model_id, ModelAliasRow.name, ModelVersionRow.number)
        .join(ModelVersionRow, ModelVersionRow.id == ModelAliasRow.version_id)
        .where(ModelAliasRow.model_id.in_(model_ids))
        .order_by(ModelAliasRow.name)
    )
    for model_id, name, number in session.execute(pointing):
        found[model_id][name] = number
    return found
