"""The repositories of recorded predictions, of the sums over their outcomes, and of charts and alarms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from uuid import UUID

from sqlalchemy import and_, bindparam, delete, exists, func, or_, select, text, update

from app.database import keyset
from app.database.base import Columns, DatabaseAgo, SecondsSince, changed, insertion
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import Transaction
from app.identity import uuid7
from app.outcomes.charts import SUMS, Chart, OutcomeSums
from app.outcomes.records import AlarmCleared, AlarmRaised, Pending, RecordedRow, ScoredOutcome
from app.outcomes.tables import OPEN, STATISTIC, ModelAlarmRow, OutcomeChartRow, OutcomeHourRow, RecordedPredictionRow
from app.registry.version_repository import VersionRepository
from relevance_bayes.records.outcomes import BucketWidth, ModelAlarm, Statistic

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


ALARM = Columns(ModelAlarm)
CHART = Columns(Chart)


@dataclass(frozen=True)
class AlarmRepository:
    """Charts, and the alarms that they raise; each alarm is published once raised, and once cleared."""

    tx: Transaction

    def charts(self, version_id: UUID) -> tuple[Chart, ...]:
        """Return the charts of a version that are not at their beginning, or have an alarm."""
        row = OutcomeChartRow
        query = select(row).where(row.version_id == version_id).execution_options(populate_existing=True)
        return tuple(map(CHART.read, self.tx.session.scalars(query)))

    def save(self, version_id: UUID, charts: Sequence[Chart]) -> None:
        """Replace charts of a version."""
        row = OutcomeChartRow
        for chart in charts:
            values = CHART.values(row, chart)
            first = insertion(self.tx.session, row).values(version_id=version_id, **values)
            key = [row.version_id, row.statistic, row.direction]
            self.tx.session.execute(first.on_conflict_do_update(index_elements=key, set_=values))

    def begin(self, owner: str, version_id: UUID, chart: Chart) -> None:
        """Raise the alarm of a chart, and publish that."""
        at = self.tx.clock()
        assert chart.alarm_id is not None
        self.tx.session.add(
            ModelAlarmRow(
                id=chart.alarm_id,
                version_id=version_id,
                statistic=chart.statistic,
                direction=chart.direction,
                raised_at=at,
                since=chart.since or at,
                outcomes=chart.outcomes,
                observed=chart.observed / chart.outcomes,
                expected=chart.expected / chart.outcomes,
            )
        )
        self.tx.session.flush()
        self.tx.publish(AlarmRaised(chart.alarm_id, owner))

    def clear(self, owner: str, alarm_id: UUID) -> None:
        """Clear an alarm, and publish that."""
        row = ModelAlarmRow
        mine = update(row).where(row.id == alarm_id, row.cleared_at.is_(None))
        if changed(self.tx.session, mine.values(cleared_at=self.tx.clock())):
            self.tx.publish(AlarmCleared(alarm_id, owner))

    def page(self, numbers: Mapping[UUID, int], model: str, part: PageRequest) -> KeysetPage[ModelAlarm]:
        """Return a page of the alarms of a model's versions, given with their numbers."""
        row = ModelAlarmRow
        query = select(row).where(row.version_id.in_(numbers)).execution_options(populate_existing=True)
        rows = self.tx.session.scalars(keyset.by_age(query, row.id, part, keyset.read_id)).all()
        return keyset.page(
            rows,
            part.limit,
            lambda found: _alarm(found, model, numbers[found.version_id]),
            lambda found: found.id,
        )

    def find(self, alarm_id: UUID) -> ModelAlarm | None:
        """Return an alarm, or None."""
        row = ModelAlarmRow
        found = self.tx.session.scalar(select(row).where(row.id == alarm_id).execution_options(populate_existing=True))
        if found is None:
            return None
        _, model, number = VersionRepository(self.tx).names([found.version_id])[found.version_id]
        return _alarm(found, model, number)

    def raised(self, *, limit: int) -> Mapping[tuple[UUID, Statistic], int]:
        """Return the numbers of raised alarms by version and statistic, of the `limit` newest of these.

        Those of versions without recorded predictions, which can't be cleared any more, are left out.
        """
        row = ModelAlarmRow
        has_rows = exists().where(RecordedPredictionRow.version_id == row.version_id)
        query = select(row.version_id, row.statistic, func.count()).where(text(OPEN), has_rows)
        query = query.group_by(row.version_id, row.statistic).order_by(func.max(row.raised_at).desc())
        found = self.tx.session.execute(query.limit(limit)).all()
        return {(version_id, STATISTIC.validate_python(name)): n for version_id, name, n in found}


def _alarm(row: ModelAlarmRow, model: str, number: int) -> ModelAlarm:
    return ALARM.read(row, id=str(row.id), model=model, version=number)
