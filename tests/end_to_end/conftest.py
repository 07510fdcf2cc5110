"""One API and one worker for each of the databases, kept for all tests that don't stop them."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conftest import DATABASES, TEMPLATE
from tests.end_to_end.deployment import Api, Deployment, deployed

pytest.register_assert_rewrite("tests.end_to_end.exchanges")


@pytest.fixture(scope="session")
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Api]]:
    """An API with a worker on each database."""
    with ExitStack() as stack:
        apis: dict[str, Api] = {}
        for database in DATABASES:
            directory = tmp_path_factory.mktemp(database)
            deployment = stack.enter_context(deployed(_new_database(database, directory, request), directory))
            deployment.start("worker")
            apis[database] = deployment.api()
        yield apis


@pytest.fixture(params=DATABASES)
def api(request: pytest.FixtureRequest, running: dict[str, Api]) -> Api:
    """An API with a worker, on each database in turn."""
    return running[str(request.param)]


@pytest.fixture
def deployment(database_url: str, tmp_path: Path) -> Iterator[Deployment]:
    """A deployment of the test's own, without any process yet."""
    with deployed(database_url, tmp_path) as deployment:
        yield deployment


@pytest.fixture
def sqlite_deployment(sqlite_template: Path, tmp_path: Path) -> Iterator[Deployment]:
    """The same for what has nothing to do with the database."""
    path = tmp_path / "relevance.db"
    shutil.copyfile(sqlite_template, path)
    with deployed(f"sqlite:///{path}", tmp_path) as deployment:
        yield deployment


def _new_database(database: str, directory: Path, request: pytest.FixtureRequest) -> str:
    if database == "sqlite":
        path = directory / "relevance.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        return f"sqlite:///{path}"
    server = request.getfixturevalue("postgres_server")
    name = f"end_to_end_{uuid4().hex}"
    server.create(name, TEMPLATE)
    return str(server.url(name).render_as_string(hide_password=False))
