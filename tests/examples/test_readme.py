"""What the README says is so."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.settings import MEBIBYTE, Settings
from examples.demo.service import running_service
from examples.tour import kiosk
from examples.tour.readme import MORE, README, differences, renewed, take, tour
from examples.tour.table import write
from relevance_bayes.client import DEFAULT_URL
from relevance_bayes.client.answers import Json

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
            amount, unit = (default // MEBIBYTE, "MiB") if default >= MEBIBYTE else (default // 1024, "KiB")
            return f"`{default}` ({amount} {unit})"
        case _:
            return f"`{default}`"


def test_the_settings_table_is_complete_and_right() -> None:
    assert settings_table() in README.read_text()


def test_the_tours_file_is_what_its_program_makes(tmp_path: Path) -> None:
    write(kiosk.days(), tmp_path / "kiosk.csv")
    assert kiosk.FILE.read_bytes() == (tmp_path / "kiosk.csv").read_bytes()
    write(kiosk.days(kiosk.LATER_DAYS, 8), tmp_path / "kiosk-later.csv")
    assert kiosk.LATER.read_bytes() == (tmp_path / "kiosk-later.csv").read_bytes()


def test_every_file_that_the_readme_shows_is_there() -> None:
    pictures = [
        line.split("](")[1].split(")")[0] for line in README.read_text().split("![")[1:] for line in [f"![{line}"]
    ]
    assert len(pictures) == 4
    assert all((ROOT / picture).is_file() for picture in pictures)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("tour")
    with running_service(directory / "tour.db", log=directory / "service.log") as address:
        yield address


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: the README's tour needs curl (apt install curl)")
def test_the_tour_answers_as_the_readme_shows(url: str) -> None:
    steps = tour(README.read_text())
    assert len(steps) == 7
    for step, answer in zip(steps, take(steps, url).answers, strict=True):
        assert differences(step.answer, answer) == [], f"{step.command}\n{json.dumps(answer)}"
    _, _, program = README.read_text().partition("```python\n")
    program = program.partition("```")[0].replace(DEFAULT_URL, url)
    done = subprocess.run((sys.executable, "-c", program), cwd=ROOT, capture_output=True, timeout=120, check=True)
    mean, sd = map(float, done.stdout.split())
    assert 60 < mean < 110
    assert 0 < sd < 10


def test_a_shown_answer_is_renewed_with_its_line_breaks_and_gaps() -> None:
    shown = '{"a": 1, "b": [\n  {"c": "old, {text}", "d": null}, ...],\n "e": [], ...}\n'
    actual: Json = {"z": 0, "e": [], "b": [{"d": 2.5, "c": 'new "text"'}, {"d": 1, "c": "2"}], "a": -1e-9}
    assert renewed(shown, actual) == (
        '{"a": -1e-09, "b": [\n  {"c": "new \\"text\\"", "d": 2.5}, ...],\n "e": [], ...}\n'
    )


@pytest.mark.parametrize(
    ("shown", "actual"),
    [
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, MORE: None}, {"b": 2}),
        ([1], [1, 2]),
        ([1, 2, MORE], [1]),
        ({"a": None}, {"a": 1}),
    ],
    ids=["another type", "a member more", "a member less", "an item more", "an item less", "null"],
)
def test_answers_of_another_shape_are_told_apart(shown: Json, actual: Json) -> None:
    assert differences(shown, actual)
