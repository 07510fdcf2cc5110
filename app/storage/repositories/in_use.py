"""Checks that unfinished jobs need no resource that is deleted; the caller holds its lock."""

from uuid import UUID

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from app.errors import InUseError
from app.storage.tables import TrainingJobRow

CANCEL = "cancel them or let them end."


def refuse_needed_dataset(session: Session, dataset_id: UUID) -> None:
    """Raises InUseError while an unfinished job reads the dataset."""
    if (jobs := _unfinished(session, TrainingJobRow.dataset_id == dataset_id)) != 0:
        raise InUseError(f"The dataset is needed by unfinished jobs ({jobs}): {CANCEL}")


def refuse_needed_model(session: Session, owner: str, name: str) -> None:
    """Raises InUseError while an unfinished job is about the model."""
    job = TrainingJobRow
    if (jobs := _unfinished(session, job.owner == owner, job.for_model == name)) != 0:
        raise InUseError(f"Unfinished jobs ({jobs}) are to make or to score versions of the model: {CANCEL}")


def refuse_needed_version(session: Session, owner: str, name: str, number: int) -> None:
    """Raises InUseError while an unfinished job scores the version."""
    job = TrainingJobRow
    scoring = or_(job.of_version == number, job.rival_version == number)
    if (jobs := _unfinished(session, job.owner == owner, job.for_model == name, scoring)) != 0:
        raise InUseError(f"Unfinished jobs ({jobs}) score version {number} of model {name!r}: {CANCEL}")


def _unfinished(session: Session, *which: ColumnElement[bool]) -> int:
    return session.scalar(select(func.count()).where(*which, TrainingJobRow.finished_at.is_(None))) or 0
