"""Container after container is killed, and started again."""

from dataclasses import dataclass, field
from threading import Event, Thread
from types import TracebackType

import numpy as np

from tests.faults.chaos.containers import Containers

SERVICES = ("database", "api", "worker")
ROUNDS = 2
"""The number of kills of each container."""

MAX_SECONDS_DOWN = 3.0
LOOK_SECONDS = 0.5
LAST_SHARE = 0.9


@dataclass
class Killing:
    """A context in which it goes on in a thread: in random order, spread over the work, of which `done` is a share."""

    containers: Containers
    draw: np.random.Generator
    done: float = 0.0
    killed: list[str] = field(default_factory=list)
    error: Exception | None = None

    def __post_init__(self) -> None:
        self.service = {one: service for service in SERVICES for one in self.containers.each(service)}
        self._over = Event()
        self._thread = Thread(target=self._run, name="killing")

    def __enter__(self) -> "Killing":
        self._thread.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        if self.error is not None:
            raise self.error

    def __str__(self) -> str:
        services = [self.service[one] for one in self.killed]
        return ", ".join(f"{service} {services.count(service)} times" for service in SERVICES)

    @property
    def spared(self) -> set[str]:
        """Containers that were not killed."""
        return set(self.service) - set(self.killed)

    def _run(self) -> None:
        victims = [str(one) for _ in range(ROUNDS) for one in self.draw.permutation(sorted(self.service))]
        shares = np.sort(self.draw.uniform(0.0, LAST_SHARE, len(victims))).tolist()
        try:
            for victim, share in zip(victims, shares, strict=True):
                while self.done < share:
                    if self._over.wait(LOOK_SECONDS):
                        return
                self.containers.kill(victim)
                self.killed.append(victim)
                self._over.wait(self.draw.uniform(0.0, MAX_SECONDS_DOWN))
                self.containers.start(victim)
        except RuntimeError as error:
            self.error = error
