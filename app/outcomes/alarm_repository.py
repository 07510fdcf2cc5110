"""The repository of the charts of versions and of their alarms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import exists, func, select, text, update

from app.database import keyset
from app.database.base import Columns, changed, insertion
from app.database.keyset import KeysetPage, PageRequest
from app.database.transaction import Transaction
from app.outcomes.charts import Chart
from app.outcomes.records import AlarmCleared, AlarmRaised
from app.outcomes.tables import OPEN, STATISTIC, ModelAlarmRow, OutcomeChartRow, RecordedPredictionRow
from app.registry.version_repository import VersionRepository
from relevance_bayes.records.outcomes import ModelAlarm, Statistic

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
