"""The repository of totals of ended jobs, which grow with each end and survive the jobs themselves."""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select

from app.database.changes import insertion
from app.database.transaction import Subscriber, Transaction, on
from app.jobs.records import JobEnded
from app.jobs.tables import JobTotalRow

BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 14400.0, 86400.0)
"""Seconds from its first start to its end that the jobs of each bucket took at most."""

NEVER_STARTED = 0.0
"""The bound of jobs that ended before they were started."""


@dataclass(frozen=True)
class Total:
    """The number of jobs, and the seconds that they took together."""

    jobs: int
    seconds: float


@dataclass(frozen=True)
class TotalRepository:
    """Totals by kind, final state and the bound of the duration."""

    tx: Transaction

    def add(self, ended: JobEnded) -> None:
        """Add a job that has ended."""
        seconds, bound = 0.0, NEVER_STARTED
        if ended.started_at is not None:
            seconds = max(0.0, (ended.at - ended.started_at).total_seconds())
            bound = (*BOUNDS, math.inf)[bisect_left(BOUNDS, seconds)]
        first = insertion(self.tx.session, JobTotalRow).values(
            kind=ended.kind, state=ended.state, bound=bound, jobs=1, seconds=seconds
        )
        self.tx.session.execute(
            first.on_conflict_do_update(
                index_elements=["kind", "state", "bound"],
                set_={"jobs": JobTotalRow.jobs + 1, "seconds": JobTotalRow.seconds + seconds},
            )
        )

    def all(self) -> Mapping[tuple[str, str, float], Total]:
        """Return all totals, by kind, state and bound."""
        row = JobTotalRow
        rows = self.tx.session.execute(select(row.kind, row.state, row.bound, row.jobs, row.seconds))
        return {(one.kind, one.state, one.bound): Total(one.jobs, one.seconds) for one in rows}


def _add(tx: Transaction, ended: JobEnded) -> None:
    TotalRepository(tx).add(ended)


SUBSCRIBERS: tuple[Subscriber, ...] = (on(JobEnded, _add),)
