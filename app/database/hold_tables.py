"""The table of holds: the resources that unfinished jobs need."""

from typing import Literal, get_args
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.database.base import Base, one_of

Held = Literal["dataset", "model", "version"]


class JobHoldRow(Base):
    """A dataset, a model or a version that can't be deleted while an unfinished job needs it.

    `resource` is the id of a dataset or a version, or the name of a model, which need not exist yet.
    """

    __tablename__ = "job_holds"
    __table_args__ = (
        CheckConstraint(one_of("kind", frozenset(get_args(Held))), name="kind"),
        Index(None, "owner", "kind", "resource"),
    )

    job_id: Mapped[UUID] = mapped_column(ForeignKey("training_jobs.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    resource: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]
