"""The worked examples of pages whose commands begin with an upload: their answers made anew."""

from pathlib import Path

from examples.tour.readme import README, rewritten, steps_of, take
from examples.tour.terminal import with_current_output

APPROXIMATION = README.parent / "docs" / "how-to" / "approximation.md"
IMAGES = README.parent / "docs" / "how-to" / "images.md"
COMPONENTS = README.parent / "docs" / "how-to" / "components.md"
PAGES = (APPROXIMATION, IMAGES, COMPONENTS)


def update_page(page: Path, url: str) -> None:
    """Write the answers of a new service into a page; raises SystemExit where one has another shape."""
    text = page.read_text()
    steps = steps_of(text)
    page.write_text(with_current_output(rewritten(text, steps, take(steps, url)), url))
