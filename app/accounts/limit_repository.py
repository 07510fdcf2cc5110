"""The repositories of the limits of owners, and of the demand of processes, by which they divide rates."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import delete, func, select

from app.accounts.tables import OwnerLimitsRow, RateDemandRow
from app.database.base import DatabaseNow, Document, SecondsSince, changed, insertion
from app.database.engine import lock_for_writing
from app.database.transaction import Transaction
from relevance_bayes.records.accounts import LIMIT_NAMES, OwnerLimits

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


ALIVE_SECONDS = 5.0
"""The age above which a demand does not count: its process has ended, or is without the database."""

EXPIRY_SECONDS = 60.0
"""The age at which any process deletes it."""


@dataclass(frozen=True)
class Demand:
    """Requests and predicted rows a second that an owner demands of a process."""

    requests: float = 0.0
    rows: float = 0.0

    def of(self, name: str) -> float:
        """Return the demand of a rate by its name."""
        return self.requests if name == "requests" else self.rows


NO_DEMAND = Demand()


@dataclass(frozen=True)
class DemandRepository:
    """The demand of one process, and of the others."""

    tx: Transaction
    process: UUID

    def exchange(self, demands: Mapping[str, Demand]) -> Mapping[UUID, Mapping[str, Demand]]:
        """Publish the demand of this process by owner, or withdraw all of it, and return that of the others.

        Each of the other processes that has any demand is returned, with that of the same owners.
        """
        row = RateDemandRow
        if not demands:
            changed(self.tx.session, delete(row).where(row.process == self.process))
            return {}
        self._publish(demands)
        changed(self.tx.session, delete(row).where(SecondsSince(row.published_at) > EXPIRY_SECONDS))
        is_recent = SecondsSince(row.published_at) <= ALIVE_SECONDS
        alive = self.tx.session.scalars(select(row.process).where(row.process != self.process, is_recent).distinct())
        found: dict[UUID, dict[str, Demand]] = {process: {} for process in alive}
        mine = select(row.owner).where(row.process == self.process)
        query = select(row.process, row.owner, row.requests, row.rows).where(
            row.process != self.process, row.owner.in_(mine), is_recent
        )
        for process, owner, requests, rows in self.tx.session.execute(query):
            found.setdefault(process, {})[owner] = Demand(requests, rows)
        return found

    def _publish(self, demands: Mapping[str, Demand]) -> None:
        first = insertion(self.tx.session, RateDemandRow).values(published_at=DatabaseNow())
        self.tx.session.execute(
            first.on_conflict_do_update(
                index_elements=["owner", "process"],
                set_={
                    "requests": first.excluded.requests,
                    "rows": first.excluded.rows,
                    "published_at": DatabaseNow(),
                },
            ),
            [
                {"owner": owner, "process": self.process, "requests": demand.requests, "rows": demand.rows}
                for owner, demand in demands.items()
            ],
        )
