"""Fair claiming: owners take turns, where DBOS would give all free slots to the first owner that it visits."""

from dbos._queue import Queue
from dbos._sys_db import DequeueStopReason, SystemDatabase

from app.jobs.queue.names import QUEUE, SCORING_QUEUE

CLAIM = "start_queued_workflows"
_claim = SystemDatabase.start_queued_workflows


def claim_fairly() -> None:
    """Let the queue's runtime in this process claim one job of each owner at each poll, and not as many as slots allow.

    DBOS visits owners in random order and has no setting for this: a limit for each owner would leave slots empty where
    nobody else waits, and its rate limits count the starts of all workers together.
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
    """Claim as DBOS does, but report all but one of an owner's slots in this process as taken."""
    running, most = partition_local_running_count, queue._partition_worker_concurrency
    if queue.name in {QUEUE, SCORING_QUEUE} and most is not None:
        running = max(running, most - 1)
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
