"""Watching a job of a running service, from its beginning to its end."""

from relevance_bayes.client.responses import Json
from tests.end_to_end.deployment import Api
from tests.end_to_end.tables import sinc

WIDTH: Json = {"type": "kernel", "width": {"type": "fixed", "value": 2.0}}


def test_a_training_is_followed_to_its_end(api: Api) -> None:
    dataset = api.calls.create_dataset(sinc(30), name="sinc-followed")
    job = api.calls.trainings.submit({"dataset_id": dataset.id, "target": "y", "basis": WIDTH})
    events = list(api.calls.trainings.follow(job.id))
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert [event.transition.state for event in events if event.transition] == ["queued", "running", "succeeded"]
    assert events[-1].is_last
    assert list(api.calls.trainings.follow(job.id, after=events[-1].number)) == []
    pages = api.calls.trainings.events(job.id)
    assert list(pages.items) == events
