"""The worked example of docs/approximation.md: its answers made anew."""

from examples.tour.readme import README, rewritten, steps_of, take

PAGE = README.parent / "docs" / "approximation.md"


def renew(url: str) -> None:
    """Write the answers of a new service into the page; raises SystemExit where one has another shape."""
    text = PAGE.read_text()
    steps = steps_of(text)
    PAGE.write_text(rewritten(text, steps, take(steps, url)))
