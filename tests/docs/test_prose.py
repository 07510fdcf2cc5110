"""Pages are written in the words of the field, as the code is (`tests/architecture/test_language.py`)."""

import re
from pathlib import Path

import pytest

from tests.architecture.test_language import PHRASES

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"^```.*?^```$|`[^`]*`", re.MULTILINE | re.DOTALL)
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def idioms(page: str) -> list[str]:
    """The idioms in a page's prose, code left out."""
    prose = CODE.sub("_", page)
    return [found[0] for phrase in PHRASES for found in phrase.finditer(prose)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_has_no_idiom(page: Path) -> None:
    assert idioms(page.read_text("utf-8")) == []


def test_an_idiom_is_found_outside_of_code_alone() -> None:
    assert idioms("The header says so: `tell`.\n```sh\nask me\n```\n") == ["says"]
