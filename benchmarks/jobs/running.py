"""The time of a job beside its fit, and the delay of its events."""

import time
from datetime import UTC, datetime

from benchmarks.jobs import requests
from benchmarks.jobs.cells import Cells, milliseconds, typical
from benchmarks.jobs.deployment import WORKER_BEGINS, Deploy
from benchmarks.options import Options
from relevance_bayes.client import Client, connect
from relevance_bayes.client.drivers import Query, finished
from relevance_bayes.client.responses import Job, TrainingJob
from relevance_bayes.records.json import Page

PAUSE_SECONDS = 2.5
"""Between one job and the next, so that a child is ready for it."""

LOOK_SECONDS = 0.5


def running(deploy: Deploy, options: Options) -> Cells:
    """One worker as shipped: empty fits now and then, one after another; the events of fits of some seconds."""
    now_and_then, in_a_row, followed = (5, 15, 1) if options.quick else (20, 60, 4)
    with deploy() as deployment, connect(deployment.api()) as calls:
        request, longer = requests.empty(calls), requests.long(calls, rows=300)
        deployment.worker()
        time.sleep(WORKER_BEGINS)
        jobs = []
        for _ in range(now_and_then):
            time.sleep(PAUSE_SECONDS)
            jobs.append(calls.trainings.wait(calls.trainings.submit(request).id))
        for _ in range(in_a_row):
            calls.trainings.submit(request)
        seconds = seconds_for_each(calls, in_a_row, before=now_and_then)
        event_delays = [late for _ in range(followed) for late in _lateness(calls, calls.trainings.submit(longer).id)]
        begun = [_first_progress(calls, job) for job in jobs]
    return {
        "submit to first progress": typical(begun),
        "submit to end, a child being ready": typical([_seconds(job.created_at, job.finished_at) for job in jobs]),
        "start to end of it, fit counted": typical([_seconds(job.started_at, job.finished_at) for job in jobs]),
        "a job's end to the next one's, one worker": milliseconds(seconds),
        "jobs a minute, one worker": f"{60.0 / seconds:,.0f}",
        "an event to its reader": typical(event_delays),
    }


def seconds_for_each(calls: Client, number: int, *, before: int = 0) -> float:
    """From the first of the ends of `number` queued jobs to the last, shared; `before` them others had ended."""
    ended: list[Job] = []
    while len(ended) < before + number:
        time.sleep(LOOK_SECONDS)
        query: Query = {"state": "succeeded", "limit": before + number}
        ended = list(finished(calls.http.get(Page[TrainingJob], "/v1/training-jobs", query)).items)
    ends = sorted(job.finished_at for job in ended if job.finished_at is not None)[before:]
    return (ends[-1] - ends[0]).total_seconds() / (len(ends) - 1)


def _first_progress(calls: Client, job: Job) -> float:
    return _seconds(job.created_at, next(event.at for event in calls.trainings.events(job.id).items if event.progress))


def _lateness(calls: Client, job_id: str) -> list[float]:
    """Of what happened after the submission: seconds from when it was written down to when a reader has it."""
    return [_seconds(event.at, datetime.now(UTC)) for event in calls.trainings.follow(job_id) if event.number > 1]


def _seconds(since: datetime | None, until: datetime | None) -> float:
    assert since is not None
    assert until is not None
    return (until - since).total_seconds()
