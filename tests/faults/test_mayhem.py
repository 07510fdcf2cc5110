"""Whatever is killed at whatever moment, each job ends once, with the version of an unbroken run."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import uuid4

import numpy as np
from sqlalchemy import exists, select

from app.identity import BUILT_IN_OWNER
from app.jobs.records import MAX_STARTS, Job
from app.jobs.tables import JobRow
from app.registry.repository import ModelRepository
from relevance_bayes.core.algorithms import Algorithm, ReEstimation, Sequential
from relevance_bayes.core.basis import Bias
from relevance_bayes.core.kernels.hyperparameters import CrossValidationWidth
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.records.jobs import FINISHED
from relevance_bayes.tasks.supervised.report import SupervisedPredictor
from relevance_bayes.tasks.supervised.request import KernelChoice, SupervisedRequest, Validation
from tests.faults.conftest import AS_SHIPPED, MakePlace, Place
from tests.live_workers import workers_alive
from tests.narrowing import of_kind
from tests.processes import children, has_exited
from tests.properties import repetitions
from tests.waiting import until

API = ("-m", "app.cli", "api", "--until-eof")
ROWS = 80

EACH_TIME = repetitions(8, long=48)
"""Jobs that are submitted at once."""
MIN_STRIKES = 6
"""Until there have been so many, and a job has gone on with what it had kept, more jobs are submitted."""

SECONDS = 600.0


def requests(place: Place) -> list[SupervisedRequest]:
    """One of each algorithm, which takes a few seconds with its search of a width and its folds."""
    dataset = place.sinc(ROWS)
    searched = (KernelChoice(width=CrossValidationWidth(3)), Bias())
    classical: tuple[Algorithm, ...] = (Sequential(), Sequential("single"), ReEstimation("mackay"))
    requested = [
        SupervisedRequest(dataset.id, "y", effort="quick", basis=searched, prior=Independent(), algorithm=algorithm)
        for algorithm in classical
    ]
    requested.append(
        SupervisedRequest(dataset.id, "y", effort="quick", prior=GaussianProcess(), validation=Validation(folds=5))
    )
    return requested


@dataclass
class Mayhem:
    """Two workers and an API process that are killed and started again; each child is remembered."""

    place: Place
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    api: subprocess.Popen[bytes] | None = None
    seen: set[int] = field(default_factory=set)
    strikes: int = 0

    def start(self) -> None:
        """Those that are not there."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < 2:
            self.workers.append(self.place.start_worker(AS_SHIPPED))
        if self.api is None or self.api.poll() is not None:
            self.api = self.place.start_worker(API)

    @property
    def fits(self) -> list[int]:
        """The workers' children, at work or waiting for some."""
        return [fit for worker in self.workers for fit in children(worker.pid)]

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Nothing goes on meanwhile; who is alive afterwards continues."""
        everybody = [*self.workers, *([] if self.api is None else [self.api])]
        for process in everybody:
            process.send_signal(signal.SIGSTOP)
        fits = self.fits  # no worker starts another one now
        try:
            for fit in fits:
                _send(fit, signal.SIGSTOP)
            yield
        finally:
            for fit in fits:
                _send(fit, signal.SIGCONT)
            for process in everybody:
                process.send_signal(signal.SIGCONT)

    def strike(self, what: int) -> None:
        """Kill a worker, a child, the API or all of them."""
        fits = self.fits
        self.seen |= set(fits)
        everybody = [*(worker.pid for worker in self.workers), *([] if self.api is None else [self.api.pid])]
        victims = (everybody[:1], fits[:1], everybody[-1:], [*everybody, *fits])[what]
        for victim in victims:
            _send(victim, signal.SIGKILL)
        for process in (*self.workers, self.api):
            if process is not None and process.pid in victims:
                process.wait()
        self.strikes += 1


def _send(process: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, what)


def struck(place: Place, mayhem: Mayhem, what: int) -> bool:
    """Strike unless a job is on its last start, which can't begin between the look and the stroke."""
    with mayhem.stopped():
        if any_on_its_last_start(place):
            return False
        mayhem.strike(what)
    return True


