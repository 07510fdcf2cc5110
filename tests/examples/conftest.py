"""Services that several pages share; a page whose models are another page's too, or change, has its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.demo.service import running_service
from examples.tour.data import KIOSK
from relevance_bayes.client import connect

HERE = Path(__file__).parent

SERVICES = {"url", "kiosk_url"}
"""Fixtures of a service that trains what a page shows: `make thorough` follows the pages, `make test` the README."""
README = "test_readme"


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        names = item.fixturenames if isinstance(item, pytest.Function) else ()
        if SERVICES & {*names} and item.path.stem != README and HERE in item.path.parents:
            item.add_marker("thorough")


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service for pages of which each has models of its own."""
    directory = tmp_path_factory.mktemp("pages")
    with running_service(directory / "pages.db", log=directory / "service.log") as address:
        yield address


@pytest.fixture(scope="session")
def kiosk_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with a version of the README's kiosk, which stays the only one."""
    directory = tmp_path_factory.mktemp("kiosk")
    with running_service(directory / "kiosk.db", log=directory / "service.log") as address:
        with connect(address) as service:
            dataset = service.upload(KIOSK)
            job = service.trainings.wait(
                service.trainings.submit({"dataset_id": dataset.id, "target": "litres", "effort": "quick"}).id
            )
            assert job.state == "succeeded", job
        yield address
