"""Members work in a project, and the work stays the project's when a membership ends."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from app.accounts.authenticator import KeyAuthenticator
from app.accounts.rate_limiter import OwnerRates
from app.http.openapi import Json
from app.main import make_application
from relevance_bayes.records.accounts import OwnerLimits
from relevance_bayes.records.members import ROLES, Role
from tests.accounts.test_routes import OWN_PAGE, PROJECT, ROWS, is_missing_project, key, session
from tests.applications import DATASET, LIMITS, SUBMIT, SmallParts
from tests.keys import share


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.accounts.authenticator.MIN_REFRESH_SECONDS", 0.0)


@pytest.fixture
def owner(parts: SmallParts) -> dict[str, str]:
    """The headers of the owner of the project, `local`."""
    return key(parts, "admin")


@pytest.fixture
def editor(parts: SmallParts) -> dict[str, str]:
    """The headers of an editor, `vision`, in the project `local`."""
    share(parts.members, "local", "vision", "editor")
    return key(parts, "admin", owner="vision") | PROJECT


def own(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in PROJECT}


def ids(client: TestClient, path: str, headers: dict[str, str]) -> Sequence[str]:
    return [one["id"] for one in client.get(path, headers=headers).json()["items"]]


def test_a_viewer_predicts_with_the_models_of_the_project_and_its_requests_are_counted_there(
    parts: SmallParts, locked: TestClient, owner: dict[str, str]
) -> None:
    share(parts.members, "local", "vision", "viewer")
    viewer = key(parts, "predict", "read", owner="vision")
    for path, body in (("/v1/models/small/predict", ROWS), ("/v1/models/small/versions/1/predict", ROWS)):
        assert locked.post(path, json=body, headers=viewer).status_code == 404
        predicted = locked.post(path, json=body, headers=viewer | PROJECT)
        assert predicted.status_code == 200
        assert predicted.json() == locked.post(path, json=body, headers=owner).json()
    version = parts.prediction.version("local", "small").version
    assert parts.prediction.counters.until_now(version).requests == 4


def test_what_an_editor_creates_belongs_to_the_project(
    parts: SmallParts, locked: TestClient, owner: dict[str, str], editor: dict[str, str]
) -> None:
    table = {"columns": {"x": [1.0, 2.0]}}
    dataset = locked.post("/v1/datasets?name=shared", json=table, headers=editor).json()["id"]
    job = locked.post("/v1/training-jobs", json=SUBMIT, headers=editor).json()["id"]
    webhook = locked.post("/v1/webhooks", json={"url": "https://a.test/"}, headers=editor).json()["id"]
    for path, made in (("/v1/datasets", dataset), ("/v1/training-jobs", job), ("/v1/webhooks", webhook)):
        assert made in ids(locked, path, owner)
        assert ids(locked, path, own(editor)) == []
        assert locked.get(f"{path}/{made}", headers=own(editor)).status_code == 404
    assert parts.jobs.get("local", UUID(job), kind="training").owner == "local"


def test_the_history_of_an_alias_names_the_member_that_moved_it(
    locked: TestClient, owner: dict[str, str], editor: dict[str, str]
) -> None:
    path = "/v1/models/small/aliases/champion"
    assert locked.put(path, json={"version": 1}, headers=editor).json()["moved_by"] == "vision"
    assert locked.delete(path, headers=editor).status_code == 204
    assert locked.put(path, json={"version": 1}, headers=owner).status_code == 201
    history = locked.get(f"{path}/history", headers=owner).json()["items"]
    assert [one["by"] for one in history] == ["local", "vision", "vision"]


def test_the_audit_of_the_project_names_the_member_that_made_a_change(
    parts: SmallParts, locked: TestClient, owner: dict[str, str], editor: dict[str, str]
) -> None:
    alias = "/v1/models/small/aliases/champion"
    assert locked.put(alias, json={"version": 1}, headers=owner).status_code == 201
    for reason, headers in (("by key", editor), ("by session", session(locked, editor) | OWN_PAGE)):
        assert locked.put(alias, json={"version": 1, "reason": reason}, headers=headers).status_code == 200
        assert locked.delete("/v1/keys/none", headers=headers).status_code == 403
    moves = locked.get("/v1/audit?action=alias.moved", headers=owner).json()["items"]
    assert [one["details"].get("by") for one in moves] == ["vision", "vision", None]
    refusals = locked.get("/v1/audit?action=request.refused", headers=owner).json()["items"]
    assert [one["details"]["by"] for one in refusals] == ["vision", "vision"]
    assert locked.get("/v1/audit", headers=editor).status_code == 403
    share(parts.members, "local", "vision", "admin")
    assert locked.get("/v1/audit", headers=editor).json()["items"][0]["owner"] == "local"
    created = locked.get("/v1/audit?action=session.created", headers=own(editor)).json()["items"]
    assert [one["owner"] for one in created] == ["vision"]


def test_a_request_in_a_project_counts_for_the_owner_of_the_project_and_for_its_own_where_there_is_none(
    parts: SmallParts, editor: dict[str, str]
) -> None:
    rates = {name: OwnerRates(OwnerLimits(requests_per_second=3), 1, lambda: 0.0) for name in ("local", "vision")}
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    with TestClient(
        make_application(parts, LIMITS, authenticator=authenticator, rate_limits=Limits(rates)),
        base_url="http://localhost",
    ) as client:
        assert [client.get("/v1/models", headers=editor).status_code for _ in range(4)] == [200, 200, 200, 429]
        nowhere = own(editor) | {"Relevance-Project": "nobody"}
        assert [client.get("/v1/models", headers=nowhere).status_code for _ in range(4)] == [404, 404, 404, 429]
        assert client.get("/v1/models", headers=own(editor)).status_code == 429


class Limits:
    def __init__(self, rates: Mapping[str, OwnerRates]) -> None:
        self._rates = rates

    def of(self, owner: str) -> OwnerRates:
        return self._rates[owner]


def test_an_admin_of_the_project_of_the_operator_sets_limits_of_all_owners(
    parts: SmallParts, locked: TestClient, editor: dict[str, str]
) -> None:
    limits = "/v1/limits/vision"
    assert locked.put(limits, json={"models": 3}, headers=editor).status_code == 403
    share(parts.members, "local", "vision", "admin")
    assert locked.put(limits, json={"models": 3}, headers=editor).status_code == 200
    assert locked.put(limits, json={"models": 4}, headers=own(editor)).status_code == 404


def test_requests_with_the_same_idempotency_key_are_of_the_project_they_act_in(
    parts: SmallParts, locked: TestClient, owner: dict[str, str], editor: dict[str, str]
) -> None:
    same = {"Idempotency-Key": "of-a-test"}
    first = locked.post("/v1/training-jobs", json=SUBMIT, headers=editor | same)
    again = locked.post("/v1/training-jobs", json=SUBMIT, headers=owner | same)
    assert (first.status_code, again.headers["Idempotent-Replayed"]) == (202, "true")
    assert again.content == first.content
    elsewhere = locked.post("/v1/training-jobs", json=SUBMIT, headers=own(editor) | same)
    assert elsewhere.status_code == 404  # there is no such dataset in its own project
    share(parts.members, "local", "vision", "viewer")
    assert locked.post("/v1/training-jobs", json=SUBMIT, headers=editor | same).status_code == 403
    parts.members.remove("local", "vision")
    assert is_missing_project(locked.post("/v1/training-jobs", json=SUBMIT, headers=editor | same))


def test_a_request_in_one_project_can_not_use_what_another_one_has(
    parts: SmallParts, locked: TestClient, owner: dict[str, str], editor: dict[str, str]
) -> None:
    table = {"columns": {"x": [1.0, 2.0], "y": [1.0, 2.0]}}
    mine = locked.post("/v1/datasets?name=mine", json=table, headers=own(editor)).json()["id"]
    (local,) = ids(locked, "/v1/datasets", owner)
    assert local == str(DATASET.id)
    submit = {"target": "y", "inputs": ["x"], "model": "small"}
    for headers, dataset in ((editor, mine), (own(editor), local)):
        refused = locked.post("/v1/training-jobs", json={**submit, "dataset_id": dataset}, headers=headers)
        assert refused.status_code == 404, refused.text
        batch = {"model": "small", "dataset_id": dataset}
        assert locked.post("/v1/batch-predictions", json=batch, headers=headers).status_code == 404


ROLES_BELOW_ADMIN: Sequence[Role] = ("viewer", "editor")


@pytest.mark.parametrize("role", ROLES_BELOW_ADMIN)
def test_only_admins_of_a_project_see_or_change_its_members_and_keys(
    parts: SmallParts, locked: TestClient, owner: dict[str, str], role: Role
) -> None:
    share(parts.members, "local", "vision", role)
    member = key(parts, "admin", owner="vision") | PROJECT
    (of_owner,) = ids(locked, "/v1/keys", owner)
    raised: Sequence[Json] = [{"role": one} for one in ROLES]
    requests: Sequence[tuple[str, str, Json]] = (
        *(("PUT", f"/v1/members/{subject}", one) for subject in ("vision", "friend") for one in raised),
        ("DELETE", "/v1/members/vision", None),
        ("GET", "/v1/members", None),
        ("GET", "/v1/members/vision", None),
        ("GET", "/v1/keys", None),
        ("POST", "/v1/keys", {"name": "x", "scopes": ["read"]}),
        ("POST", f"/v1/keys/{of_owner}/rotate", {}),
        ("POST", f"/v1/keys/{of_owner}/revoke", None),
    )
    for method, path, body in requests:
        assert locked.request(method, path, json=body, headers=member).status_code == 403, (method, path)
        without_project = locked.request(method, path, json=body, headers=own(member)).status_code
        assert without_project != 403, (method, path)  # in its own project it is the owner
    assert [(one.subject, one.role) for one in parts.members.page("local", limit=9, after=None).items] == [
        ("vision", role)
    ]
    assert ids(locked, "/v1/keys", owner) == [of_owner]
    assert locked.get("/v1/keys", headers=owner).status_code == 200


def test_an_admin_without_the_scope_admin_manages_nothing(parts: SmallParts, locked: TestClient) -> None:
    share(parts.members, "local", "vision", "admin")
    weak = key(parts, "predict", "read", "train", owner="vision") | PROJECT
    requests: Sequence[tuple[str, str, Json]] = (
        ("GET", "/v1/keys", None),
        ("POST", "/v1/keys", {"name": "x"}),
        ("PUT", "/v1/members/friend", {"role": "viewer"}),
    )
    for method, path, body in requests:
        assert locked.request(method, path, json=body, headers=weak).status_code == 403, path


def test_admins_act_on_the_keys_of_the_project_alone_and_these_may_stay_when_they_leave(
    parts: SmallParts, locked: TestClient, owner: dict[str, str]
) -> None:
    share(parts.members, "local", "vision", "admin")
    admin = key(parts, "admin", owner="vision")
    (own_id,) = ids(locked, "/v1/keys", admin)
    (local_id,) = ids(locked, "/v1/keys", owner)
    for headers, foreign in ((admin | PROJECT, own_id), (admin, local_id)):
        for action in ("", "/rotate", "/revoke"):
            method, content = ("POST", b"{}") if action else ("GET", b"")
            of_json = headers | {"Content-Type": "application/json"}
            refused = locked.request(method, f"/v1/keys/{foreign}{action}", content=content, headers=of_json)
            assert refused.status_code == 404, (foreign, action)
    made = locked.post("/v1/keys", json={"name": "x", "scopes": ["read"]}, headers=admin | PROJECT).json()
    of_project = {"Authorization": f"Bearer {made['secret']}"}
    assert locked.get("/v1/session", headers=of_project).json()["subject"] == "local"
    assert locked.delete("/v1/members/vision?keys=keep", headers=admin | PROJECT).is_success  # it leaves
    assert is_missing_project(locked.get("/v1/keys", headers=admin | PROJECT))
    assert locked.get("/v1/models", headers=of_project).status_code == 200
    assert locked.post(f"/v1/keys/{made['id']}/revoke", headers=owner).status_code == 200
    assert locked.get("/v1/models", headers=of_project).status_code == 401


def test_members_of_a_member_are_no_members(parts: SmallParts, locked: TestClient) -> None:
    share(parts.members, "local", "vision", "admin")
    share(parts.members, "vision", "friend", "admin")
    friend = key(parts, "admin", owner="friend")
    assert locked.get("/v1/models", headers=friend | {"Relevance-Project": "vision"}).status_code == 200
    assert is_missing_project(locked.get("/v1/models", headers=friend | PROJECT))
    # The key that it creates for vision is vision's, and so acts where vision does.
    body: Json = {"name": "x", "scopes": ["read"]}
    made = locked.post("/v1/keys", json=body, headers=friend | {"Relevance-Project": "vision"}).json()
    of_vision = {"Authorization": f"Bearer {made['secret']}"}
    assert locked.get("/v1/models", headers=of_vision | PROJECT).status_code == 200


def test_a_session_keeps_the_project_and_the_scopes_of_its_key(
    parts: SmallParts, locked: TestClient, editor: dict[str, str]
) -> None:
    headers = session(locked, editor) | OWN_PAGE
    shown = locked.get("/v1/session", headers=headers).json()
    assert (shown["owner"], shown["subject"]) == ("local", "vision")
    assert shown["scopes"] == ["predict", "read", "train"]
    assert locked.get("/v1/models/small", headers=headers).status_code == 200
    in_its_own = locked.get("/v1/session", headers=headers | {"Relevance-Project": "vision"}).json()
    assert (in_its_own["owner"], in_its_own["scopes"]) == ("vision", ["admin"])
    share(parts.members, "local", "vision", "viewer")
    assert locked.get("/v1/session", headers=headers).json()["scopes"] == ["predict", "read"]
    assert locked.delete("/v1/models/small", headers=headers).status_code == 403
    parts.members.remove("local", "vision")
    assert locked.get("/v1/models", headers=headers).status_code == 401
    assert locked.get("/v1/models", headers=headers | {"Relevance-Project": "vision"}).status_code == 401


def test_a_session_can_be_ended_after_its_membership(
    parts: SmallParts, locked: TestClient, editor: dict[str, str]
) -> None:
    cookie = session(locked, editor)
    headers = cookie | OWN_PAGE
    parts.members.remove("local", "vision")
    assert locked.get("/v1/session", headers=headers).status_code == 401
    assert locked.delete("/v1/session", headers=cookie | {"Sec-Fetch-Site": "cross-site"}).status_code == 403
    ended = locked.delete("/v1/session", headers=headers)
    assert (ended.status_code, len(ended.headers.get_list("set-cookie"))) == (204, 2)
    assert locked.delete("/v1/session", headers=headers).status_code == 401  # it has ended
    share(parts.members, "local", "vision", "editor")
    assert locked.get("/v1/session", headers=headers).status_code == 401


def test_a_session_that_was_made_in_the_own_project_may_act_in_others(
    parts: SmallParts, locked: TestClient, editor: dict[str, str]
) -> None:
    headers = session(locked, own(editor)) | OWN_PAGE
    assert locked.get("/v1/models/small", headers=headers).status_code == 404
    assert locked.get("/v1/models/small", headers=headers | PROJECT).status_code == 200
    parts.members.remove("local", "vision")
    assert is_missing_project(locked.get("/v1/models/small", headers=headers | PROJECT))
    assert locked.get("/v1/models", headers=headers).status_code == 200


def test_a_session_is_replaced_by_one_in_another_project(
    parts: SmallParts, locked: TestClient, editor: dict[str, str]
) -> None:
    first = session(locked, own(editor)) | OWN_PAGE
    expiry = locked.get("/v1/session", headers=first).json()["expires_at"]
    assert locked.post("/v1/session", headers=first).status_code == 409
    foreign = first | PROJECT | {"Sec-Fetch-Site": "cross-site"}
    assert locked.post("/v1/session", headers=foreign).status_code == 403
    second = session(locked, first | PROJECT) | OWN_PAGE
    shown = locked.get("/v1/session", headers=second).json()
    assert (shown["owner"], shown["subject"], shown["expires_at"]) == ("local", "vision", expiry)
    assert locked.get("/v1/models/small", headers=second).status_code == 200
    assert locked.get("/v1/session", headers=first).status_code == 401
    third = session(locked, second | {"Relevance-Project": "vision"}) | OWN_PAGE
    shown = locked.get("/v1/session", headers=third).json()
    assert (shown["owner"], shown["expires_at"]) == ("vision", expiry)
    assert locked.get("/v1/session", headers=second).status_code == 401
    parts.members.remove("local", "vision")
    assert is_missing_project(locked.post("/v1/session", headers=third | PROJECT))


def test_jobs_and_webhooks_of_a_former_member_stay_until_the_project_removes_them(
    parts: SmallParts, locked: TestClient, owner: dict[str, str], editor: dict[str, str]
) -> None:
    webhook = locked.post("/v1/webhooks", json={"url": "https://a.test/"}, headers=editor).json()["id"]
    job = locked.post("/v1/training-jobs", json=SUBMIT, headers=editor).json()["id"]
    parts.members.remove("local", "vision")
    assert is_missing_project(locked.post(f"/v1/training-jobs/{job}/cancel", headers=editor))
    assert locked.post(f"/v1/training-jobs/{job}/cancel", headers=own(editor)).status_code == 404
    assert locked.post(f"/v1/training-jobs/{job}/cancel", headers=owner).status_code in {200, 202}
    (delivery,) = locked.get(f"/v1/webhooks/{webhook}/deliveries", headers=owner).json()["items"]
    assert delivery["job_id"] == job
    assert locked.delete(f"/v1/webhooks/{webhook}", headers=owner).status_code == 204
