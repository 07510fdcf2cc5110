"""A client whose network is a table of answers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import httpx
import pytest

from relevance_bayes.client import Client
from relevance_bayes.client.http import Http

Handler = Callable[[httpx.Request], httpx.Response]


@dataclass
class Service:
    """Responds by method and path, and keeps the requests."""

    responses: Mapping[str, Handler]
    requested: list[httpx.Request] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requested.append(request)
        return self.responses[f"{request.method} {request.url.raw_path.decode().partition('?')[0]}"](request)


@dataclass
class Pair:
    """A client, and the service that it speaks to."""

    client: Client
    service: Service


Connected = Callable[[Mapping[str, Handler]], Pair]


@pytest.fixture
def connected() -> Iterator[Connected]:
    """Makes a client of a service with these answers."""
    opened: list[Http] = []

    def connect(responses: Mapping[str, Handler]) -> Pair:
        service = Service(responses)
        http = Http.to("http://service", api_key="secret", transport=httpx.MockTransport(service))
        opened.append(http)
        return Pair(Client(http), service)

    yield connect
    for http in opened:
        http.close()
