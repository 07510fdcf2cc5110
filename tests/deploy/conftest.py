import pytest

from tests.deploy.manifests import WORKLOADS, Pod, pods


@pytest.fixture(params=WORKLOADS)
def pod(request: pytest.FixtureRequest) -> Pod:
    """The pods of each Deployment and Job."""
    name: str = request.param
    return pods()[name]
