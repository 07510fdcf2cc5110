"""The thread that renews what is known for a second only."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

from app.database.notifier import Listener
from app.errors import UnavailableError
from app.prediction.background_refresh import BackgroundRefresh
from tests.doubles.notifier import SilentNotifier
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
