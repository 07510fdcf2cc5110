"""The number of the release: that of `pyproject.toml`, wherever it is stated."""

import re
import tomllib
from pathlib import Path

import pytest
from httpx2 import Response

import relevance_bayes
from app import __version__
from tests.commands import runner

ROOT = Path(__file__).parents[1]
RELEASE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_service_and_its_library_have_the_number_of_the_release() -> None:
    library = tomllib.loads((ROOT / "library" / "pyproject.toml").read_text())["project"]["version"]
    assert {__version__, relevance_bayes.__version__, library} == {RELEASE}


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("Makefile", r"IMAGE := relevance:(\S+)"),
        ("docker-compose.yml", r"image: relevance:(\S+)"),
        ("Dockerfile", r'image\.version="(.+)"'),
        ("deploy/kubernetes/kustomization.yaml", r"newTag: (\S+)"),
    ],
)
def test_images_have_the_number_of_the_release(file: str, pattern: str) -> None:
    assert re.findall(pattern, (ROOT / file).read_text()) == [RELEASE]


def test_the_command_states_the_number_of_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    assert runner(monkeypatch)("--version").stdout == f"relevance {RELEASE}\n"


def test_the_description_of_the_api_has_the_number_of_the_release(openapi: Response) -> None:
    assert openapi.json()["info"]["version"] == RELEASE
