"""The tables of datasets and their blocks."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base


class DatasetRow(Base):
    """A dataset, an upload (`uploading`), or a deleted dataset whose blocks are being deleted (`deleted`).

    `written_at` is the time of the last write, `stored_bytes` the size of the blocks before
    they are compressed; `columns` are summaries as
    JSON. An image has a `height` and a `width`.
    """

    __tablename__ = "datasets"
    __table_args__ = (
        CheckConstraint("state IN ('deleted', 'ready', 'uploading')", name="state"),
        CheckConstraint(
            "state <> 'ready' OR (rows IS NOT NULL AND digest IS NOT NULL AND columns IS NOT NULL)", name="complete"
        ),
        Index(None, "owner", "id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    owner: Mapped[str]
    name: Mapped[str]
    state: Mapped[str]
    created_at: Mapped[datetime]
    written_at: Mapped[datetime]
    rows: Mapped[int | None] = mapped_column(default=None)
    digest: Mapped[str | None] = mapped_column(default=None)
    columns: Mapped[str | None] = mapped_column(default=None)
    height: Mapped[int | None] = mapped_column(default=None)
    width: Mapped[int | None] = mapped_column(default=None)
    stored_bytes: Mapped[int] = mapped_column(BigInteger, default=0)


class DatasetBlockRow(Base):
    """Consecutive rows of a dataset from `first_row` on; `content` is encoded by the block codec."""

    __tablename__ = "dataset_blocks"
    __table_args__ = (
        UniqueConstraint("dataset_id", "first_row"),
        CheckConstraint("number >= 0 AND first_row >= 0 AND rows > 0", name="counts"),
    )

    dataset_id: Mapped[UUID] = mapped_column(ForeignKey("datasets.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    first_row: Mapped[int]
    rows: Mapped[int]
    content: Mapped[bytes]
