"""The table of workers."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base


class WorkerRow(Base):
    """The last heartbeat of a worker process, by the database's clock, and whether it has left."""

    __tablename__ = "workers"

    executor: Mapped[str] = mapped_column(primary_key=True)
    heartbeat_at: Mapped[datetime]
    left_at: Mapped[datetime | None] = mapped_column(default=None)
