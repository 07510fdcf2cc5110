"""Every example of the documentation, executed."""

from app.http.openapi import recorded
from tests.end_to_end.deployment import Deployment
from tests.end_to_end.exchanges import assert_alike, replayed
from tests.waiting import until


def test_the_service_responds_as_documented(deployment: Deployment) -> None:
    deployment.start("worker", RELEVANCE_WORKER_SLOTS="1")  # jobs end, and lists have them, in the order of requests
    api = deployment.api()
    until(lambda: bool(api.http.get("/health/ready").json()["worker"]), seconds=60)
    exchanges = recorded()
    assert len(exchanges) > 20
    for documented, now in replayed(api.http, exchanges):
        assert_alike(documented, now, f"{documented['operation']}: {documented['summary']}")
