"""The worked example of docs/decisions-of-classes.md: its model, and its answers made anew."""

from app.client import connect
from examples.tour import screening
from examples.tour.readme import README, rewritten, steps_of, take

PAGE = README.parent / "docs" / "decisions-of-classes.md"


def learn(url: str) -> None:
    """Train the page's model as its command does: nothing is said but the target."""
    with connect(url) as service:
        dataset = service.upload(screening.FILE)
        service.finished(service.submit({"dataset_id": dataset.id, "target": "ill"}).id)


def renew(url: str) -> None:
    """Write the answers of a new service into the page; raises SystemExit where one has another shape."""
    learn(url)
    text = PAGE.read_text()
    steps = steps_of(text)
    PAGE.write_text(rewritten(text, steps, take(steps, url)))
