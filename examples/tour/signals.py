"""The worked example of docs/how-to/signals.md: its answers made anew."""

from examples.tour.readme import README, rewritten, steps_of, take
from examples.tour.terminal import with_current_output

PAGE = README.parent / "docs" / "how-to" / "signals.md"


def update_page(url: str) -> None:
    """Write the answers of a new service into the page; raises SystemExit where one has another shape."""
    text = with_current_output(PAGE.read_text(), url)
    steps = steps_of(text)
    PAGE.write_text(rewritten(text, steps, take(steps, url)))
