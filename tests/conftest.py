"""Databases for the tests: a test that requests one runs on SQLite and on a real PostgreSQL, built by migrations."""

import gc
import logging
import os
import shutil
import sys
from collections.abc import Container, Generator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from uuid import uuid4

import pytest
import structlog
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from sqlalchemy import Engine

from app.database.engine import make_engine
from app.database.migrations import migrate
from app.jobs.queue.client import migrate as migrate_queue
from tests import postgres
from tests.covering import repeated
from tests.database_pool import DatabasePool
from tests.properties import FEW, MANY, VERY_MANY
from tests.shared_engines import SharedEngines
from tests.small_database import SmallDatabase, replaced_database, small_engine

pytest_plugins = ["tests.applications", "tests.transactions"]
pytest.register_assert_rewrite("tests.end_to_end.exchanges")

HERE = Path(__file__).parent
REQUIRED = os.environ.get("RELEVANCE_REQUIRE_POSTGRES") == "1"
PROGRAMS = postgres.programs()
DATABASES = ["sqlite", "postgresql"] if PROGRAMS else ["sqlite"]
TEMPLATE = "relevance_template"

SUITES = {
    "browser": "browser",
    "deploy": "monitoring",
    "faults": "faults",
    "fuzz": "hostile",
    "hostile": "hostile",
    "upgrades": "upgrades",
}
"""The mark of all tests in a folder: suites with a target of their own in the Makefile."""

THOROUGH = ("end_to_end", "foreign")
"""Folders whose tests start servers and train on them: `make thorough` runs them."""

THOROUGH_ON_POSTGRES = (
    "audit",
    "database/stored",
    "datasets",
    "end_to_end",
    "evaluation",
    "exports",
    "http",
    "inference",
    "jobs/worker",
    "maintenance",
    "outcomes",
    "prediction",
    "registry",
    "tasks",
    "webhooks",
)
"""Folders whose tests are about what is above SQL: `make test` runs them on SQLite, `make thorough` on PostgreSQL."""
MAIN_JOB = "end_to_end/test_the_main_job.py"
"""The pass through the whole service, which `make test` runs on SQLite."""

OF_MODELS = (
    "approximation",
    "automatic_prior",
    "classes",
    "components",
    "dictionaries",
    "estimators",
    "explanations",
    "heteroscedastic",
    "images",
    "likelihoods",
    "local",
    "models_of_classes",
    "pools",
    "validation",
    "widths",
)
"""Tests of end_to_end that are about what is learned: `make thorough` runs them on PostgreSQL, `make long` on both."""

ON_BOTH = ("prediction/test_names_in_memory.py",)
"""Messages between processes, which each database carries in its own way: `make test` runs their tests on both."""

