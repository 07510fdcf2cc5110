"""Fakes of the port `Recovery`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from app.jobs.records import QueueOutcome


@dataclass
class FixedRecovery:
    """Returns given states, and keeps the ids that it was to recover."""

    holding: set[str] = field(default_factory=set)
    ended: dict[UUID, QueueOutcome] = field(default_factory=dict)
    recovered: list[str] = field(default_factory=list)

    def holders(self) -> frozenset[str]:
        return frozenset(self.holding)

    def recover(self, executors: Sequence[str]) -> None:
        self.recovered += executors
        self.holding -= set(executors)

    def endings(self, job_ids: Sequence[UUID]) -> Mapping[UUID, QueueOutcome]:
        return {job_id: self.ended[job_id] for job_id in job_ids if job_id in self.ended}
