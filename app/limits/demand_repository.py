"""The repository of the demand of processes, by which they divide the rates of owners."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import delete, select

from app.database.base import DatabaseNow, SecondsSince, changed, insertion
from app.database.transaction import Transaction
from app.limits.tables import RateDemandRow

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
