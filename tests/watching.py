"""Following jobs in threads of the tests' own."""

import time
from dataclasses import dataclass
from threading import Thread

from relevance_bayes.client.calls import iterated
from relevance_bayes.client.http import Http
from relevance_bayes.client.jobs import follow
from tests.waiting import until


@dataclass
class Follower:
    """Follows a job in a thread, and notes what it sees and when."""

    http: Http
    path: str

    def __post_init__(self) -> None:
        self.numbers: list[int] = []
        self.moments: list[float] = []
        self._thread = Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        for event in iterated(follow(self.http, self.path)):
            self.moments.append(time.monotonic())
            self.numbers.append(event.number)

    def sees(self, number: int) -> None:
        """Wait until it has seen that event."""
        until(lambda: number in self.numbers, seconds=20, pause=0.002)

    def end(self) -> list[int]:
        """The events that it has seen, once the job has ended for it."""
        self._thread.join(30)
        assert not self._thread.is_alive()
        self.http.close()
        return self.numbers
