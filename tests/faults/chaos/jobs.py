"""Fifty real fits of some seconds each, and what has to be true of them once they have ended."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from relevance_bayes.client import Client
from relevance_bayes.client.responses import Json, SupervisedJob, Version
from tests.faults.chaos.containers import Containers

MIN_ROWS, MAX_ROWS = 250, 600
"""Of the least and the greatest fit: from some five seconds to some fifteen, with its search of a width."""

BASIS: list[Json] = [
    {"type": "kernel", "kernel": {"type": "gaussian"}, "width": {"type": "cross_validation", "folds": 5}},
    {"type": "bias"},
]


def submitted(containers: Containers, number: int, name: str) -> list[SupervisedJob]:
    """Jobs from the least fit to the greatest, each with a model of its own."""
    sizes = np.linspace(MIN_ROWS, MAX_ROWS, number).astype(int).tolist()
    return [containers.retry(partial(_submit, rows=rows, model=f"{name}-{place}")) for place, rows in enumerate(sizes)]


def _submit(calls: Client, rows: int, model: str) -> SupervisedJob:
    draw = np.random.default_rng(rows)
    x = draw.uniform(-10.0, 10.0, rows)
    y = np.sinc(x / np.pi) + 0.1 * draw.standard_normal(rows)
    dataset = calls.create_dataset({"x": x.tolist(), "y": y.tolist()}, name=model)
    requested: dict[str, Json] = {"dataset_id": dataset.id, "target": "y", "model": model, "basis": BASIS}
    return calls.trainings.submit({**requested, "prior": {"type": "independent"}, "effort": "quick"})


def faults(containers: Containers, jobs: list[SupervisedJob], like: list[SupervisedJob]) -> Iterator[str]:
    """The violations: each job succeeded once, with one version, which learned the same as that of `like`."""
    for job, other in zip(jobs, like, strict=True):
        if job.state != "succeeded":
            yield f"{job.model} ended as {job.state}: {job.error}"
            continue
        versions = containers.retry(partial(_versions, job=job))
        if len(versions) != 1:
            yield f"{job.model} has {len(versions)} versions"
        ends = [move.state for move in job.transitions].count("succeeded")
        if ends != 1:
            yield f"{job.model} succeeded {ends} times"
        found, expected = (containers.retry(partial(_learned, job=one)) for one in (job, other))
        if len(found) != len(expected) or not np.allclose(found, expected, rtol=1e-9):
            yield f"{job.model} learned something else than {other.model}"


def _versions(calls: Client, job: SupervisedJob) -> list[Version]:
    return list(calls.versions(job.model))


def _learned(calls: Client, job: SupervisedJob) -> list[float]:
    """Its evidence, and its weights."""
    version = calls.version(job.model)
    weights = [one.weight_mean or 0.0 for one in calls.relevance_vectors(job.model, version.version)]
    return [0.0 if version.evidence is None else version.evidence.value, *weights]
