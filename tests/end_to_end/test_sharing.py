"""Members of a project on two processes."""

import time

import pytest

from app.maintenance import administration
from app.settings import Settings
from relevance_bayes.client import ClientError, connect
from tests.end_to_end.deployment import Api, Deployment
from tests.keys import add_key
from tests.waiting import until

OWNER = {"Authorization": "Bearer only a test of sharing"}
PROJECT = {"Relevance-Project": "local"}


@pytest.fixture
def apis(deployment: Deployment) -> tuple[Api, Api]:
    add_key(deployment.database_url, "only a test of sharing")
    return deployment.api(), deployment.api()


@pytest.fixture
def vision(apis: tuple[Api, Api]) -> dict[str, str]:
    """The headers of another owner, which is not a member yet: an admin of its own project."""

    with administration.api_keys(Settings(database_url=apis[0].database_url)) as keys:
        _, secret = keys.create("vision", "of a test", scopes=("admin",))
    return {"Authorization": f"Bearer {secret}"}


def test_a_new_member_is_known_to_each_process_at_once_and_a_removed_one_to_none_within_two_seconds(
    apis: tuple[Api, Api], vision: dict[str, str]
) -> None:
    one, other = apis
    for _ in range(3):
        assert other.http.get("/v1/models", headers=vision | PROJECT).status_code == 404  # its copy is of now
        added = one.http.put("/v1/members/vision", json={"role": "viewer"}, headers=OWNER)
        assert added.status_code == 201
        assert one.http.put("/v1/projects/local", headers=vision).status_code == 200
        for api in (other, one):
            assert api.http.get("/v1/models", headers=vision | PROJECT).status_code == 200
            assert api.http.delete("/v1/models/none", headers=vision | PROJECT).status_code == 403
        one.http.put("/v1/members/vision", json={"role": "editor"}, headers=OWNER)
        changed = time.monotonic()
        for api in (other, one):
            while api.http.delete("/v1/models/none", headers=vision | PROJECT).status_code == 403:
                time.sleep(0.05)
        assert time.monotonic() - changed < 2.0
        assert one.http.delete("/v1/members/vision", headers=OWNER).status_code == 200
        removed = time.monotonic()
        for api in (other, one):
            while api.http.get("/v1/models", headers=vision | PROJECT).status_code == 200:
                time.sleep(0.05)
        assert time.monotonic() - removed < 2.0


def test_a_client_of_a_project_accepts_the_invitation_to_it_and_leaves_it(
    apis: tuple[Api, Api], vision: dict[str, str]
) -> None:
    (one, _), secret = apis, vision["Authorization"].removeprefix("Bearer ")
    one.http.put("/v1/members/vision", json={"role": "viewer"}, headers=OWNER)
    with connect(str(one.http.base_url), api_key=secret, project="local") as client:
        assert [project.name for project in client.members.invitations()] == ["local"]
        assert client.members.accept("local").state == "member"
        assert list(client.models()) == []
        client.members.leave("local")

        def is_refused() -> bool:
            """Return whether the process knows it: its copy of members is a second old at most."""
            response = one.http.get("/v1/models", headers=vision | PROJECT)
            return response.status_code == 404

        until(is_refused)
        with pytest.raises(ClientError, match="There is no project 'local'"):
            list(client.models())


def test_a_dataset_that_an_editor_uploads_is_read_by_the_owner_through_another_process(
    apis: tuple[Api, Api], vision: dict[str, str]
) -> None:
    one, other = apis
    one.http.put("/v1/members/vision", json={"role": "editor"}, headers=OWNER)
    one.http.put("/v1/projects/local", headers=vision)
    table = {"columns": {"x": [1.0, 2.0]}}
    made = other.http.post("/v1/datasets?name=shared", json=table, headers=vision | PROJECT)
    assert made.status_code == 201, made.text
    assert one.http.get(f"/v1/datasets/{made.json()['id']}", headers=OWNER).status_code == 200
    assert other.http.get(f"/v1/datasets/{made.json()['id']}", headers=vision).status_code == 404
