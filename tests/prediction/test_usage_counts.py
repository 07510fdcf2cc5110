"""Counts of the requests of versions."""

from dataclasses import replace

import numpy as np
import pytest

from app.accounts.rate_limiter import OwnerRates
from app.errors import ClientLeftError, MalformedBodyError
from app.http.rate_limits import CURRENT as RATES
from app.identity import BUILT_IN_OWNER as OWNER
from app.identity import uuid7
from app.prediction import usage_counts as under_test
from app.prediction.served_versions import ServedVersions
from app.prediction.usage_counts import BOUNDS, CountedRequest, Counters, Counts
from relevance_bayes.records.accounts import OwnerLimits
from relevance_bayes.records.models import Reference
from tests.served_versions import served
from tests.small_database import SmallDatabase
from tests.small_models import small_version


class Watch:
    """A clock of nanoseconds, which stands still."""

    def __init__(self) -> None:
        self.now = 5_000_000_000

    def __call__(self) -> int:
        return self.now


def add_rows(counts: Counts, rows: int) -> None:
    with CountedRequest(counts) as counted:
        counted.add(rows, None)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    monkeypatch.setattr(under_test, "perf_counter_ns", watch)
    return watch


@pytest.mark.parametrize(
    ("nanoseconds", "bucket"),
    [(0, 0), (500_000, 0), (500_001, 1), (1_000_000, 1), (9_999_999_999, 13), (10**10, 13), (10**10 + 1, 14)],
)
def test_a_request_is_in_the_first_bucket_that_is_long_enough(watch: Watch, nanoseconds: int, bucket: int) -> None:
    counts = Counts()
    with CountedRequest(counts):
        watch.now += nanoseconds
    counted = counts.until_now()
    assert [place for place, requests in enumerate(counted.succeeded) if requests] == [bucket]
    assert len(counted.succeeded) == len(BOUNDS) + 1
    assert (counted.requests, counted.failed, counted.succeeded_ns, counted.failed_ns) == (1, 0, nanoseconds, 0)


def test_a_request_that_fails_is_counted_apart_with_its_time(watch: Watch) -> None:
    counts = Counts()

    def refused() -> None:
        with CountedRequest(counts):
            watch.now += 7
            raise MalformedBodyError("Nothing to read.")

    with pytest.raises(MalformedBodyError):
        refused()
    counted = counts.until_now()
    assert (counted.requests, counted.failed, counted.succeeded_ns, counted.failed_ns) == (1, 1, 0, 7)


@pytest.mark.parametrize("end", [GeneratorExit(), ClientLeftError("The client left.")], ids=["given up", "left"])
def test_a_request_that_nobody_waits_for_is_not_counted(end: BaseException) -> None:
    counts = Counts()
    with pytest.raises(type(end)), CountedRequest(counts):
        raise end
    assert counts.until_now() == Counts().until_now()


def test_when_the_last_request_began_is_known(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1000.0)
    counts = Counts()
    assert counts.until_now().last_at is None
    with CountedRequest(counts):
        watch.now += 2_000_000_000
    watch.now += 1_000_000_000
    last_at = counts.until_now().last_at
    assert last_at is not None
    assert last_at.timestamp() == 997.0


@pytest.mark.parametrize(
    ("support", "placed", "outside"),
    [
        (None, 0, 0),
        ([0.5], 1, 0),
        ([0.49], 1, 1),
        ([np.nan], 0, 0),
        ([], 0, 0),
        ([0.9, 0.1, np.nan, 0.4999, 0.5], 4, 2),
    ],
)
def test_rows_of_little_support_are_outside(support: list[float] | None, placed: int, outside: int) -> None:
    counts = Counts()
    rows = 3 if support is None else len(support)
    with CountedRequest(counts) as counted:
        counted.add(rows, None if support is None else np.array(support))
    reported = counts.until_now()
    assert (reported.rows, reported.placed, reported.outside) == (rows, placed, outside)


def test_counts_outlast_what_is_kept_of_a_version(stored: SmallDatabase) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction = ServedVersions(stored.transaction, 1)  # no space for any
    first, again = prediction.version(OWNER, "small"), prediction.version(OWNER, "small")
    assert first is not again
    assert first.counts is again.counts
    add_rows(first.counts, 3)
    assert prediction.counters.until_now(again.version).rows == 3


def test_owners_see_their_own_versions_only(stored: SmallDatabase) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction = ServedVersions(stored.transaction, 10**6)
    assert [*prediction.counters.all(OWNER)] == []
    add_rows(prediction.version(OWNER, "small").counts, 1)
    ((reference, counted),) = prediction.counters.all(OWNER)
    assert (reference, counted.rows) == (Reference("small", 1), 1)
    assert [*prediction.counters.all("somebody else")] == []


def test_of_very_many_versions_those_that_came_last_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "MAX_VERSIONS", 2)
    first = served(small_version()).version
    second, third = replace(first, id=uuid7(), number=2), replace(first, id=uuid7(), number=3)
    counters = Counters()
    for version in (first, second, first, third):
        add_rows(counters.of(version), 1)
    assert [(reference.version, counted.rows) for reference, counted in counters.all(OWNER)] == [(1, 2), (3, 1)]
    assert counters.until_now(second).rows == 0


@pytest.mark.parametrize("end", [None, ClientLeftError("left"), MalformedBodyError("bad")])
def test_rows_count_for_the_owner_of_their_request_however_and_wherever_it_ends(end: Exception | None) -> None:
    mine, theirs = (OwnerRates(OwnerLimits(rows_per_second=10), 1, lambda: 0.0) for _ in range(2))
    token = RATES.set(mine)
    request = CountedRequest(Counts())
    RATES.set(theirs)
    request.__enter__().add(4, None)
    request.__exit__(None if end is None else type(end), end, None)
    RATES.reset(token)
    assert (mine.buckets["rows"].tokens, theirs.buckets["rows"].tokens) == (6.0, 10.0)
