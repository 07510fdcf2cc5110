"""What docs/inference.md says is so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.client import DEFAULT_URL, connect
from examples.demo.service import running_service
from examples.tour import kiosk
from tests.examples.python_blocks import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "inference.md").read_text()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with a version of the README's kiosk."""
    directory = tmp_path_factory.mktemp("inference")
    with running_service(directory / "inference.db", log=directory / "service.log") as address:
        with connect(address) as service:
            dataset = service.upload(kiosk.FILE)
            job = service.trainings.wait(
                service.trainings.submit({"dataset_id": dataset.id, "target": "litres", "effort": "quick"}).id
            )
            assert job.state == "succeeded", job
        yield address


def test_the_pages_python_gives_what_the_page_shows(url: str) -> None:
    told = run(PAGE.replace(DEFAULT_URL, url))
    assert len(told) >= 3
    for line in told:
        assert str(line.given) == line.shown, line


def test_the_page_is_pointed_to() -> None:
    assert "docs/inference.md" in (ROOT / "README.md").read_text()
