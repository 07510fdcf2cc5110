"""Services that several pages share; a page whose models are another page's too, or change, has its own."""

from collections.abc import Iterator

import pytest

from examples.demo.service import running_service
from examples.tour import kiosk
from relevance_bayes.client import connect


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
            dataset = service.upload(kiosk.FILE)
            job = service.trainings.wait(
                service.trainings.submit({"dataset_id": dataset.id, "target": "litres", "effort": "quick"}).id
            )
            assert job.state == "succeeded", job
        yield address
