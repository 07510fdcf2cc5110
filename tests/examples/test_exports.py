"""The claims of docs/how-to/exports.md and docs/reference/document.md."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from app.exports.formats import Format
from examples.demo.service import running_service
from examples.tour.terminal import cli_examples, printed
from relevance_bayes.client import connect
from relevance_bayes.client.responses import Json
from relevance_bayes.documents import parts as parts_of_models
from relevance_bayes.documents import schema
from relevance_bayes.documents.codec import MAX_FUNCTIONS, Part
from relevance_bayes.tasks.approximation.request import MAX_TERMS
from tests.examples.python_blocks import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "exports.md").read_text()
DOCUMENT = (ROOT / "docs" / "reference" / "document.md").read_text()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("exports")
    with running_service(directory / "exports.db", log=directory / "service.log") as address:
        yield address


def test_the_pages_files_report_what_it_shows(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples" / "tour", tmp_path / "examples" / "tour", ignore=shutil.ignore_patterns("*.py"))
    (training,) = re.findall(r"`(relevance train [^`]*)`", PAGE)
    printed(training, url, where=tmp_path)
    commands = cli_examples(PAGE)
    assert len(commands) == 3
    for spoken in commands:
        assert printed(spoken.command, url, where=tmp_path) == spoken.shown
    (importing,) = re.findall(r"^(relevance import .*)$", PAGE, re.MULTILINE)
    printed(importing, url, where=tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    reported = run(PAGE)
    assert len(reported) == 6
    for line in reported:
        assert float(str(line.given)) == pytest.approx(float(line.shown), rel=1e-3), line
    made = json.loads((tmp_path / "stall.json").read_text())
    assert (made["model"], made["imported"]["model"]) == ("stall", "kiosk")
    rows: dict[str, Json] = {"rows": [{"temperature": 31.0, "weather": "sunny", "holiday": True}]}
    with connect(url) as service:
        before, after = (service.predict(name, rows).predictions for name in ("kiosk", "stall"))
        assert before == after
        assert service.export("kiosk", 1, "npz") == (tmp_path / "kiosk.npz").read_bytes()
    assert before[0].mean == pytest.approx(float(str(reported[0].given)), rel=1e-10)


def test_the_page_names_every_member_of_a_document() -> None:
    stored = {schema.ImageContent, schema.ImagePart, schema.ReachedPart}  # and not exported
    named = {**vars(parts_of_models), **vars(schema)}.values()
    every = {part for part in named if isinstance(part, type) and issubclass(part, Part | schema.DocumentBase)}
    parts = every - stored - {Part}
    members = {field.name for part in parts for field in fields(part)} - {"type"}
    assert len(parts) > 15
    assert len(members) > 40
    assert sorted(name for name in members if f"`{name}`" not in DOCUMENT) == []


def test_the_page_has_every_format_and_limit() -> None:
    assert [re.findall(rf"^\| `{form}` \|", PAGE, re.MULTILINE) for form in get_args(Format)] == [
        [f"| `{form}` |"] for form in get_args(Format)
    ]
    assert f"{MAX_FUNCTIONS:,} functions" in PAGE
    assert f"{MAX_TERMS:,} terms" in PAGE
