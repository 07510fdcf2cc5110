"""The repository of API processes and their heartbeats."""

from dataclasses import dataclass

from sqlalchemy import delete

from app import __version__
from app.database.base import DatabaseNow, SecondsSince, changed, insertion
from app.database.revision import EXPECTED
from app.database.transaction import Transaction
from app.http.tables import ApiProcessRow


@dataclass(frozen=True)
class ApiProcessRepository:
    """Heartbeats of API processes, by the database's clock."""

    tx: Transaction

    def record_heartbeat(self, process: str, *, forget_seconds: float) -> None:
        """Record a heartbeat with the release of this program, and remove those that are so many seconds old, whose
        processes have died."""
        row = ApiProcessRow
        first = insertion(self.tx.session, row).values(
            process=process, heartbeat_at=DatabaseNow(), release=__version__, revision=EXPECTED
        )
        self.tx.session.execute(
            first.on_conflict_do_update(index_elements=["process"], set_={"heartbeat_at": DatabaseNow()})
        )
        changed(self.tx.session, delete(row).where(SecondsSince(row.heartbeat_at) > forget_seconds))

    def remove(self, process: str) -> None:
        """Remove the heartbeat of a process that ends."""
        changed(self.tx.session, delete(ApiProcessRow).where(ApiProcessRow.process == process))
