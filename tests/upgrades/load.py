"""Clients whose requests are spread over the processes of two releases, and what failed of them."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Lock, Thread

import httpx2

from app.http.openapi import Json
from tests.end_to_end.deployment import TIMEOUT, Api
from tests.end_to_end.exchanges import replayed
from tests.waiting import until

PAUSE_SECONDS = 0.1
PREDICTION = {"rows": [{"x": 0.5}, {"x": -2.0}]}
UNFINISHED = ("queued", "running")
CLIENTS = ("replay", "predict", "read")
MORE = 20
"""The requests of each client that follow a change of the deployment."""

READ = ("/metrics", "/v1/limits", "/v1/keys", "/v1/audit", "/v1/models", "/v1/training-jobs", "/v1/datasets")


@dataclass
class Balancer:
    """The processes that receive requests, one after the other, and their numbers of open requests."""

    targets: tuple[Api, ...] = ()
    n_requests: dict[int, int] = field(default_factory=dict)
    open: dict[int, int] = field(default_factory=dict)
    _next: Iterator[int] = field(default_factory=count)
    _lock: Lock = field(default_factory=Lock)

    def use(self, *targets: Api) -> None:
        """Send requests to these processes alone, and wait for those that others still process."""
        self.targets = targets
        used = set(map(id, targets))
        until(lambda: not any(n for api, n in self.open.items() if api not in used), seconds=TIMEOUT)

    @contextmanager
    def target(self) -> Iterator[Api]:
        """The next process, for one request."""
        with self._lock:
            api = self.targets[next(self._next) % len(self.targets)]
            self.open[id(api)] = self.open.get(id(api), 0) + 1
        try:
            yield api
        finally:
            with self._lock:
                self.open[id(api)] -= 1
                self.n_requests[id(api)] = self.n_requests.get(id(api), 0) + 1


class BalancedTransport(httpx2.BaseTransport):
    """Sends each request to a process of the balancer; only long polls are repeated, until the job has ended."""

    def __init__(self, balancer: Balancer) -> None:
        self._balancer = balancer
        self._transport = httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = self._response_to(request)
        deadline = time.monotonic() + 2 * TIMEOUT
        while "wait" in request.url.params and time.monotonic() < deadline:
            if not response.is_success or response.json()["state"] not in UNFINISHED:
                break
            response = self._response_to(request)
        return response

    def _response_to(self, request: httpx2.Request) -> httpx2.Response:
        with self._balancer.target() as api:
            request.url = request.url.copy_with(port=api.http.base_url.port)
            response = self._transport.handle_request(request)
            response.read()
            return response

    def close(self) -> None:
        self._transport.close()


@dataclass
class Load:
    """Clients in threads: their numbers of requests that succeeded, and descriptions of those that failed.

    `n_replays` counts the ended replays; `is_repeated` is set to begin another one at once.
    """

    balancer: Balancer
    keys: Iterator[str]
    end: Event = field(default_factory=Event)
    is_repeated: Event = field(default_factory=Event)
    n_succeeded: Counter[str] = field(default_factory=Counter)
    n_replays: int = 0
    failed: list[str] = field(default_factory=list)

    def client(self, key: str) -> httpx2.Client:
        return httpx2.Client(
            base_url="http://127.0.0.1",
            transport=BalancedTransport(self.balancer),
            headers={"Authorization": f"Bearer {key}"},
            timeout=TIMEOUT,
        )

    def replay(self, exchanges: Sequence[Mapping[str, Json]]) -> None:
        """Send the recorded requests again and again, each time as another owner: each has the recorded status."""
        while not self.end.is_set():
            self.is_repeated.clear()
            with self.client(next(self.keys)) as client:
                for recorded, now in replayed(client, exchanges):
                    described = f"{recorded['operation']}, {recorded['summary']}: {recorded['path']}"
                    got = f"expected {recorded['status']}, got {now['status']}: {now['response']}"
                    self._note("replay", now["status"] == recorded["status"], f"{described}: {got}")
                    if self.end.is_set() or self.is_repeated.is_set():
                        break
                else:
                    self.n_replays += 1

    def predict(self, key: str, path: str, expected: object) -> None:
        """Predict again and again: the response is the same."""
        with self.client(key) as client:
            while not self.end.is_set():
                response = client.post(path, json=PREDICTION)
                self._note("predict", response.is_success and response.json() == expected, response.text)
                self.end.wait(PAUSE_SECONDS)

    def read(self, key: str) -> None:
        """Read lists and metrics again and again."""
        with self.client(key) as client:
            while not self.end.is_set():
                for path in READ:
                    response = client.get(path)
                    self._note("read", response.status_code == 200, f"{path}: {response.text}")
                    self.end.wait(PAUSE_SECONDS)

    def probe(self, ready: Callable[[], Sequence[Api]]) -> None:
        """Probe processes again and again: each can use the tables."""
        while not self.end.is_set():
            for api in ready():
                report = api.http.get("/health/ready").json()
                # A busy machine lets the probe wait too long for the database; what it found is what counts.
                self._note("probe", report["migrated"] or not report["database"], str(report))
            self.end.wait(PAUSE_SECONDS)

    def goes_on(self, *, with_replay: bool = False) -> None:
        """Wait until each client has succeeded some more times, and, `with_replay`, all recorded requests have."""
        before, replays = self.n_succeeded.copy(), self.n_replays + with_replay
        if with_replay:
            self.is_repeated.set()

        def have_succeeded() -> bool:
            more = all(self.n_succeeded[name] >= before[name] + MORE for name in CLIENTS)
            return bool(self.failed) or (more and self.n_replays >= replays)

        until(have_succeeded, seconds=3 * TIMEOUT)
        assert not self.failed, "\n".join(self.failed)

    def _note(self, name: str, is_expected: bool, description: str) -> None:
        if is_expected:
            self.n_succeeded[name] += 1
        else:
            self.failed.append(f"{name}: {description[:1000]}")


@contextmanager
def running(load: Load, *work: Callable[[], None]) -> Iterator[None]:
    """Clients in threads, of which none may raise."""

    def run(one: Callable[[], None]) -> None:
        try:
            one()
        except (httpx2.HTTPError, AssertionError, ValueError, KeyError) as error:
            load.failed.append(repr(error))

    with ExitStack() as stack:
        for one in work:
            thread = Thread(target=run, args=(one,))
            thread.start()
            stack.callback(thread.join)
        stack.callback(load.end.set)
        yield
        time.sleep(PAUSE_SECONDS)
