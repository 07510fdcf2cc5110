"""Fakes of the port `Queue`."""

from uuid import UUID

from sqlalchemy import Connection, text

from relevance_bayes.types.jobs import JobKind


class ListedQueue:
    """Keeps what was submitted in a table of the same database, so that it shares the transaction's fate."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def submit(self, job_id: UUID, *, owner: str, kind: JobKind = "training", priority: int = 0) -> None:
        self._connection.execute(text("CREATE TABLE IF NOT EXISTS submitted (job_id TEXT, owner TEXT)"))
        self._connection.execute(
            text("INSERT INTO submitted VALUES (:job_id, :owner)"), {"job_id": str(job_id), "owner": owner}
        )

    def deliver(self, entry: UUID, *, webhook_id: UUID, delay: float) -> None:
        self._connection.execute(
            text("CREATE TABLE IF NOT EXISTS attempts (entry TEXT, webhook_id TEXT, delay DOUBLE PRECISION)")
        )
        self._connection.execute(
            text("INSERT INTO attempts VALUES (:entry, :webhook_id, :delay)"),
            {"entry": str(entry), "webhook_id": str(webhook_id), "delay": delay},
        )
