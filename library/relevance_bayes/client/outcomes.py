"""Calls on outcomes of predictions, what they show over time, and alarms."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass

from relevance_bayes.client.calls import Calls, M, call, listing
from relevance_bayes.client.paths import version_path
from relevance_bayes.records.models import Model
from relevance_bayes.records.outcomes import BucketWidth, ModelAlarm, OutcomeBucket, OutcomesReceived
from relevance_bayes.records.pages import Page
from relevance_bayes.records.values import Label


@dataclass(frozen=True)
class Outcomes(Calls[M]):
    """Outcomes of rows that were predicted with row ids; every method raises ClientError as those of `Client` do."""

    @call
    async def record(self, model: str, share: float) -> Model:
        """Let a model record this share of the predictions with row ids, from 0 to 1; 0 records none."""
        return await self.http.patch(Model, version_path(model, None), {"record": share})

    @call
    async def send(self, model: str, outcomes: Mapping[str, Label]) -> OutcomesReceived:
        """Send the outcomes of at most 10,000 rows by their row ids; the same outcome again changes nothing."""
        body = {"row_ids": list(outcomes), "outcomes": list(outcomes.values())}
        return await self.http.post(OutcomesReceived, f"{version_path(model, None)}/outcomes", body)

    @listing
    def over_time(
        self, model: str, *, version: int | None = None, bucket: BucketWidth = "day"
    ) -> AsyncGenerator[OutcomeBucket, None]:
        """Return coverage and log score, of classes accuracy and log score, by the hour or day of the predictions.

        Newest first, by default of all versions.
        """
        query = {"version": version, "bucket": bucket}
        return self.http.pages(Page[OutcomeBucket], f"{version_path(model, None)}/outcomes", query)

    @listing
    def alarms(self, model: str) -> AsyncGenerator[ModelAlarm, None]:
        """Return the alarms of a model's versions, newest first, with those that were cleared."""
        return self.http.pages(Page[ModelAlarm], f"{version_path(model, None)}/alarms")
