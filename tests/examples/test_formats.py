"""The claims of docs/reference/formats.md and docs/how-to/batch-predictions.md and reading-files.md."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli.commands import application
from examples.tour.data import KIOSK
from relevance_bayes.client import DEFAULT_URL
from tests.examples.python_blocks import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "formats.md").read_text()
OF_READINGS = (ROOT / "docs" / "how-to" / "reading-files.md").read_text()
OF_DATASETS = (ROOT / "docs" / "how-to" / "batch-predictions.md").read_text()


def test_the_pages_python_gives_what_the_page_shows(kiosk_url: str, tmp_path: Path) -> None:
    page = PAGE.replace(DEFAULT_URL, kiosk_url)
    for name in ("rows.csv", "labels.csv"):
        page = page.replace(name, str(tmp_path / name))
    closed = "\n```python\nservice.http.close()\n```\n"
    reported = run(page.replace("examples/tour/kiosk.csv", str(KIOSK)) + closed)
    assert len(reported) >= 5
    for line in reported:
        assert str(line.given) == line.shown, line


def test_the_page_of_whole_datasets_gives_what_it_shows(kiosk_url: str, tmp_path: Path) -> None:
    page = OF_DATASETS.replace(DEFAULT_URL, kiosk_url).replace("predictions.csv", str(tmp_path / "predictions.csv"))
    closed = "\n```python\nservice.http.close()\n```\n"
    reported = run(page.replace("examples/tour/kiosk.csv", str(KIOSK)) + closed)
    assert len(reported) >= 4
    for line in reported:
        assert str(line.given) == line.shown, line


def test_the_page_of_readings_gives_what_it_shows(
    kiosk_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = OF_READINGS.replace(DEFAULT_URL, kiosk_url)
    reported = run(page + "\n```python\nservice.http.close()\n```\n")
    assert len(reported) >= 8
    for line in reported:
        assert str(line.given) == line.shown, line


def test_its_command_writes_the_file(kiosk_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELEVANCE_URL", kiosk_url)
    monkeypatch.delenv("RELEVANCE_API_KEY", raising=False)
    (command,) = re.findall(r"^relevance (.*)$", OF_DATASETS, re.MULTILINE)
    for ending, first in (("csv", b"litres,mean,"), ("parquet", b"PAR1")):
        file = tmp_path / f"made.{ending}"
        edited = command.replace("predictions.csv", str(file)).replace("examples/tour/kiosk.csv", str(KIOSK))
        done = CliRunner().invoke(application, shlex.split(edited))
        assert done.exit_code == 0, done.output
        assert done.stdout.strip() == f"Predictions for 150 rows are in {file}."
        assert file.read_bytes().startswith(first)
    refused = CliRunner().invoke(application, ["predict-dataset", "kiosk", str(KIOSK), "-o", "made.xlsx"])
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "the suffix gives the format" in refused.stderr
