"""Versions in memory: what is kept of them, and how stale it may be."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from threading import Barrier, Event

import pytest

from app.database.engine import Reachability
from app.database.notifier import Listener
from app.database.transaction import Transaction
from app.errors import UnavailableError
from app.http.response_headers import CURRENT_STALENESS, Staleness
from app.identity import BUILT_IN_OWNER as OWNER
from app.prediction import served_versions as under_test
from app.prediction.served_versions import BackgroundRefresh, BoundedCache, ServedVersions
from app.registry.repository import ModelRepository
from app.registry.service import AliasService
from relevance_bayes.records.errors import NotFoundError
from tests.doubles.notifier import SilentNotifier
from tests.small_components import version_of_components
from tests.small_database import SmallDatabase
from tests.small_models import small_version
from tests.waiting import until


class CountingNotifier:
    """Notifier that count how often they were opened, and how many are open."""

    def __init__(self) -> None:
        self.opened = self.is_open = 0

    @contextmanager
    def open(self) -> Iterator[Listener]:
        self.opened += 1
        self.is_open += 1
        with SilentNotifier().open() as listener:
            yield listener
        self.is_open -= 1


def test_nothing_is_listened_to_while_nothing_is_requested_and_it_is_at_once_when_something_is() -> None:
    notifier, required, calls = CountingNotifier(), Event(), [0]

    def refresh() -> bool:
        calls[0] += 1
        return required.is_set()

    refresher = BackgroundRefresh(notifier, refresh)
    refresher.begin()
    until(lambda: calls[0] == 1)
    assert notifier.opened == 0
    for _ in range(2):
        required.set()
        refresher.begin()
        until(lambda: notifier.is_open == 1, seconds=2.0)
        required.clear()
        until(lambda: notifier.is_open == 0, seconds=5.0)
    refresher.close()


def test_a_database_that_is_back_is_noticed_within_two_seconds() -> None:
    notifier, is_away, refused = CountingNotifier(), Event(), [0]
    is_away.set()

    def refresh() -> bool:
        if is_away.is_set():
            refused[0] += 1
            raise UnavailableError("The database can't be reached.")
        return True

    refresher = BackgroundRefresh(notifier, refresh)
    refresher.begin()
    until(lambda: refused[0] >= 3)
    assert notifier.opened == 0
    is_away.clear()
    until(lambda: notifier.is_open == 1, seconds=2.0)
    refresher.close()


def test_the_least_recently_used_leaves_first() -> None:
    cache: BoundedCache[str, str] = BoundedCache(10, len)
    cache.load("a", lambda: "aaaa")
    cache.load("b", lambda: "bbbb")
    assert cache.get("a") == "aaaa"
    cache.load("c", lambda: "cccc")
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("aaaa", None, "cccc")
    assert cache.used == 8


def test_what_is_larger_than_the_cache_is_returned_and_not_kept() -> None:
    cache: BoundedCache[str, str] = BoundedCache(10, len)
    cache.load("a", lambda: "aaaa")
    assert cache.load("big", lambda: "b" * 11) == "b" * 11
    assert cache.get("big") is None
    assert cache.get("a") == "aaaa"
    assert cache.used == 4


def test_a_stampede_loads_once() -> None:
    cache: BoundedCache[str, str] = BoundedCache(10, len)
    everybody, go_on = Barrier(9), Event()
    calls: list[int] = []

    def make() -> str:
        calls.append(1)
        assert go_on.wait(10)
        return "value"

    def predict() -> str:
        everybody.wait(10)
        return cache.load("key", make)

    with ThreadPoolExecutor(8) as threads:
        requested = [threads.submit(predict) for _ in range(8)]
        everybody.wait(10)
        go_on.set()
        assert [future.result(10) for future in requested] == ["value"] * 8
    assert len(calls) == 1


def test_a_load_that_fails_is_tried_again() -> None:
    cache: BoundedCache[str, str] = BoundedCache(10, len)

    def fail() -> str:
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        cache.load("key", fail)
    assert cache.load("key", lambda: "value") == "value"


class Watch:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def delete_model(stored: SmallDatabase) -> None:
    with stored.transaction() as tx:
        ModelRepository(tx).delete(OWNER, "small")


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def reachability(watch: Watch) -> Reachability:
    return Reachability(watch)


@pytest.fixture
def prediction(stored: SmallDatabase, watch: Watch, reachability: Reachability) -> ServedVersions:
    return ServedVersions(stored.transaction, 10**6, reachability=reachability, now=watch)


def test_a_version_at_hand_costs_no_look_at_the_database(stored: SmallDatabase, prediction: ServedVersions) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    assert prediction.at_hand(OWNER, "small", None) is None
    served = prediction.version(OWNER, "small")
    opened = stored.opened
    assert prediction.at_hand(OWNER, "small", None) is served
    assert stored.opened == opened


def test_a_newer_version_is_seen_within_a_second(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch
) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    stored.put_version(OWNER, small_version(), number=2)
    watch.now += 1.0
    assert prediction.at_hand(OWNER, "small", None) is None
    assert prediction.version(OWNER, "small").version.number == 2


def test_one_caller_requests_ahead_and_the_others_need_not_wait(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch
) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    watch.now += 0.9
    assert prediction.at_hand(OWNER, "small", None) is None
    assert prediction.at_hand(OWNER, "small", None) is not None
    watch.now += 0.1
    assert prediction.at_hand(OWNER, "small", None) is None


def test_what_a_name_means_is_renewed_before_a_request_has_to_wait(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch
) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    prediction.version(OWNER, "small", 1)
    opened = stored.opened
    for _ in range(10):
        watch.now += 0.5
        assert prediction.refresh()
        assert prediction.at_hand(OWNER, "small", None) is prediction.at_hand(OWNER, "small", 1) is not None
    assert stored.opened == opened + 10


def test_a_newer_version_is_loaded_before_a_name_represents_it(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch
) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    prediction.version(OWNER, "small", 1)
    stored.put_version(OWNER, small_version(), number=2)
    watch.now += 0.5
    assert prediction.refresh()
    newest, first = prediction.at_hand(OWNER, "small", None), prediction.at_hand(OWNER, "small", 1)
    assert newest is not None
    assert first is not None
    assert (newest.version.number, first.version.number) == (2, 1)


def test_what_is_removed_is_forgotten_when_it_is_renewed(stored: SmallDatabase, prediction: ServedVersions) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    delete_model(stored)
    assert prediction.refresh()
    assert prediction.at_hand(OWNER, "small", None) is None
    assert not prediction.refresh()


def test_what_was_found_removed_is_served_no_more(stored: SmallDatabase, prediction: ServedVersions) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    delete_model(stored)
    with pytest.raises(NotFoundError):
        prediction.version(OWNER, "small")
    assert prediction.at_hand(OWNER, "small", None) is None


def test_a_name_that_nobody_requests_is_confirmed_now_and_then(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch
) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    watch.now += under_test.USED_SECONDS
    opened = stored.opened
    assert not prediction.refresh()
    assert stored.opened == opened + 1
    watch.now += under_test.CONFIRM_SECONDS - 1.0
    delete_model(stored)
    opened = stored.opened
    assert not prediction.refresh()
    assert stored.opened == opened
    assert prediction.has_loaded_versions
    watch.now += 1.0
    assert not prediction.refresh()
    assert not prediction.has_loaded_versions


def test_a_version_in_place_of_one_that_was_used_lately_is_loaded_and_no_other(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch
) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    for number, is_loaded in ((2, True), (3, False)):
        stored.put_version(OWNER, small_version(), number=number)
        watch.now += under_test.KEPT_SECONDS - 1.0
        assert not prediction.refresh()
        assert (prediction.at_hand(OWNER, "small", None) is not None) == is_loaded
        watch.now += 1.0


def test_a_deleted_version_is_removed_within_a_second(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch
) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    stored.put_version(OWNER, small_version(), number=2)
    prediction.version(OWNER, "small", 1)
    with stored.transaction() as tx:
        ModelRepository(tx).delete_version(OWNER, "small", 1)
    watch.now += 1.0
    assert prediction.at_hand(OWNER, "small", 1) is None
    with pytest.raises(NotFoundError):
        prediction.version(OWNER, "small", 1)


def test_a_version_is_loaded_once_while_it_is_kept(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch
) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    first = prediction.version(OWNER, "small")
    for _ in range(3):
        assert prediction.version(OWNER, "small") is prediction.version(OWNER, "small", 1) is first
        watch.now += 2.0


def test_a_full_cache_serves_all_the_same(stored: SmallDatabase) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction = ServedVersions(stored.transaction, 10)
    assert prediction.version(OWNER, "small").version.number == 1
    assert prediction.at_hand(OWNER, "small", None) is None


def test_another_owner_finds_nothing(stored: SmallDatabase, prediction: ServedVersions) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    assert prediction.at_hand("somebody else", "small", None) is None
    with pytest.raises(NotFoundError):
        prediction.version("somebody else", "small")


def test_names_that_are_remembered_stay_few(
    stored: SmallDatabase, prediction: ServedVersions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "MAX_NAMES", 3)
    for name in "abcdef":
        stored.put_version(OWNER, small_version(name=name), number=1)
        prediction.version(OWNER, name)
    assert sum(prediction.at_hand(OWNER, name, None) is not None for name in "abcdef") <= 3


def test_a_database_out_of_reach_is_stated(stored: SmallDatabase, prediction: ServedVersions) -> None:
    stored.reachable = False
    with pytest.raises(UnavailableError):
        prediction.version(OWNER, "small")


def test_the_functions_are_those_of_the_versions_list(stored: SmallDatabase, prediction: ServedVersions) -> None:
    made = small_version()
    stored.put_version(OWNER, made, number=1)
    served = prediction.version(OWNER, "small")
    assert [(one.number, one.kind, one.row, one.input) for one in served.functions] == [
        (vector.number, vector.kind, vector.row, vector.input) for vector in made.vectors
    ]
    assert len(served.functions) == len(made.predictor.model.mean)


def test_what_explains_nothing_lists_no_functions(stored: SmallDatabase, prediction: ServedVersions) -> None:
    made = version_of_components()
    stored.put_version(OWNER, made, number=1)
    assert made.vectors
    assert prediction.version(OWNER, "rows").functions == ()


def names_of_one_version(stored: SmallDatabase, prediction: ServedVersions) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    AliasService(stored.transaction).move(OWNER, "small", "champion", to=1)
    for selector in (None, 1, "champion"):
        prediction.version(OWNER, "small", selector)


def number_of(prediction: ServedVersions, selector: int | str | None) -> int:
    """The version that a request gets, as `Predicting` requests it."""
    served = prediction.at_hand(OWNER, "small", selector) or prediction.version(OWNER, "small", selector)
    return served.version.number


def test_while_the_database_is_away_numbers_are_served_for_ever_and_other_names_for_a_time(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch, reachability: Reachability
) -> None:
    names_of_one_version(stored, prediction)
    watch.now += 1000.0  # the names were not used for long
    reachability.reached()
    reachability.lost()
    stored.reachable = False
    for seconds in (1, 5, 299):
        watch.now = 2000.0 + seconds
        assert [number_of(prediction, selector) for selector in (None, 1, "champion")] == [1, 1, 1]
    watch.now = 2000.0 + 301
    for selector in (None, "champion"):
        with pytest.raises(UnavailableError):
            number_of(prediction, selector)
    watch.now = 2000.0 + 10**6
    assert number_of(prediction, 1) == 1


def test_the_database_is_not_tried_while_it_is_away(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch, reachability: Reachability
) -> None:
    names_of_one_version(stored, prediction)
    opened = stored.opened
    reachability.lost()
    for _ in range(3):
        watch.now += 10.0
        assert [number_of(prediction, selector) for selector in (None, 1, "champion")] == [1, 1, 1]
    assert stored.opened == opened
    reachability.reached()
    assert number_of(prediction, None) == 1
    assert stored.opened == opened + 1


def test_nothing_is_evicted_while_the_database_is_away(stored: SmallDatabase, watch: Watch) -> None:
    reachability = Reachability(watch)
    stored.put_version(OWNER, small_version(), number=1)
    size = ServedVersions(stored.transaction, 10**6).version(OWNER, "small").model.bytes
    prediction = ServedVersions(stored.transaction, 2 * size + 3000, reachability=reachability, now=watch)
    prediction.version(OWNER, "small")
    reachability.suspect()
    for name in "abc":  # was read before the database went away
        stored.put_version(OWNER, small_version(name=name), number=1)
        prediction.version(OWNER, name)
    assert number_of(prediction, 1) == 1
    reachability.reached()
    for name in "abc":
        prediction.version(OWNER, name)
    assert prediction.at_hand(OWNER, "small", 1) is None


def test_a_version_that_was_requested_as_the_newest_is_served_by_its_number(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch
) -> None:
    stored.put_version(OWNER, small_version(), number=1)
    prediction.version(OWNER, "small")
    stored.reachable = False
    watch.now += 1000.0
    assert number_of(prediction, 1) == 1


def test_a_name_that_was_not_used_for_long_is_remembered(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch
) -> None:
    names_of_one_version(stored, prediction)
    watch.now += under_test.USED_SECONDS + 1
    assert not prediction.refresh()
    stored.reachable = False
    assert [number_of(prediction, selector) for selector in (None, 1, "champion")] == [1, 1, 1]


def test_staleness_is_noted_for_names_that_may_have_moved_alone(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch
) -> None:
    names_of_one_version(stored, prediction)
    stored.reachable = False
    watch.now += 42.0
    ages = []
    for selector in (None, 1, "champion"):
        staleness = Staleness()
        CURRENT_STALENESS.set(staleness)
        number_of(prediction, selector)
        ages.append(staleness.age)
    CURRENT_STALENESS.set(None)
    assert ages == [42.0, None, 42.0]


def test_what_changed_while_it_was_away_is_seen_as_soon_as_it_is_back(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch, reachability: Reachability
) -> None:
    names_of_one_version(stored, prediction)
    stored.reachable = False
    for _ in range(20):
        watch.now += 1.0
        assert number_of(prediction, None) == 1
    stored.put_version(OWNER, small_version(), number=2)
    stored.reachable = True
    reachability.reached()
    assert number_of(prediction, None) == 2


def test_a_deleted_version_is_removed_once_the_database_is_there(
    stored: SmallDatabase, prediction: ServedVersions, watch: Watch, reachability: Reachability
) -> None:
    names_of_one_version(stored, prediction)
    delete_model(stored)
    stored.reachable = False
    watch.now += 2.0
    assert number_of(prediction, 1) == 1
    stored.reachable = True
    reachability.reached()
    watch.now += 2.0
    with pytest.raises(NotFoundError):
        number_of(prediction, 1)


def test_a_database_that_never_responds_delays_one_request_and_no_other(
    stored: SmallDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(under_test, "STALE_AFTER", 0.05)
    monkeypatch.setattr(under_test, "REFRESH_AFTER", 0.04)
    hangs, responses = Event(), Event()

    def transaction() -> AbstractContextManager[Transaction]:
        if hangs.is_set():
            responses.wait(20.0)
        return stored.transaction()

    prediction = ServedVersions(transaction, 10**6)
    names_of_one_version(stored, prediction)
    hangs.set()
    time.sleep(0.1)
    took = []
    for _ in range(50):
        began = time.monotonic()
        assert number_of(prediction, None) == 1
        took.append(time.monotonic() - began)
        time.sleep(0.02)
    responses.set()
    assert sorted(took)[-4] < 0.3  # what probes waits, a few times
    assert max(took) < under_test.MAX_WAIT_SECONDS + 0.3


def test_nothing_is_held_before_a_version_was_requested(stored: SmallDatabase, prediction: ServedVersions) -> None:
    assert not prediction.has_loaded_versions
    names_of_one_version(stored, prediction)
    stored.reachable = False
    assert prediction.has_loaded_versions


def test_many_first_requests_at_once_all_get_a_response(stored: SmallDatabase) -> None:
    gate = Event()

    def transaction() -> AbstractContextManager[Transaction]:
        gate.wait(10.0)
        return stored.transaction()

    stored.put_version(OWNER, small_version(), number=1)
    prediction = ServedVersions(transaction, 10**6)
    with ThreadPoolExecutor(40) as threads:
        responses = [threads.submit(prediction.version, OWNER, "small") for _ in range(40)]
        time.sleep(0.2)
        gate.set()
        assert {response.result(10.0).version.number for response in responses} == {1}
