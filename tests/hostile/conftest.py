"""A service on each of the databases, for tests that compare what the two of them accept and return."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias

import httpx2
import pytest

from tests.conftest import DATABASES, migrated_database
from tests.end_to_end.deployment import deployed
from tests.hostile.client import hostile_client
from tests.keys import add_key
from tests.served import KEY

Clients: TypeAlias = Mapping[str, httpx2.Client]


@pytest.fixture(scope="module")
def clients(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    """A client of a service on each database, by the database's name."""
    with ExitStack() as stack:
        found = {}
        for name in DATABASES:
            directory = tmp_path_factory.mktemp(name)
            url = stack.enter_context(migrated_database(name, request, directory))
            found[name] = stack.enter_context(_client(url, directory))
        yield found


@contextmanager
def _client(database_url: str, directory: Path) -> Iterator[httpx2.Client]:
    add_key(database_url, KEY)
    with deployed(database_url, directory) as deployment:
        api = deployment.api(RELEVANCE_LOG_REQUESTS="0")
        with hostile_client(str(api.http.base_url), KEY) as client:
            yield client
        assert "unexpected" not in deployment.given()
