"""The repository of recorded predictions and of the sums over their outcomes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from uuid import UUID

from sqlalchemy import and_, bindparam, delete, func, or_, select, update

from app.database import keyset
from app.database.base import DatabaseAgo, SecondsSince, changed, insertion
from app.database.keyset import KeysetPage
from app.database.transaction import Transaction
from app.identity import uuid7
from app.outcomes.buckets import SUMS, OutcomeSums
from app.outcomes.records import Pending, RecordedRow, ScoredOutcome
from app.outcomes.tables import OutcomeHourRow, RecordedPredictionRow
from relevance_bayes.records.outcomes import BucketWidth

ROWS_AT_ONCE = 500
"""The rows of one statement: six parameters each, of at most 32,766 on SQLite."""

EXPIRED_AT_ONCE = 1_000


@dataclass(frozen=True)
class RecordedPredictionRepository:
    """Recorded predictions, their outcomes, and sums over these by hour."""

    tx: Transaction

    def add(self, rows: Sequence[RecordedRow]) -> int:
        """Insert rows, of which a version keeps the first with an id; return their number."""
        added, row = 0, RecordedPredictionRow
        for first in range(0, len(rows), ROWS_AT_ONCE):
            values = [{"id": uuid7(), **vars(one)} for one in rows[first : first + ROWS_AT_ONCE]]
            inserted = insertion(self.tx.session, row).values(values)
            kept = inserted.on_conflict_do_nothing(index_elements=[row.version_id, row.row_id]).returning(row.id)
            added += len(self.tx.session.execute(kept).all())
        return added

    def find(self, numbers: Mapping[UUID, int], row_ids: Sequence[str]) -> Iterator[Pending]:
        """Yield the recorded rows of some versions, given with their numbers, that have these ids."""
        row = RecordedPredictionRow
        for first in range(0, len(row_ids), ROWS_AT_ONCE):
            some = row_ids[first : first + ROWS_AT_ONCE]
            query = select(row.id, row.version_id, row.row_id, row.at, row.outcome)
            query = query.where(row.version_id.in_(numbers), row.row_id.in_(some))
            for row_key, version_id, row_id, at, outcome in self.tx.session.execute(query).all():
                yield Pending(row_key, version_id, numbers[version_id], row_id, at, outcome)

    def inputs(self, ids: Sequence[UUID]) -> dict[UUID, str]:
        """Return the inputs, in JSON, of at most `ROWS_AT_ONCE` recorded rows by their ids, of those that are there."""
        row = RecordedPredictionRow
        found = self.tx.session.execute(select(row.id, row.inputs).where(row.id.in_(ids))).all()
        return {one.id: one.inputs for one in found}

    def set_outcomes(self, outcomes: Sequence[tuple[UUID, str]]) -> None:
        """Set the outcomes, in JSON, of recorded rows by their ids."""
        row = RecordedPredictionRow
        mine = update(row).where(row.id == bindparam("recorded_id")).values(outcome=bindparam("given"))
        parameters = [{"recorded_id": one, "given": value} for one, value in outcomes]
        self.tx.session.connection().execute(mine, parameters)

    def count(self, version_id: UUID, scored: Sequence[tuple[datetime, ScoredOutcome]]) -> None:
        """Add outcomes, with the times of their predictions, to the sums of a version."""
        by_hour: dict[datetime, list[ScoredOutcome]] = {}
        for at, one in scored:
            by_hour.setdefault(at.replace(minute=0, second=0, microsecond=0), []).append(one)
        row = OutcomeHourRow
        for hour, some in sorted(by_hour.items()):
            sums = _sums(some)
            first = insertion(self.tx.session, row)
            inserted = first.values(version_id=version_id, hour=hour, day=hour.replace(hour=0), **sums)
            more = {name: getattr(row, name) + getattr(first.excluded, name) for name in sums}
            self.tx.session.execute(
                inserted.on_conflict_do_update(index_elements=[row.version_id, row.hour], set_=more)
            )

    def buckets(
        self, numbers: Mapping[UUID, int], width: BucketWidth, *, limit: int, after: str | None
    ) -> KeysetPage[OutcomeSums]:
        """Return the sums of some versions by hour or day, newest first.

        Raises InvalidRequestError for a bad cursor.
        """
        row = OutcomeHourRow
        start = row.hour if width == "hour" else row.day
        totals = [func.sum(getattr(row, name)) for name in SUMS]
        query = select(row.version_id, start, *totals).where(row.version_id.in_(numbers))
        if after is not None:
            before, version_id = keyset.read_time_and_id(after)
            query = query.where(or_(start < before, and_(start == before, row.version_id < version_id)))
        query = query.group_by(row.version_id, start).order_by(start.desc(), row.version_id.desc()).limit(limit + 1)
        return keyset.page(
            self.tx.session.execute(query).all(),
            limit,
            lambda found: OutcomeSums(numbers[found[0]], *found[1:]),
            lambda found: (found[1].isoformat(), str(found[0])),
        )

    def recent(self, *, seconds: float, limit: int) -> dict[UUID, OutcomeSums]:
        """Return the sums over the outcomes of predictions of the last seconds, of at most `limit` versions."""
        row = OutcomeHourRow
        query = select(row.version_id, func.max(row.hour), *(func.sum(getattr(row, name)) for name in SUMS))
        query = query.where(row.hour > select(DatabaseAgo(seconds)).scalar_subquery()).group_by(row.version_id)
        found = self.tx.session.execute(query.order_by(func.max(row.hour).desc(), row.version_id).limit(limit))
        return {version_id: OutcomeSums(0, *sums) for version_id, *sums in found.all()}

    def remove_expired(self, *, older_than: float) -> bool:
        """Delete some recorded predictions older than so many seconds; return whether there may be more."""
        row = RecordedPredictionRow
        oldest = self.tx.session.execute(
            select(row.id, SecondsSince(row.at)).order_by(row.id).limit(EXPIRED_AT_ONCE)
        ).all()
        expired = [one for one, seconds in oldest if seconds > older_than]
        return bool(expired) and changed(self.tx.session, delete(row).where(row.id.in_(expired))) == EXPIRED_AT_ONCE


def _sums(scored: Sequence[ScoredOutcome]) -> dict[str, float]:
    """Return the sums by the names of their columns."""
    possible = [one for one in scored if isfinite(one.log_score)]
    levels = [one.level for one in scored if one.level is not None]
    return {
        "outcomes": len(scored),
        "excluded": len(scored) - len(possible),
        "log_score": sum(one.log_score for one in possible),
        "expected_log_score": sum(one.expected_log_score for one in possible),
        "inside_50": sum(level <= 50 for level in levels),
        "inside_80": sum(level <= 80 for level in levels),
        "inside_95": sum(level <= 95 for level in levels),
        "correct": sum(one.correct is True for one in scored),
        "confidence": sum(one.confidence or 0.0 for one in scored),
    }
