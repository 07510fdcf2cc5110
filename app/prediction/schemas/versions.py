"""The API's schemas of a version's expansion and statistics."""

from datetime import datetime

from app.prediction.usage_counts import BOUNDS, Counted
from app.registry.records import Version
from relevance_bayes.records.functions import Expansion
from relevance_bayes.records.statistics import Latency, LatencyBucket, OutsideSupport, Statistics
from relevance_bayes.tasks.prediction import VersionExpansion


def expansion_record(expansion: VersionExpansion) -> Expansion:
    """Return an expansion for a response."""
    return Expansion(
        inputs=expansion.inputs,
        centres=tuple(map(tuple, expansion.centres.tolist())),
        widths=tuple(map(tuple, expansion.widths.tolist())),
        weights=tuple(expansion.weights.tolist()),
        constant=expansion.constant,
    )


def statistics_record(version: Version, since: datetime, counted: Counted) -> Statistics:
    """Return counts for a response."""
    outside: OutsideSupport | None = None
    if counted.placed:
        share = counted.outside / counted.placed
        outside = OutsideSupport(rows=counted.outside, of=counted.placed, share=share)
    buckets = tuple(
        LatencyBucket(upper_bound=bound, requests=requests)
        for bound, requests in zip((*BOUNDS, None), counted.succeeded, strict=True)
    )
    return Statistics(
        model=version.model,
        version=version.number,
        since=since,
        last_request_at=counted.last_at,
        requests=counted.requests,
        errors=counted.failed,
        rows=counted.rows,
        outside_support=outside,
        latency=Latency(seconds=counted.succeeded_ns / 1e9, buckets=buckets),
    )
