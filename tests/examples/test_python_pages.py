"""The claims of docs/how-to/approximation.md and docs/how-to/components.md."""

from pathlib import Path

import numpy as np
import pytest

from tests.examples.python_blocks import run

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["approximation.md", "components.md"])
def test_a_pages_python_gives_what_the_page_shows(page: str) -> None:
    reported = run((DOCS / "how-to" / page).read_text())
    assert len(reported) > 3
    for line in reported:
        if isinstance(line.given, int | float | np.number) and not isinstance(line.given, bool):
            assert line.given == pytest.approx(float(line.shown), rel=0.1, abs=1e-4), line
        else:
            assert str(line.given) == line.shown, line


@pytest.mark.parametrize("page", ["approximation", "components"])
def test_a_page_has_its_picture(page: str) -> None:
    picture = "expansions" if page == "approximation" else page
    assert f"pictures/{picture}.png" in (DOCS / "how-to" / f"{page}.md").read_text()
    assert (DOCS / "pictures" / f"{picture}.png").is_file()