# How long an example takes depends on what else the machine does, so no example has a deadline.
hypothesis_settings.register_profile("relevance", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# `make test` and `make check` draw the same few examples each time: their result depends on the change alone.
hypothesis_settings.register_profile(
    "few", hypothesis_settings.get_profile("relevance"), derandomize=True, max_examples=FEW
)
# `make thorough` draws many, and new ones each time, except where CI=true.
hypothesis_settings.register_profile(
    "many",
    hypothesis_settings.get_profile("relevance"),
    derandomize=os.environ.get("CI") == "true",
    max_examples=MANY,
)
hypothesis_settings.register_profile("long", hypothesis_settings.get_profile("relevance"), max_examples=VERY_MANY)
hypothesis_settings.load_profile("few")


def pytest_xdist_auto_num_workers() -> int:
    """Return twice as many processes as there are cores: tests wait for servers and clocks, some for seconds."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return 2 * cores


def pytest_sessionstart(session: pytest.Session) -> None:
    if REQUIRED and PROGRAMS is None:
        pytest.exit(f"RELEVANCE_REQUIRE_POSTGRES=1, and PostgreSQL's programs are missing: {postgres.INSTALL}", 1)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files of which the default `-m` selects no test, unless an argument names them or their folder."""
    if collection_path.suffix != ".py" or mark_of(collection_path) is None or not is_default(config):
        return None
    folder = HERE / collection_path.relative_to(HERE).parts[0]
    arguments = (Path(argument.partition("::")[0]).absolute() for argument in config.args)
    return None if any(one.is_relative_to(folder) for one in arguments) else True


def is_default(config: pytest.Config) -> bool:
    """True where tests are selected by the `-m` of pyproject.toml alone."""
    options: list[str] = config.getini("addopts")
    selected: str = config.option.markexpr
    return selected == options[options.index("-m") + 1]


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ids = {item.nodeid for item in items}
    for item in items:
        mark = mark_of(item.path)
        if mark is not None:
            item.add_marker(mark)
        elif is_above_sql(item.path) and repeats(item, ids, on="postgresql", instead_of="sqlite"):
            item.add_marker("thorough")
        if is_of_models(item.path) and repeats(item, ids, on="sqlite", instead_of="postgresql"):
            item.add_marker("long")
    for item in repeated(items):
        item.add_marker("long")


@cache
def mark_of(file: Path) -> str | None:
    """The mark of all tests in a file; None where they have none in common."""
    path = file.relative_to(HERE)
    is_thorough = path.parts[0] in THOROUGH and path.as_posix() != MAIN_JOB
    return SUITES.get(path.parts[0], "thorough" if is_thorough else None)


@cache
def is_above_sql(file: Path) -> bool:
    """True in one of the folders of `THOROUGH_ON_POSTGRES`, unless it tests a repository or messages."""
    path = file.relative_to(HERE)
    is_excepted = path.stem.endswith("repository") or path.as_posix() in ON_BOTH
    return not is_excepted and any(path.is_relative_to(one) for one in THOROUGH_ON_POSTGRES)


@cache
def is_of_models(file: Path) -> bool:
    """True for a file of `OF_MODELS`."""
    path = file.relative_to(HERE)
    return path.parts[0] == "end_to_end" and path.stem.removeprefix("test_") in OF_MODELS


def repeats(item: pytest.Item, ids: Container[str], *, on: str, instead_of: str) -> bool:
    """True if the same test is among `ids` on the other database."""
    name, _, parameters = item.nodeid.partition("[")
    return on in parameters and f"{name}[{parameters.replace(on, instead_of)}" in ids


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    # Next to nothing of what is imported and collected is garbage: looking for it meanwhile is a tenth of the time.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    # It stays to the end: no collection needs to look at it for a few objects of a test.
    gc.freeze()
    gc.set_threshold(10_000)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if PROGRAMS is None:
        terminalreporter.section("NOT RUN", red=True, bold=True)
        terminalreporter.line(
            f"The half of the tests that needs PostgreSQL was NOT RUN. Install it: {postgres.INSTALL}"
        )


@pytest.fixture
def logging_as_it_was() -> Iterator[None]:
    """Settings that a process of its own configures for itself do not stay for the tests that follow."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    uvicorn, of_server = logging.getLogger("uvicorn"), logging.getLogger("uvicorn.error")
    level_of_server, handlers_of_uvicorn, propagates = of_server.level, uvicorn.handlers[:], uvicorn.propagate
    of_server.setLevel(logging.NOTSET)
    uvicorn.handlers, uvicorn.propagate = [], True
    yield
    root.handlers, root.level = handlers, level
    of_server.setLevel(level_of_server)
    uvicorn.handlers, uvicorn.propagate = handlers_of_uvicorn, propagates
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[postgres.Server]:
    """One real server a test process; its database TEMPLATE is migrated and empty."""
    if PROGRAMS is None:
        pytest.skip(f"PostgreSQL is not installed: {postgres.INSTALL}")
    with postgres.running(PROGRAMS) as server:
        server.create(TEMPLATE)
        engine = make_engine(server.url(TEMPLATE))
        migrate(engine)
        migrate_queue(engine)
        engine.dispose()
        yield server


@pytest.fixture(scope="session")
def postgres_databases(postgres_server: postgres.Server) -> DatabasePool:
    """Copies of TEMPLATE that tests use one after the other."""
    return DatabasePool(postgres_server, TEMPLATE)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty SQLite file, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    engine = make_engine(f"sqlite:///{path}", creates=True)
    migrate(engine)
    migrate_queue(engine)
    engine.dispose()
    return path


@pytest.fixture(scope="session")
def engine_of_one_file(sqlite_template: Path) -> Engine:
    """An engine for a file beside the template, which tests replace one after the other."""
    return small_engine(sqlite_template.with_name("small.db"))


@pytest.fixture
def migrated_file(sqlite_template: Path, tmp_path: Path) -> Path:
    """A migrated, empty SQLite file `relevance.db`, of which a process or a command makes an engine of its own."""
    return shutil.copyfile(sqlite_template, tmp_path / "relevance.db")


@pytest.fixture
def stored(engine_of_one_file: Engine, sqlite_template: Path) -> Iterator[SmallDatabase]:
    """A migrated, empty SQLite database of the test's own."""
    with replaced_database(engine_of_one_file, sqlite_template) as database:
        yield database


@contextmanager
def migrated_database(database: str, request: pytest.FixtureRequest, directory: Path) -> Iterator[str]:
    """The URL of a migrated, empty database; SQLite's is in this directory."""
    if database == "sqlite":
        path = directory / "relevance.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        yield f"sqlite:///{path}"
        return
    pool: DatabasePool = request.getfixturevalue("postgres_databases")
    with pool.database() as url:
        yield url


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    """Which of the two databases this run of the test is on."""
    return str(request.param)


@pytest.fixture
def database_url(database: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a migrated, empty database of the test's own."""
    with migrated_database(database, request, tmp_path) as url:
        yield url


@pytest.fixture
def empty_database_url(database: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without any table."""
    if database == "sqlite":
        path = tmp_path / "empty.db"
        path.touch()
        yield f"sqlite:///{path}"
        return
    server = request.getfixturevalue("postgres_server")
    name = f"empty_{uuid4().hex}"
    server.create(name)
    yield server.url(name).render_as_string(hide_password=False)
    server.drop(name)


@pytest.fixture(scope="session")
def shared_engines(tmp_path_factory: pytest.TempPathFactory) -> SharedEngines:
    """Engines that tests use one after the other."""
    return SharedEngines(tmp_path_factory.mktemp("engines"))


@pytest.fixture
def engine(database_url: str, shared_engines: SharedEngines) -> Iterator[Engine]:
    """An engine on a migrated, empty database."""
    with shared_engines.connected(database_url) as engine:
        yield engine
