"""The number of the release: `__version__` of the library, and wherever it follows from it or is stated again."""

import re
import subprocess
from pathlib import Path

import pytest
from httpx2 import Response

import app
from relevance_bayes import __version__
from tests.commands import runner

ROOT = Path(__file__).parents[1]


def test_the_number_is_that_of_both_packages_and_of_a_release() -> None:
    assert app.__version__ == __version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    for folder in (ROOT, ROOT / "library"):
        assert 'dynamic = ["version"]' in (folder / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("pyproject.toml", r'"relevance-bayes(?:\[\w+\])?==([^"]+)"'),
        ("docker-compose.yml", r"image: relevance:(\S+)"),
        ("Dockerfile", r'image\.version="(.+)"'),
        ("deploy/kubernetes/kustomization.yaml", r"newTag: (\S+)"),
        ("docs/how-to/kubernetes.md", r"newTag: (\S+)"),
        ("docs/how-to/deployment.md", r"relevance:(\d\S+)"),
        ("docs/how-to/backup.md", r"^release +(\S+)"),
        ("docs/how-to/page.md", r'"name": "relevance", "version": "([^"]+)"'),
        ("docs/reference/endpoints/service.md", r'"name": "relevance", "version": "([^"]+)"'),
    ],
)
def test_files_that_other_programs_and_people_read_have_it(file: str, pattern: str) -> None:
    assert re.findall(pattern, (ROOT / file).read_text(), re.MULTILINE) == [__version__]


def test_make_gives_it_to_the_image() -> None:
    command = ("make", "--dry-run", "--assume-old", ".venv/.installed", "image")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert f"docker build --tag relevance:{__version__} ." in done.stdout


def test_the_changelog_begins_with_it() -> None:
    assert re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0] == __version__


def test_the_command_states_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert runner(monkeypatch)("--version").stdout == f"relevance {__version__}\n"


def test_the_description_of_the_api_has_it(openapi: Response) -> None:
    assert openapi.json()["info"]["version"] == __version__
