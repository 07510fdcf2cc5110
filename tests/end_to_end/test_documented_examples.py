"""Every example of the documentation, executed."""

from app.api.documentation import recorded
from tests.end_to_end.deployment import Deployment
from tests.end_to_end.exchanges import assert_alike, replayed


def test_the_service_answers_as_documented(deployment: Deployment) -> None:
    deployment.start("worker")
    api = deployment.api()
    while not api.http.get("/health/ready").json()["worker"]:
        pass
    exchanges = recorded()
    assert len(exchanges) > 20
    for documented, now in replayed(api.http, exchanges):
        assert_alike(documented, now, f"{documented['operation']}: {documented['summary']}")
