"""The API's schemas of outcomes and alarms."""

from collections import Counter
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.outcomes.records import MAX_OUTCOMES, Alarm
from app.prediction.row_ids import MAX_LENGTH
from relevance_bayes.records import outcomes as records
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.outcomes import BucketWidth
from relevance_bayes.records.references import MAX_NUMBER
from relevance_bayes.records.values import Label

RowId: TypeAlias = Annotated[str, Field(min_length=1, max_length=MAX_LENGTH)]


class OutcomesIn(BaseModel):
    """Outcomes of predicted rows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    row_ids: Annotated[list[RowId], Field(min_length=1, max_length=MAX_OUTCOMES)] = Field(
        description="The row ids of predictions, each once."
    )
    outcomes: Annotated[list[Label], Field(max_length=MAX_OUTCOMES)] = Field(
        description="The value of the target in each of these rows."
    )

    def by_row_id(self) -> dict[str, Label]:
        """Return the values by row id; raises InvalidRequestError for an id that is repeated, and unequal lengths."""
        if len(self.row_ids) != len(self.outcomes):
            detail = f"Expected an outcome for each of {len(self.row_ids)} row ids, got {len(self.outcomes)}."
            raise InvalidRequestError(detail, [Fault(detail, "/outcomes")])
        values = dict(zip(self.row_ids, self.outcomes, strict=True))
        if len(values) < len(self.row_ids):
            twice = next(one for one, count in Counter(self.row_ids).items() if count > 1)
            detail = f"Expected one outcome for each row, got the row id {twice!r} twice."
            raise InvalidRequestError(detail, [Fault(detail, "/row_ids")])
        return values


OUTCOMES_IN: TypeAdapter[OutcomesIn] = TypeAdapter(OutcomesIn)


class BucketsQuery(BaseModel):
    """The query of what outcomes show over time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int | None = Field(None, ge=1, le=MAX_NUMBER, description="Only this version.")
    bucket: BucketWidth = Field("day", description="The time that each item is about, in UTC.")
    limit: int = Field(100, ge=1, le=1000, description="The maximum number of items.")
    after: str | None = Field(None, description="`after` of the previous page; without it, the first page.")


def alarm_record(alarm: Alarm) -> records.ModelAlarm:
    """Return the API's form of an alarm."""
    return records.ModelAlarm(
        id=str(alarm.id),
        model=alarm.model,
        version=alarm.version,
        statistic=alarm.statistic,
        direction=alarm.direction,
        raised_at=alarm.raised_at,
        since=alarm.since,
        outcomes=alarm.outcomes,
        observed=alarm.observed,
        expected=alarm.expected,
        cleared_at=alarm.cleared_at,
    )
