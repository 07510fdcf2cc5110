"""The time for which an owner's training jobs have run in a day."""

from datetime import UTC, datetime, timedelta
from math import ceil

from app.database.transaction import Transaction
from app.errors import TrainingTimeError
from app.jobs.repository import JobRepository
from app.limits.repository import OwnerLimitsRepository

DAY = timedelta(days=1)


def seconds_of_today(tx: Transaction, owner: str) -> float:
    """Return the seconds for which an owner's training jobs have run since 00:00 UTC.

    A job runs from its first start to its end, those still running until now.
    """
    now = tx.clock()
    began = _midnight(now)
    return sum(
        max(0.0, ((ended_at or now) - max(started_at, began)).total_seconds())
        for started_at, ended_at in JobRepository(tx).training_times(owner, ended_after=began)
    )


def check_training_time(tx: Transaction, owner: str) -> None:
    """Raise TrainingTimeError where an owner's training jobs have run for as long as its limit of a day permits."""
    limit = OwnerLimitsRepository(tx).of(owner).training_seconds_per_day
    if limit is None or seconds_of_today(tx, owner) < limit:
        return
    now = tx.clock()
    raise TrainingTimeError(
        f"Training jobs of this owner have run for {limit:,} seconds since 00:00 UTC, the maximum of a day: "
        "try again tomorrow.",
        retry_after=ceil((_midnight(now) + DAY - now).total_seconds()),
    )


def _midnight(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
