"""The claims of docs/reference/inference.md."""

from pathlib import Path

from relevance_bayes.client import DEFAULT_URL
from tests.examples.python_blocks import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "inference.md").read_text()


def test_the_pages_python_gives_what_the_page_shows(kiosk_url: str) -> None:
    reported = run(PAGE.replace(DEFAULT_URL, kiosk_url))
    assert len(reported) >= 3
    for line in reported:
        assert str(line.given) == line.shown, line
