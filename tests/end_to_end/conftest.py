"""One API and one worker for each of the databases, kept for all tests that don't stop them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import DATABASES, migrated_database
from tests.end_to_end.deployment import Api, Deployment, deployed


@pytest.fixture(scope="session")
def api_on(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Api]]:
    """The API with a worker on a database of this name, started when a test first requests it."""
    if "postgresql" in DATABASES:
        request.getfixturevalue("postgres_databases")  # now, so that its server ends after the processes on it
    with ExitStack() as stack:

        @cache
        def start(database: str) -> Api:
            directory = tmp_path_factory.mktemp(database)
            url = stack.enter_context(migrated_database(database, request, directory))
            deployment = stack.enter_context(deployed(url, directory))
            deployment.start("worker")
            return deployment.api()

        yield start


@pytest.fixture
def running(api_on: Callable[[str], Api]) -> dict[str, Api]:
    """An API with a worker on each database."""
    return {database: api_on(database) for database in DATABASES}


@pytest.fixture(params=DATABASES)
def api(request: pytest.FixtureRequest, api_on: Callable[[str], Api]) -> Api:
    """An API with a worker, on each database in turn."""
    return api_on(str(request.param))


@pytest.fixture(scope="session")
def another_api_on(
    api_on: Callable[[str], Api], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Api]]:
    """A second API process on a database of this name, started when a test first requests it."""
    with ExitStack() as stack:

        @cache
        def start(database: str) -> Api:
            directory = tmp_path_factory.mktemp(f"{database}-another")
            return stack.enter_context(deployed(api_on(database).database_url, directory)).api()

        yield start


@pytest.fixture(params=DATABASES)
def two_apis(
    request: pytest.FixtureRequest, api_on: Callable[[str], Api], another_api_on: Callable[[str], Api]
) -> tuple[Api, Api]:
    """Two API processes and a worker on one database, on each in turn."""
    database = str(request.param)
    return api_on(database), another_api_on(database)


@pytest.fixture
def deployment(database_url: str, tmp_path: Path) -> Iterator[Deployment]:
    """A deployment of the test's own, without any process yet."""
    with deployed(database_url, tmp_path) as deployment:
        yield deployment
