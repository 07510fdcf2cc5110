"""Every example of the documentation, executed."""

import pytest

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


def test_every_operation_that_answers_has_an_example(deployment: Deployment) -> None:
    schema = deployment.api().http.get("/openapi.json").json()
    shown = {str(exchange["operation"]) for exchange in recorded()}
    documented = {f"{method.upper()} {path}" for path, operations in schema["paths"].items() for method in operations}
    assert shown == documented
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            if "requestBody" in operation and not any(
                "examples" in m for m in operation["requestBody"]["content"].values()
            ):
                pytest.fail(f"no example of a request: {method} {path}")
