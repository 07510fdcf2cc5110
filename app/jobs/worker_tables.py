"""Workers."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base


class WorkerRow(Base):
    """When a worker process was last heard of, by the database's clock, and whether it handed its work back."""

    __tablename__ = "workers"

    executor: Mapped[str] = mapped_column(primary_key=True)
    beat_at: Mapped[datetime]
    left_at: Mapped[datetime | None] = mapped_column(default=None)
