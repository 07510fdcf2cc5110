"""Retention of the queue's ended entries, which DBOS never deletes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dbos import DBOSClient

from app.jobs.queue.client import ENDINGS
from app.jobs.queue.failures import translated
from app.jobs.queue.names import SCORING_WORKFLOW, WEBHOOK_WORKFLOW, WORKFLOW


@dataclass(frozen=True)
class EndedEntries:
    """Ended entries of DBOS."""

    client: DBOSClient

    def ended(self, *, before: datetime, skip: int, limit: int) -> Sequence[UUID]:
        """Return entries that ended before a time, oldest first, without the first `skip`; raises UnavailableError."""
        then = before.isoformat()
        with translated():
            found = self.client.list_workflows(
                name=[WORKFLOW, SCORING_WORKFLOW, WEBHOOK_WORKFLOW],
                status=list(ENDINGS),
                end_time=then,  # the index is on the start, which precedes the end
                completed_before=then,
                offset=skip,
                limit=limit,
                load_input=False,
                load_output=False,
            )
        return [UUID(status.workflow_id) for status in found]

    def forget(self, entries: Sequence[UUID]) -> None:
        """Delete these entries with all that belongs to them, in one transaction; raises UnavailableError."""
        with translated():
            self.client.delete_workflows([str(entry) for entry in entries])
