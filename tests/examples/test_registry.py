"""The claims of docs/how-to/registry.md."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli.commands import application
from examples.demo.service import running_service
from examples.tour.data import KIOSK
from relevance_bayes.client import DEFAULT_URL, connect
from tests.examples.python_blocks import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "registry.md").read_text()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with two versions of the README's kiosk."""
    directory = tmp_path_factory.mktemp("registry")
    with running_service(directory / "registry.db", log=directory / "service.log") as address:
        with connect(address) as service:
            dataset = service.upload(KIOSK)
            for _ in range(2):
                job = service.trainings.wait(
                    service.trainings.submit({"dataset_id": dataset.id, "target": "litres", "effort": "quick"}).id
                )
                assert job.state == "succeeded", job
        yield address


def test_the_pages_python_gives_what_the_page_shows(url: str) -> None:
    reported = run(PAGE.replace(DEFAULT_URL, url))
    assert len(reported) >= 8
    for line in reported:
        assert str(line.given) == line.shown, line


def test_the_pages_commands_do_what_they_state(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELEVANCE_URL", url)
    monkeypatch.delenv("RELEVANCE_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    printed: dict[str, str] = {}
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        for command in block.splitlines():
            done = CliRunner().invoke(application, shlex.split(command)[1:])
            assert done.exit_code == 0, (command, done.output)
            printed[command.split()[1]] = done.stdout
    assert (tmp_path / "predicted.csv").read_text().count("\n") == 151
    assert "Less error." in printed["aliases"]
    assert "team:ice" in printed["models"]
    assert "stage:live" in printed["versions"]
    assert re.search(r"(?m)^rows +150$", printed["compare"])
    assert re.search(r"first +kiosk, version 2", printed["compare"])
