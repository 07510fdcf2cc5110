"""The metrics of jobs and workers, from the database."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from app.database.transaction import Transaction
from app.jobs.queue.dbos_internals import QUEUE, SCORING_QUEUE, lane
from app.jobs.records import SeenWorker
from app.jobs.statistics_repository import BOUNDS, NEVER_STARTED, BacklogRepository, TotalRepository, WorkerRepository
from app.metrics import Family, MetricSample, counter, gauge, sums
from relevance_bayes.records.jobs import FINISHED, NOUNS, UNFINISHED

JOBS = gauge("relevance_jobs", "Jobs that have not ended, by kind and state.", "kind", "state")
QUEUED = gauge("relevance_queue_jobs", "Jobs, or deliveries of webhooks, that wait in a queue.", "queue")
OLDEST = gauge(
    "relevance_queue_oldest_job_age_seconds",
    "Time since the oldest job of a queue was submitted, or the oldest delivery was due; 0 without one.",
    "queue",
)
ENDED = counter("relevance_jobs_ended_total", "Jobs that have ended, by kind and outcome.", "kind", "outcome")
DURATIONS = Family(
    "relevance_job_duration_seconds",
    "histogram",
    "Time from the first start of a job to its end, by kind.",
    ("kind",),
    BOUNDS,
)
WORKERS = gauge(
    "relevance_workers",
    "Worker processes: those with a recent heartbeat are busy or idle, others that have not left are silent.",
    "state",
)
SLOTS = gauge("relevance_worker_slots", "Slots of workers with a recent heartbeat: each runs one fit.", "state")
BUSY = counter(
    "relevance_worker_busy_seconds_total",
    "Time that fits took in the slots of a worker with a recent heartbeat.",
    "worker",
)


def job_metrics(silence_seconds: float) -> Callable[[Transaction], Iterator[MetricSample]]:
    """Return the query of the metrics; a worker is alive until it was silent for `silence_seconds`."""

    def query(tx: Transaction) -> Iterator[MetricSample]:
        yield from _workers(WorkerRepository(tx).seen(within=silence_seconds))
        yield from _backlog(tx)
        yield from _ended(tx)

    return query


def _workers(seen: Sequence[SeenWorker]) -> Iterator[MetricSample]:
    for state in ("busy", "idle", "silent"):
        yield MetricSample(WORKERS, (state,), (sum(worker.state == state for worker in seen),))
    uses = {worker.executor: worker.use for worker in seen if worker.is_alive and worker.use is not None}
    running = sum(use.running for use in uses.values())
    yield MetricSample(SLOTS, ("busy",), (running,))
    yield MetricSample(SLOTS, ("idle",), (sum(use.slots for use in uses.values()) - running,))
    for executor, use in uses.items():
        yield MetricSample(BUSY, (executor,), (use.busy_seconds,))


def _backlog(tx: Transaction) -> Iterator[MetricSample]:
    backlog = BacklogRepository(tx).by_state()
    waiting = dict.fromkeys((QUEUE, SCORING_QUEUE), (0, 0.0))
    for kind in sorted(NOUNS):
        for state in sorted(UNFINISHED):
            number, age = backlog.get((kind, state), (0, 0.0))
            yield MetricSample(JOBS, (kind, state), (number,))
            if state == "queued":
                queue, _ = lane(kind)
                waiting[queue] = waiting[queue][0] + number, max(waiting[queue][1], age)
    for queue, (number, age) in waiting.items():
        yield MetricSample(QUEUED, (queue,), (number,))
        yield MetricSample(OLDEST, (queue,), (age,))


def _ended(tx: Transaction) -> list[MetricSample]:
    found = [MetricSample(ENDED, (kind, state), (0,)) for kind in sorted(NOUNS) for state in sorted(FINISHED)]
    found += [MetricSample(DURATIONS, (kind,), (0,) * DURATIONS.width) for kind in sorted(NOUNS)]
    for (kind, state, bound), total in TotalRepository(tx).all().items():
        found.append(MetricSample(ENDED, (kind, state), (total.jobs,)))
        if bound != NEVER_STARTED:
            numbers = [0.0] * DURATIONS.width
            numbers[bisect_left(BOUNDS, bound)], numbers[-1] = total.jobs, total.seconds
            found.append(MetricSample(DURATIONS, (kind,), tuple(numbers)))
    return sums(found)
