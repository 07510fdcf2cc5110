"""Clients that send requests without pause, and what they got."""

import http.client
import json
import ssl
import time
from dataclasses import dataclass, field
from threading import Event, Thread
from types import TracebackType
from urllib.parse import urlsplit

N_CLIENTS = 4
PAUSE_SECONDS = 0.1
MAX_REQUESTS = 50
"""Requests of a client on one connection."""


@dataclass
class Load:
    """A context with clients, each of which predicts; unless they predict only, they list and upload too.

    `failed` are the requests without a response, or with one of 500 and above; `outage` is the longest time in seconds
    in which a client got no other response.
    """

    url: str
    key: str
    path: str
    body: bytes
    predicts_only: bool = False
    sent: int = 0
    failed: list[str] = field(default_factory=list)
    outage: float = 0.0

    def __post_init__(self) -> None:
        self._over = Event()
        self._threads = [Thread(target=self._run, args=(place,)) for place in range(N_CLIENTS)]
        self._context = ssl.create_default_context()

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _requests(self, place: int) -> tuple[tuple[str, str, bytes | None, str], ...]:
        predict = ("POST", self.path, self.body, "application/json")
        upload = ("POST", f"/v1/datasets?name=load-{place}", b"x,y\n1,2\n3,4\n", "text/csv")
        return (predict,) if self.predicts_only else (*(predict,) * 8, ("GET", "/v1/models", None, ""), upload)

    def _run(self, place: int) -> None:
        last = time.monotonic()
        requests, sent = self._requests(place), 0
        connection = self._connection()
        while not self._over.is_set():
            method, path, body, kind = requests[sent % len(requests)]
            if sent % MAX_REQUESTS == 0:
                connection.close()
            sent += 1
            self.sent += 1
            try:
                headers = {"Authorization": f"Bearer {self.key}", "Content-Type": kind}
                connection.request(method, path, body, headers)
                response = connection.getresponse()
                text = response.read()
                if response.status >= 500:
                    self.failed.append(f"{method} {path} {response.status} {text[:200]!r}")
                else:
                    self.outage, last = max(self.outage, time.monotonic() - last), time.monotonic()
            except (OSError, http.client.HTTPException) as error:
                self.failed.append(f"{method} {path} {error!r}")
                connection.close()
            self._over.wait(PAUSE_SECONDS)
        connection.close()

    def _connection(self) -> http.client.HTTPSConnection:
        address = urlsplit(self.url).netloc
        return http.client.HTTPSConnection(address, context=self._context, timeout=30)


def row(inputs: dict[str, float | str | bool]) -> bytes:
    """The body of a prediction of one row."""
    return json.dumps({"rows": [inputs]}).encode()
