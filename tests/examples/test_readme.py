"""The claims of the README."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.settings import MEBIBYTE, Settings
from examples.demo.service import running_service
from examples.tour import data
from examples.tour.readme import FIRST_MODEL, MORE, README, differences, renewed, steps_of, take
from relevance_bayes.client import DEFAULT_URL
from relevance_bayes.client.responses import Json

ROOT = README.parent
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


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
    assert settings_table() in (ROOT / "docs" / "reference" / "settings.md").read_text()


def test_the_readme_is_short() -> None:
    assert len(README.read_text().split()) <= 800


def test_every_link_of_a_page_leads_somewhere() -> None:
    pages = [README, *(ROOT / "docs").rglob("*.md")]
    lost = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in pages
        for link in LINK.findall(page.read_text())
        if not (page.parent / link).exists()
    ]
    assert lost == []


def test_every_page_is_listed_by_kind() -> None:
    index, *parts = (
        ROOT / "docs" / name for name in ("index.md", "explanation/benchmarks/index.md", "reference/endpoints/index.md")
    )
    listed = {(page.parent / link).resolve() for page in (index, *parts) for link in LINK.findall(page.read_text())}
    pages = {page for page in index.parent.rglob("*.md") if page != index and "theory" not in page.parts}
    assert sorted(pages - listed) == []


def test_the_tours_file_is_what_its_program_makes(tmp_path: Path) -> None:
    data.write(data.kiosk_days(), tmp_path / "kiosk.csv")
    assert data.KIOSK.read_bytes() == (tmp_path / "kiosk.csv").read_bytes()
    data.write(data.kiosk_days(data.LATER_DAYS, 8), tmp_path / "kiosk-later.csv")
    assert data.KIOSK_LATER.read_bytes() == (tmp_path / "kiosk-later.csv").read_bytes()


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: the commands need curl (apt install curl)")
@pytest.mark.parametrize(("page", "steps"), [(README, 4), (FIRST_MODEL, 8)])
def test_the_commands_respond_as_the_page_shows(page: Path, steps: int, tmp_path: Path) -> None:
    text = page.read_text()
    assert len(steps_of(text)) == steps
    with running_service(tmp_path / "tour.db", log=tmp_path / "service.log") as url:
        for step, response in zip(steps_of(text), take(steps_of(text), url).responses, strict=True):
            assert differences(step.response, response) == [], f"{step.command}\n{json.dumps(response)}"
        _, _, program = text.partition("```python\n")
        program = program.partition("```")[0].replace(DEFAULT_URL, url)
        done = subprocess.run((sys.executable, "-c", program), cwd=ROOT, capture_output=True, timeout=120, check=True)
    mean, sd = map(float, done.stdout.split())
    assert 60 < mean < 110
    assert 0 < sd < 10


def test_a_shown_response_is_renewed_with_its_line_breaks_and_gaps() -> None:
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
def test_responses_of_another_shape_are_distinguished(shown: Json, actual: Json) -> None:
    assert differences(shown, actual)
