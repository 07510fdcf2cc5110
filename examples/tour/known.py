"""The worked examples of pages whose commands begin with an upload: their answers made anew."""

from pathlib import Path

from examples.tour.readme import README, rewritten, steps_of, take
from examples.tour.terminal import respoken

APPROXIMATION = README.parent / "docs" / "approximation.md"
IMAGES = README.parent / "docs" / "images.md"
COMPONENTS = README.parent / "docs" / "components.md"
PAGES = (APPROXIMATION, IMAGES, COMPONENTS)


def renew(page: Path, url: str) -> None:
    """Write the answers of a new service into a page; raises SystemExit where one has another shape."""
    text = page.read_text()
    steps = steps_of(text)
    page.write_text(respoken(rewritten(text, steps, take(steps, url)), url))
