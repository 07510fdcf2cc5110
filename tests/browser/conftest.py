"""The service, and Chromium. Without Playwright, which `make browser` has, nothing here is collected."""

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.browser.data import Filled, filled
from tests.end_to_end.deployment import Api, Deployment, deployed

HAS_PLAYWRIGHT = find_spec("playwright") is not None
collect_ignore_glob = [] if HAS_PLAYWRIGHT else ["test_*.py"]

if HAS_PLAYWRIGHT:
    from playwright.sync_api import Browser, expect, sync_playwright

    from tests.browser.visits import TIMEOUT, Visit, visiting

    expect.set_options(timeout=TIMEOUT)

    @pytest.fixture(scope="session")
    def browser() -> Iterator[Browser]:
        """Debian's Chromium, or the one on the PATH."""
        found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        assert found is not None, "expected chromium on the PATH"
        with sync_playwright() as playwright:
            # In a container there is no namespace for Chromium's sandbox, and /dev/shm is small.
            # Names below `example` have this machine's address, as those of a foreign site after DNS rebinding.
            arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP *.example 127.0.0.1"]
            browser = playwright.chromium.launch(executable_path=found, args=arguments)
            yield browser
            browser.close()

    @pytest.fixture
    def visit(browser: Browser, api: Api) -> Iterator[Visit]:
        """A visit of a service that starts empty, without keys."""
        with visiting(browser, url_of(api)) as visit:
            yield visit

    @pytest.fixture
    def filled_visit(browser: Browser, filled_service: Filled) -> Iterator[Visit]:
        """A visit of a service with datasets and models."""
        with visiting(browser, filled_service.url) as visit:
            yield visit


def url_of(api: Api) -> str:
    """The origin of a service."""
    return str(api.http.base_url).rstrip("/")


@pytest.fixture(scope="module")
def deployment(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """An empty database, and the processes over it."""
    directory = tmp_path_factory.mktemp("service")
    shutil.copyfile(sqlite_template, directory / "relevance.db")
    with deployed(f"sqlite:///{directory / 'relevance.db'}", directory) as made:
        yield made


@pytest.fixture(scope="module")
def api(deployment: Deployment) -> Api:
    """The API."""
    return deployment.api()


@pytest.fixture(scope="session")
def filled_service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """A service with data, for tests that only look."""
    directory = tmp_path_factory.mktemp("filled")
    shutil.copyfile(sqlite_template, directory / "relevance.db")
    with deployed(f"sqlite:///{directory / 'relevance.db'}", directory) as made:
        api = made.api()
        made.start("worker")
        yield filled(api.calls, url_of(api))
