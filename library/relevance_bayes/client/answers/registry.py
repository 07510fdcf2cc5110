"""Where versions come from, and what they are asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from relevance_bayes.client.answers.datasets import Choice
from relevance_bayes.client.answers.models import ImportedFrom


@dataclass(frozen=True)
class DatasetOrigin:
    """The data that was learned from; its name is None once it is deleted."""

    id: str
    digest: str
    name: str | None
    exists: bool


@dataclass(frozen=True)
class Parent:
    """The newest version when another one was recorded."""

    version: int
    exists: bool


@dataclass(frozen=True)
class Lineage:
    """Where a version comes from: data, what was asked for, the version before it, and the program.

    What was imported has neither a job nor a request here.
    """

    model: str
    version: int
    created_at: datetime
    dataset: DatasetOrigin
    job_id: str | None
    request: Choice | None
    parent: Parent | None
    software_version: str
    imported: ImportedFrom | None = None


@dataclass(frozen=True)
class LatencyBucket:
    """Requests that took at most so many seconds, None for no end, and longer than those of the bucket before."""

    upper_bound: float | None
    requests: int


@dataclass(frozen=True)
class Latency:
    """How long answered requests took: seconds of all together, and how many took how long."""

    seconds: float
    buckets: Sequence[LatencyBucket]


@dataclass(frozen=True)
class OutsideSupport:
    """Rows for which the data hardly speak, of those whose support is known."""

    rows: int
    of: int
    share: float


@dataclass(frozen=True)
class Statistics:
    """What a version was asked for, as one process of the API has counted it since it began.

    `errors` are among the `requests`. `outside_support` is None where the model can't tell, or was not asked.
    """

    model: str
    version: int
    since: datetime
    last_request_at: datetime | None
    requests: int
    errors: int
    rows: int
    outside_support: OutsideSupport | None
    latency: Latency
