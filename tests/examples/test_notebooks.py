"""The tutorials that are notebooks: their cells have the outputs that the pages show."""

import pytest

from tests.docs.notebooks import FOLDER, NOTEBOOKS, ROOT, executed, outputs


@pytest.mark.thorough
@pytest.mark.parametrize("page", NOTEBOOKS)
def test_the_cells_of_a_page_have_the_outputs_that_it_shows(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (FOLDER / page).read_text("utf-8")
    shown = outputs(text)
    assert sum(map(bool, shown)) >= 6
    assert [*executed(text)] == shown, "`python -m tests.docs.notebooks` writes them"
