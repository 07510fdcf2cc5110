"""All that is done through private members of DBOS, in one file: another release may change them without notice.

`CHECKED` is the release that each was read in; a test compares it with the installed one.
"""

from collections.abc import Sequence

from dbos import DBOSClient
from dbos._queue import Queue
from dbos._schemas.system_database import SystemSchema
from dbos._sys_db import DequeueStopReason, SystemDatabase

from app.jobs.queue.names import QUEUE, SCORING_QUEUE, VERSION

CHECKED = "3.4"
"""The release of DBOS, major and minor."""

CLAIM = "start_queued_workflows"
_claim = SystemDatabase.start_queued_workflows


def claim_fairly() -> None:
    """Make the engines of this process claim one job of each owner per poll, instead of all that free slots allow.

    The engine visits owners in random order, and would give all free slots to the first. It has no setting for this: a
    limit per owner would leave slots empty where no other owner waits, and its rate limits count the starts of all
    workers together.
    """
    setattr(SystemDatabase, CLAIM, _claim_one)


def _claim_one(
    engine: SystemDatabase,
    queue: Queue,
    executor_id: str,
    app_version: str,
    queue_partition_key: str | None,
    local_running_count: int = 0,
    partition_local_running_count: int = 0,
    *,
    owner_xid: str | None = None,
    is_latest_version: bool | None = None,
) -> tuple[list[str], DequeueStopReason | None]:
    """The engine's claim, with all but one of the owner's slots of this worker counted as taken."""
    running, maximum = partition_local_running_count, queue._partition_worker_concurrency
    if queue.name in {QUEUE, SCORING_QUEUE} and maximum is not None:
        running = max(running, maximum - 1)
    return _claim(
        engine,
        queue,
        executor_id,
        app_version,
        queue_partition_key,
        local_running_count,
        running,
        owner_xid=owner_xid,
        is_latest_version=is_latest_version,
    )


def recover(client: DBOSClient, executors: Sequence[str]) -> None:
    """Put the entries that these executors were running back into the queue; each time counts as a start.

    The public `resume_workflow` would reset the number of starts, and DBOS's own recovery would wait for a lost
    database, so that the worker that calls it would send no heartbeats meanwhile.
    """
    engine = client._sys_db
    for executor in executors:
        for entry in engine.get_pending_workflows(executor, VERSION):
            engine.reenqueue_for_recovery(entry.workflow_id, list(executors), QUEUE)


def verify_migrations(client: DBOSClient) -> None:
    """Raise DBOSInitializationError where the tables of DBOS are missing or of another release."""
    client._sys_db.verify_migrations()


METADATA = SystemSchema.metadata_obj
"""The tables of DBOS."""