def any_on_its_last_start(place: Place) -> bool:
    """Return whether a job would be given up if its start died now: some are struck three times by chance."""
    given_up_next = JobRow.state == "running", JobRow.deaths >= MAX_STARTS - 1
    with place.parts.base.engine.connect() as connection:
        return connection.scalar(select(exists().where(*given_up_next))) is True


def model_of(place: Place, job: Job) -> Model:
    with place.parts.base.transaction() as tx:
        version = ModelRepository(tx).version(BUILT_IN_OWNER, job.for_model, job.version)
        return of_kind(SupervisedPredictor, ModelRepository(tx).predictor(version.id)).model


def unbroken(place: Place, requested: list[SupervisedRequest]) -> tuple[list[Model], float]:
    """Their models, and how long the longest of them takes here and now."""
    worker = place.start_worker(AS_SHIPPED)
    jobs = [
        place.parts.training.submit(BUILT_IN_OWNER, replace(request, model=f"unbroken-{number}"))
        for number, request in enumerate(requested)
    ]
    ended = [place.ended(job, seconds=SECONDS) for job in jobs]
    worker.terminate()
    worker.wait(30)
    return [model_of(place, job) for job in ended], max(map(seconds_of, ended))


def seconds_of(job: Job) -> float:
    assert job.started_at is not None
    assert job.finished_at is not None
    return (job.finished_at - job.started_at).total_seconds()


def same_weights(found: Model, expected: Model) -> None:
    assert len(found.functions) == len(expected.functions)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-9)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-9, atol=1e-12)


def submitted(place: Place, requested: list[SupervisedRequest], number: int) -> list[Job]:
    """So many jobs, which go through the requests in turn."""
    turns = [replace(requested[k % len(requested)], model=f"job-{uuid4().hex}") for k in range(number)]
    return [place.parts.training.submit(BUILT_IN_OWNER, request) for request in turns]


def test_jobs_end_once_each_though_everything_is_killed(make_place: MakePlace) -> None:
    place = make_place(checkpoint=0.2)
    requested = requests(place)
    expected, longest = unbroken(place, requested)
    jobs = submitted(place, requested, EACH_TIME)
    draw, mayhem, give_up = np.random.default_rng(2), Mayhem(place), time.monotonic() + SECONDS
    mayhem.start()
    until(lambda: len(workers_alive(place.settings)) >= 2, seconds=60)

    def is_enough() -> bool:
        ended = [place.look(job) for job in jobs]
        return (
            all(job.state in FINISHED for job in ended)
            and mayhem.strikes >= MIN_STRIKES
            and any(job.resumed_from is not None for job in ended)
        )

    while not is_enough():
        assert time.monotonic() < give_up, [place.look(job).state for job in jobs]
        if all(place.look(job).state in FINISHED for job in jobs):
            jobs += submitted(place, requested, len(requested))
        until(lambda: bool(mayhem.fits), seconds=60)  # a start takes longer than many a fit
        time.sleep(longest * draw.uniform(0.5, 1.5))
        until(partial(struck, place, mayhem, int(draw.integers(0, 4))), seconds=SECONDS)
        mayhem.start()
    ended = [place.look(job) for job in jobs]
    assert [(job.state, job.error) for job in ended if job.state != "succeeded"] == []
    assert [place.versions(job) for job in jobs] == [1] * len(jobs)
    assert any(job.attempt > 1 for job in ended)
    for k, job in enumerate(ended):
        same_weights(model_of(place, job), expected[k % len(requested)])
    for worker in mayhem.workers:
        mayhem.seen |= set(children(worker.pid))
        worker.kill()
        worker.wait()
    until(lambda: all(has_exited(fit) for fit in mayhem.seen), seconds=5)
