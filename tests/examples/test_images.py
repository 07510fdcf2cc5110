"""The claims of docs/how-to/images.md."""

import doctest

import pytest

from examples.tour.readme import README

PAGE = README.parent / "docs" / "how-to" / "images.md"


@pytest.mark.thorough
def test_the_page_shows_what_its_lines_return() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8", report=True)
    assert found.attempted >= 13
    assert found.failed == 0


def test_the_page_has_its_picture_and_is_pointed_to() -> None:
    assert (PAGE.parents[1] / "pictures" / "images.png").is_file()
    assert "images.md" in (PAGE.parent / "signals.md").read_text()
