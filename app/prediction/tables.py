"""The files that batch predictions make."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base


class PredictionResultRow(Base):
    """The progress of a job's result: `rows` of it, of which `faulty` hold no prediction, are written in `size` bytes.

    `averaged` of them are averages over the known categories. So far it came by an `attempt`, `at` a time, by a
    program. `whole`: the file is there, of `size` bytes.
    """

    __tablename__ = "prediction_results"
    __table_args__ = (CheckConstraint("rows >= 0 AND faulty >= 0 AND size >= 0", name="counts"),)

    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    attempt: Mapped[int]
    at: Mapped[datetime]
    by: Mapped[str]
    rows: Mapped[int] = mapped_column(default=0)
    faulty: Mapped[int] = mapped_column(default=0)
    averaged: Mapped[int] = mapped_column(default=0)
    size: Mapped[int] = mapped_column(BigInteger, default=0)
    whole: Mapped[bool] = mapped_column(default=False)


class PredictionPieceRow(Base):
    """Some consecutive bytes of a result, from `first_byte` on: of the file, or of rows that it is to be made of."""

    __tablename__ = "prediction_pieces"
    __table_args__ = (
        CheckConstraint("layer IN ('file', 'rows')", name="layer"),
        CheckConstraint("first_byte >= 0", name="counts"),
    )

    job_id: Mapped[UUID] = mapped_column(ForeignKey("prediction_results.job_id", ondelete="CASCADE"), primary_key=True)
    layer: Mapped[str] = mapped_column(primary_key=True)
    first_byte: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    content: Mapped[bytes]
