"""The meaning of names in one process, while another one writes: on both databases, with two sets of parts."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from sqlalchemy import Engine

from app.database.engine import make_engine
from app.database.notifier import MODELS, Listener, Notifier, SqlNotifier
from app.database.transaction import OpenTransaction, open_transactions
from app.errors import UnavailableError
from app.http.conditional_requests import Condition
from app.prediction import ServedVersion
from app.prediction.served_versions import REFRESH_AFTER, STALE_AFTER, ServedVersions
from app.registry.alias_repository import AliasRepository
from app.registry.repository import ModelRepository
from app.tasks.service import finish_training
from relevance_bayes.records.errors import NotFoundError
from relevance_bayes.records.models import Selector
from tests import samples
from tests.doubles.queue import ListedQueue
from tests.small_models import small_version

SLACK_SECONDS = 8.0
"""The seconds that a busy machine may add to STALE_AFTER, which `test_served_versions` tests on a clock of its own."""


@pytest.fixture
def elsewhere(engine: Engine) -> Iterator[OpenTransaction]:
    """Transactions of another process, as far as the database shows."""
    other = make_engine(engine.url)
    yield open_transactions(other, ListedQueue)
    other.dispose()


@dataclass
class Looked:
    """The port `Notifier`, by which messages may be lost; `opened` counts the ways in."""

    engine: Engine
    deaf: bool
    opened: int = field(default=0)

    @contextmanager
    def open(self) -> Iterator[Listener]:
        self.opened += 1
        if self.deaf:
            raise UnavailableError("It can't be listened to.")
        with SqlNotifier(self.engine, MODELS).open() as listener:
            yield listener


@pytest.fixture(params=[False, True], ids=["heard", "unheard"])
def prediction(
    request: pytest.FixtureRequest, engine: Engine, transaction: OpenTransaction
) -> Iterator[ServedVersions]:
    made = ServedVersions(transaction, 10**7, notifier=Looked(engine, deaf=request.param))
    yield made
    made.close()


def record(transaction: OpenTransaction) -> None:
    """Have one more version of `small`."""
    job_id = samples.running_job(transaction)
    with transaction() as tx:
        assert finish_training(tx, job_id, 1, small_version()) is not None


def requested(prediction: ServedVersions, selector: Selector = None) -> ServedVersion:
    """As a request does."""
    name = (samples.OWNER, "small", selector)
    return prediction.at_hand(*name) or prediction.version(*name)


def seconds_until(done: Callable[[], bool]) -> float:
    began = time.monotonic()
    while not done():
        if (waited := time.monotonic() - began) > 10.0:
            raise AssertionError(f"nothing changed for {waited:.1f} s")
        time.sleep(0.005)
    return time.monotonic() - began


@pytest.mark.thorough
def test_a_newer_version_of_another_process_is_served_within_a_second(
    prediction: ServedVersions, elsewhere: OpenTransaction
) -> None:
    record(elsewhere)
    assert requested(prediction).version.number == 1
    for number in (2, 3):
        record(elsewhere)
        waited = seconds_until(lambda number=number: requested(prediction).version.number == number)  # type: ignore[misc]
        assert waited < STALE_AFTER + SLACK_SECONDS


@pytest.mark.thorough
def test_what_another_process_has_deleted_is_removed_within_a_second(
    prediction: ServedVersions, elsewhere: OpenTransaction
) -> None:
    for _ in range(2):
        record(elsewhere)
    assert (requested(prediction).version.number, requested(prediction, 1).version.number) == (2, 1)
    with elsewhere() as tx:
        ModelRepository(tx).delete_version(samples.OWNER, "small", 1)
    assert seconds_until(lambda: is_removed(prediction, 1)) < STALE_AFTER + SLACK_SECONDS
    assert requested(prediction).version.number == 2
    with elsewhere() as tx:
        ModelRepository(tx).delete(samples.OWNER, "small")
    assert seconds_until(lambda: is_removed(prediction, None)) < STALE_AFTER + SLACK_SECONDS


@pytest.mark.thorough
def test_an_alias_that_another_process_moves_is_followed_within_a_second(
    prediction: ServedVersions, elsewhere: OpenTransaction
) -> None:
    for _ in range(2):
        record(elsewhere)
    for number in (1, 2, 1):
        point(elsewhere, number)
        waited = seconds_until(lambda number=number: requested(prediction, "champion").version.number == number)  # type: ignore[misc]
        assert waited < STALE_AFTER + SLACK_SECONDS


def point(transaction: OpenTransaction, number: int) -> None:
    with transaction() as tx:
        AliasRepository(tx).move(
            samples.OWNER, "small", "champion", to=number, by=samples.OWNER, reason=None, condition=Condition()
        )


def is_removed(prediction: ServedVersions, number: int | None) -> bool:
    try:
        requested(prediction, number)
    except NotFoundError:
        return True
    return False


class Refreshed(ServedVersions):
    """Versions that count their refreshes, on a clock that the test sets."""

    def __init__(self, transaction: OpenTransaction, notifier: Notifier) -> None:
        self.refreshes, self.seconds = 0, 0.0
        super().__init__(transaction, 10**7, notifier=notifier, now=lambda: self.seconds)

    def refresh(self) -> bool:
        in_use = super().refresh()
        self.refreshes += 1
        return in_use


@pytest.mark.thorough
def test_requests_do_not_wait_for_the_database_while_a_name_is_in_use(
    engine: Engine, transaction: OpenTransaction
) -> None:
    record(transaction)
    prediction = Refreshed(transaction, SqlNotifier(engine, MODELS))
    requested(prediction)
    for _ in range(5):
        prediction.seconds += 0.75 * REFRESH_AFTER
        # One refresh may have begun before the clock went on, the next has not.
        later = prediction.refreshes + 2
        seconds_until(lambda later=later: prediction.refreshes >= later)  # type: ignore[misc]
        assert prediction.at_hand(samples.OWNER, "small", None) is not None
    prediction.close()


def test_nothing_listens_before_something_is_requested_and_after_the_end(
    engine: Engine, transaction: OpenTransaction
) -> None:
    notifier = Looked(engine, deaf=False)
    prediction = ServedVersions(transaction, 10**7, notifier=notifier)
    with pytest.raises(NotFoundError):
        requested(prediction)
    assert notifier.opened == 0
    record(transaction)
    requested(prediction)
    assert seconds_until(lambda: notifier.opened == 1) < 5.0
    prediction.close()
    prediction.version(samples.OWNER, "small")
    time.sleep(0.1)
    assert notifier.opened == 1
