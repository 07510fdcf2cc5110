"""What docs/formats.md says is so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.api.negotiation import ROW_TYPES
from app.client import DEFAULT_URL, connect
from examples.demo.service import running_service
from examples.tour import kiosk
from tests.examples.python_blocks import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "formats.md").read_text()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with the README's kiosk."""
    directory = tmp_path_factory.mktemp("formats")
    with running_service(directory / "formats.db", log=directory / "service.log") as address:
        with connect(address) as service:
            dataset = service.upload(kiosk.FILE)
            job = service.finished(service.submit({"dataset_id": dataset.id, "target": "litres"}).id)
            assert job.state == "succeeded", job
        yield address


def test_the_pages_python_gives_what_the_page_shows(url: str, tmp_path: Path) -> None:
    page = PAGE.replace(DEFAULT_URL, url).replace("rows.csv", str(tmp_path / "rows.csv"))
    closed = "\n```python\nservice.http.close()\n```\n"
    told = run(page.replace("examples/tour/kiosk.csv", str(kiosk.FILE)) + closed)
    assert len(told) >= 5
    for line in told:
        assert str(line.given) == line.shown, line


def test_the_page_names_every_format() -> None:
    assert all(f"`{media_type}`" in PAGE for media_type in ROW_TYPES)


def test_the_page_is_pointed_to() -> None:
    assert "docs/formats.md" in (ROOT / "README.md").read_text()
