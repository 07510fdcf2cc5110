"""The repository of the limits of owners."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pydantic import TypeAdapter
from sqlalchemy import delete, func, select

from app.database.base import Document, changed, insertion
from app.database.engine import lock_for_writing
from app.database.transaction import Transaction
from app.limits.tables import OwnerLimitsRow
from relevance_bayes.records.limits import LIMIT_NAMES, OwnerLimits

OWN: Document[dict[str, int | None]] = Document(TypeAdapter(dict[str, int | None]))

LOCK = 7_270_140
"""The first key of PostgreSQL's advisory locks of owners; the second is a hash of the owner."""


@dataclass(frozen=True)
class OwnerLimitsRepository:
    """The limits of owners: those that are set for one, else those of the settings."""

    tx: Transaction

    def locked(self, owner: str) -> OwnerLimits:
        """Return all limits of an owner, and let no other transaction do so until the end of this one.

        What is counted from here on does not change before this transaction has ended.
        """
        connection = self.tx.session.connection()
        lock_for_writing(connection)
        if connection.dialect.name == "postgresql":
            self.tx.session.execute(select(func.pg_advisory_xact_lock(LOCK, func.hashtext(owner))))
        return self.of(owner)

    def own(self, owner: str) -> Mapping[str, int | None]:
        """Return the limits that are set for an owner, by name."""
        found = self.tx.session.scalar(select(OwnerLimitsRow.limits).where(OwnerLimitsRow.owner == owner))
        return {} if found is None else _known(found)

    def of(self, owner: str) -> OwnerLimits:
        """Return all limits of an owner."""
        return replace(self.tx.default_limits, **self.own(owner))

    def all(self) -> Mapping[str, OwnerLimits]:
        """Return all limits of the owners for which some are set."""
        rows = self.tx.session.execute(select(OwnerLimitsRow.owner, OwnerLimitsRow.limits))
        return {owner: replace(self.tx.default_limits, **_known(limits)) for owner, limits in rows}

    def set(self, owner: str, limits: Mapping[str, int | None]) -> None:
        """Set the limits of an owner in place of those that were set before; without any, remove them."""
        if not limits:
            changed(self.tx.session, delete(OwnerLimitsRow).where(OwnerLimitsRow.owner == owner))
            return
        values = {"limits": OWN.write(dict(limits)), "changed_at": self.tx.clock()}
        first = insertion(self.tx.session, OwnerLimitsRow).values(owner=owner, **values)
        self.tx.session.execute(first.on_conflict_do_update(index_elements=["owner"], set_=values))


def _known(stored: str) -> dict[str, int | None]:
    """Return stored limits, without those that another release had."""
    return {name: limit for name, limit in OWN.read(stored).items() if name in LIMIT_NAMES}
