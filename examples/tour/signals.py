"""The worked example of docs/signals.md: its model, and its answers made anew."""

import json

from app.client import connect
from examples.tour import pump
from examples.tour.readme import README, rewritten, steps_of, take

PAGE = README.parent / "docs" / "signals.md"


def learn(url: str) -> None:
    """Train the page's model as its command does."""
    with connect(url) as service:
        dataset = service.upload(pump.FILE)
        request = json.loads(pump.REQUEST.read_text())
        service.finished(service.submit({"dataset_id": dataset.id, **request}).id)


def renew(url: str) -> None:
    """Write the answers of a new service into the page; raises SystemExit where one has another shape."""
    learn(url)
    text = PAGE.read_text()
    steps = steps_of(text)
    PAGE.write_text(rewritten(text, steps, take(steps, url)))
