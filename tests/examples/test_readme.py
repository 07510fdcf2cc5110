"""What the README says is so."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.client.http import DEFAULT_URL
from app.settings import MEBIBYTE, Settings
from examples.demo.service import running_service
from examples.tour import kiosk
from tests.examples.readme import README, differences, ids, tour

ROOT = README.parent


def settings_table() -> str:
    lines = ["| variable | default | what it is |", "| --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        lines.append(f"| `RELEVANCE_{name.upper()}` | {_as_text(name, field.default)} | {field.description} |")
    return "\n".join(lines)


def _as_text(name: str, default: object) -> str:
    match default:
        case None:
            return ""
        case bool() | float():
            return f"`{default:g}`"
        case int() if name.endswith("_bytes"):
            return f"`{default}` ({default // MEBIBYTE} MiB)"
        case _:
            return f"`{default}`"


def test_the_settings_table_is_complete_and_right() -> None:
    assert settings_table() in README.read_text()


def test_the_tours_file_is_what_its_program_makes(tmp_path: Path) -> None:
    kiosk.write(tmp_path / "kiosk.csv")
    assert kiosk.FILE.read_bytes() == (tmp_path / "kiosk.csv").read_bytes()


def test_every_file_that_the_readme_shows_is_there() -> None:
    pictures = [
        line.split("](")[1].split(")")[0] for line in README.read_text().split("![")[1:] for line in [f"![{line}"]
    ]
    assert len(pictures) == 2
    assert all((ROOT / picture).is_file() for picture in pictures)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("tour")
    with running_service(directory / "tour.db", log=directory / "service.log") as address:
        yield address


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: the README's tour needs curl (apt install curl)")
def test_the_tour_answers_as_the_readme_shows(url: str) -> None:
    steps = tour()
    assert len(steps) == 7
    known: dict[str, str] = {DEFAULT_URL: url}
    for step in steps:
        command = step.command
        for shown, actual in known.items():
            command = command.replace(shown, actual)
        done = subprocess.run(("sh", "-c", command), cwd=ROOT, capture_output=True, timeout=120, check=True)
        answer = json.loads(done.stdout)
        assert differences(step.answer, answer) == [], f"{command}\n{done.stdout.decode()}"
        known |= ids(step.answer, answer)
