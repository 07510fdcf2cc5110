"""The cost of a worker's death: the time until its job goes on, and the repeated computation."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime

from benchmarks.jobs import requests
from benchmarks.jobs.cells import Cells, range_of
from benchmarks.jobs.deployment import WORKER_BEGINS, Deploy
from benchmarks.options import Options
from relevance_bayes.client import Client, connect
from relevance_bayes.client.responses import Job

LOOK_SECONDS = 0.05

AS_SHIPPED: Mapping[str, float] = {}
SHORT: Mapping[str, float] = {"heartbeat_interval_seconds": 0.5, "heartbeat_timeout_seconds": 2.0, "poll_seconds": 0.1}

MAY_JUDGE, MAY_JUDGE_SHORT = 16.0, 6.0
"""Seconds after its start in which a worker has come to beat for long enough to call others dead."""


def dying(deploy: Deploy, options: Options) -> Cells:
    """Workers that are killed as they compute."""
    times = 1 if options.quick else 3
    repeated = _repeated(deploy, times, rows=300 if options.quick else requests.MANY_ROWS)
    return {
        "kill -9 to the next start, a survivor": range_of(_survivor(deploy, times, AS_SHIPPED, MAY_JUDGE)),
        "the same, started again alone": range_of(_alone(deploy, times, AS_SHIPPED)),
        "the same, beats of 0.5 s, silence of 2 s, a survivor": range_of(
            _survivor(deploy, times, SHORT, MAY_JUDGE_SHORT)
        ),
        "the same, beats of 0.5 s, silence of 2 s, alone": range_of(_alone(deploy, times, SHORT)),
        "computed again after a kill halfway": range_of(repeated),
    }


def _survivor(deploy: Deploy, times: int, settings: Mapping[str, float], may_judge: float) -> list[float]:
    """From a kill to the start by a worker that has been there for a while."""
    seconds = []
    with deploy() as deployment, connect(deployment.api()) as calls:
        holder = deployment.worker(**settings)
        for _ in range(times):
            job = calls.trainings.submit(requests.endless(calls))
            _starts(calls, job, 1)
            survivor = deployment.worker(**settings)
            time.sleep(may_judge)
            holder.kill()
            killed = datetime.now(UTC)
            seconds.append((_starts(calls, job, 2)[1] - killed).total_seconds())
            calls.trainings.cancel(job.id)
            calls.trainings.wait(job.id)
            holder = survivor
    return seconds


def _alone(deploy: Deploy, times: int, settings: Mapping[str, float]) -> list[float]:
    """From a kill to the start by a worker that is started at once, and is the only one."""
    seconds = []
    with deploy() as deployment, connect(deployment.api()) as calls:
        for _ in range(times):
            worker = deployment.worker(**settings)
            job = calls.trainings.submit(requests.endless(calls))
            _starts(calls, job, 1)
            time.sleep(WORKER_BEGINS)
            worker.kill()
            killed = datetime.now(UTC)
            worker = deployment.worker(**settings)
            seconds.append((_starts(calls, job, 2)[1] - killed).total_seconds())
            calls.trainings.cancel(job.id)
            calls.trainings.wait(job.id)
            worker.kill()
    return seconds


def _repeated(deploy: Deploy, times: int, *, rows: int) -> list[float]:
    """Seconds of both starts of a fit whose worker is killed halfway, above those of the unbroken run."""
    again = []
    with deploy() as deployment, connect(deployment.api()) as calls:
        request = requests.long(calls, rows=rows)
        holder = deployment.worker(**SHORT)
        time.sleep(WORKER_BEGINS)
        unbroken = _seconds(calls.trainings.wait(calls.trainings.submit(request).id))
        for _ in range(times):
            time.sleep(WORKER_BEGINS)
            job = calls.trainings.submit(request)
            (began,) = _starts(calls, job, 1)
            survivor = deployment.worker(**SHORT)
            time.sleep(max(0.0, unbroken / 2 - (datetime.now(UTC) - began).total_seconds()))
            holder.kill()
            before = (datetime.now(UTC) - began).total_seconds()
            ended = calls.trainings.wait(job.id)
            again.append(before + _seconds(ended) - unbroken)
            holder = survivor
    return again


def _starts(calls: Client, job: Job, number: int) -> list[datetime]:
    """When the job's starts were, once there are so many; raises RuntimeError where it ends before that."""
    while True:
        job = calls.trainings.get(job.id)
        starts = [move.at for move in job.transitions if move.state == "running"]
        if len(starts) >= number:
            return starts
        if job.finished_at is not None:
            raise RuntimeError(f"the job ended as {job.state} after {len(starts)} starts")
        time.sleep(LOOK_SECONDS)


def _seconds(job: Job) -> float:
    """From the last start to the end."""
    started = max(move.at for move in job.transitions if move.state == "running")
    if job.finished_at is None or job.state != "succeeded":
        raise RuntimeError(f"the job ended as {job.state}: {job.error}")
    return (job.finished_at - started).total_seconds()
