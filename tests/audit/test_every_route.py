"""Each route that changes something leaves one entry in the audit, and each refusal of one at most one.

A new route that changes something belongs into `CHANGES` with its action, one that changes nothing into
`WITHOUT_CHANGE`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from app.accounts.authenticator import KeyAuthenticator
from app.identity import BUILT_IN_OWNER as OWNER
from app.main import make_application
from relevance_bayes.records.accounts import KeyScope
from relevance_bayes.records.audit import AUDIT_ACTIONS, AuditAction, AuditEntry
from relevance_bayes.records.jobs import JobKind
from tests.applications import DATASET, LIMITS, SUBMIT, Minutes, SmallParts
from tests.keys import share

USER_AGENT = "audited/1.0"
OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}
JSON: dict[str, object] = {"dataset_id": str(DATASET.id)}
OUTCOMES: dict[str, object] = {"row_ids": ["a"], "outcomes": [1.0]}


@dataclass
class Caller:
    """A caller with an API key, and resources for its requests."""

    client: TestClient
    parts: SmallParts
    authorization: dict[str, str]

    def send(self, method: str, path: str, *, body: object = None, **headers: str) -> Response:
        """Send a request with JSON, without the cookies of earlier ones."""
        self.client.cookies.clear()
        sent = self.authorization | {"User-Agent": USER_AGENT} | headers
        return self.client.request(method, path, json=body, headers=sent)

    def member(self) -> str:
        """The path of a member of the owner's project."""
        assert self.send("PUT", "/v1/members/globex", body={"role": "viewer"}).is_success
        return "/v1/members/globex"

    def invitation(self) -> str:
        """The path of a project to which the owner is invited."""
        self.parts.members.put("globex", OWNER, "viewer")
        return "/v1/projects/globex"

    def membership(self) -> str:
        """The path of a project of which the owner is a member."""
        share(self.parts.members, "globex", OWNER, "viewer")
        return "/v1/projects/globex"

    def limits(self) -> str:
        """The path of the owner's limits, one of which is set."""
        assert self.send("PUT", "/v1/limits/local", body={"models": 5}).is_success
        return "/v1/limits/local"

    def made(self, path: str, body: object) -> str:
        """The path of a resource that is created."""
        response = self.send("POST", path, body=body)
        assert response.status_code in {201, 202}, response.text
        return str(response.headers["Location"])

    def job(self, kind: JobKind) -> str:
        """The path of a queued job."""
        paths = {
            "training": ("/v1/training-jobs", SUBMIT),
            "evaluation": ("/v1/evaluations", {**JSON, "model": "small"}),
            "prediction": ("/v1/batch-predictions", {**JSON, "model": "small"}),
            "promotion": ("/v1/models/small/aliases/best/promotions", {**JSON, "version": 1}),
        }
        return self.made(*paths[kind])

    def ended_job(self, kind: JobKind) -> str:
        """The path of a job that was cancelled."""
        path = self.job(kind)
        assert self.send("POST", f"{path}/cancel").is_success
        return path

    def webhook(self) -> str:
        """The path of a webhook."""
        return self.made("/v1/webhooks", {"url": "https://hooks.example/secret-path"})

    def delivery(self) -> str:
        """The path of a delivery."""
        path = self.webhook()
        return f"{path}/deliveries/{self.send('POST', f'{path}/test').json()['id']}"

    def key(self) -> str:
        """The path of an API key."""
        return self.made("/v1/keys", {"name": "of a test"})

    def document(self) -> object:
        """An exported version."""
        return self.send("GET", "/v1/models/small/versions/1/export?format=json").json()

    def recorded(self) -> str:
        """The path of a model that has recorded a prediction for row `a`."""
        path = "/v1/models/small"
        assert self.send("PATCH", path, body={"record": 1}).is_success
        body = {"rows": [{"x": 1.0, "colour": "red"}], "row_ids": ["a"]}
        assert self.send("POST", f"{path}/predict", body=body).is_success
        self.parts.recorder.flush()
        return path

    def alias(self, name: str) -> str:
        """The path of an alias of version 1 of `small`."""
        path = f"/v1/models/small/aliases/{name}"
        assert self.send("PUT", path, body={"version": 1}).is_success
        return path

    def session(self) -> dict[str, str]:
        """The cookie of a session."""
        response = self.send("POST", "/v1/session")
        return {"Cookie": response.headers["Set-Cookie"].partition(";")[0]}


Request = tuple[str, object]
"""The path and the body of a request, for which what it needs is there."""


def submitting(path: str, **members: object) -> Callable[[Caller], Request]:
    return lambda _: (path, {**JSON, **members})


def after(prepare: Callable[[Caller], str], suffix: str = "", body: object = None) -> Callable[[Caller], Request]:
    return lambda caller: (f"{prepare(caller)}{suffix}", body)


def at(path: str, body: object = None) -> Callable[[Caller], Request]:
    return lambda _: (path, body)


CHANGES: Mapping[str, tuple[AuditAction, Callable[[Caller], Request]]] = {
    "POST /v1/datasets": ("dataset.created", at("/v1/datasets?name=points", {"columns": {"x": [1.0, 2.0]}})),
    "DELETE /v1/datasets/{dataset_id}": ("dataset.deleted", at(f"/v1/datasets/{DATASET.id}")),
    "POST /v1/training-jobs": ("job.created", at("/v1/training-jobs", SUBMIT)),
    "POST /v1/evaluations": ("job.created", submitting("/v1/evaluations", model="small")),
    "POST /v1/batch-predictions": ("job.created", submitting("/v1/batch-predictions", model="small")),
    "POST /v1/models/{name}/aliases/{alias}/promotions": (
        "job.created",
        submitting("/v1/models/small/aliases/best/promotions", version=1),
    ),
    "POST /v1/training-jobs/{job_id}/cancel": ("job.cancelled", after(lambda it: it.job("training"), "/cancel")),
    "POST /v1/evaluations/{job_id}/cancel": ("job.cancelled", after(lambda it: it.job("evaluation"), "/cancel")),
    "POST /v1/promotions/{job_id}/cancel": ("job.cancelled", after(lambda it: it.job("promotion"), "/cancel")),
    "POST /v1/batch-predictions/{job_id}/cancel": ("job.cancelled", after(lambda it: it.job("prediction"), "/cancel")),
    "POST /v1/training-jobs/{job_id}/retry": ("job.created", after(lambda it: it.ended_job("training"), "/retry")),
    "POST /v1/evaluations/{job_id}/retry": ("job.created", after(lambda it: it.ended_job("evaluation"), "/retry")),
    "POST /v1/promotions/{job_id}/retry": ("job.created", after(lambda it: it.ended_job("promotion"), "/retry")),
    "POST /v1/batch-predictions/{job_id}/retry": (
        "job.created",
        after(lambda it: it.ended_job("prediction"), "/retry"),
    ),
    "DELETE /v1/batch-predictions/{job_id}": ("job.deleted", after(lambda it: it.ended_job("prediction"))),
    "PATCH /v1/models/{name}": ("model.updated", at("/v1/models/small", {"tags": {"team": "ice"}})),
    "DELETE /v1/models/{name}": ("model.deleted", at("/v1/models/small")),
    "POST /v1/models/{name}/versions": (
        "version.created",
        lambda caller: ("/v1/models/twin/versions", caller.document()),
    ),
    "PATCH /v1/models/{name}/versions/{version}": (
        "version.updated",
        at("/v1/models/small/versions/1", {"description": "The first."}),
    ),
    "DELETE /v1/models/{name}/versions/{version}": ("version.deleted", at("/v1/models/small/versions/1")),
    "PUT /v1/models/{name}/aliases/{alias}": (
        "alias.moved",
        at("/v1/models/small/aliases/best", {"version": 1, "reason": "größer"}),
    ),
    "DELETE /v1/models/{name}/aliases/{alias}": ("alias.removed", after(lambda it: it.alias("best"))),
    "POST /v1/models/{name}/outcomes": ("outcomes.recorded", after(Caller.recorded, "/outcomes", OUTCOMES)),
    "POST /v1/webhooks": ("webhook.created", at("/v1/webhooks", {"url": "https://hooks.example/secret-path"})),
    "PATCH /v1/webhooks/{webhook_id}": ("webhook.updated", after(Caller.webhook, body={"enabled": False})),
    "DELETE /v1/webhooks/{webhook_id}": ("webhook.deleted", after(Caller.webhook)),
    "POST /v1/webhooks/{webhook_id}/test": ("webhook.tested", after(Caller.webhook, "/test")),
    "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": (
        "delivery.repeated",
        after(Caller.delivery, "/redeliver"),
    ),
    "POST /v1/keys": ("key.created", at("/v1/keys", {"name": "of a robot"})),
    "POST /v1/keys/{key_id}/rotate": ("key.rotated", after(Caller.key, "/rotate", {"overlap_seconds": 60})),
    "POST /v1/keys/{key_id}/revoke": ("key.revoked", after(Caller.key, "/revoke")),
    "PUT /v1/members/{subject}": ("member.invited", at("/v1/members/globex", {"role": "viewer"})),
    "DELETE /v1/members/{subject}": ("member.deleted", after(Caller.member)),
    "PUT /v1/projects/{name}": ("project.joined", after(Caller.invitation)),
    "DELETE /v1/projects/{name}": ("project.left", after(Caller.membership)),
    "PUT /v1/limits/{owner_name}": ("limits.updated", at("/v1/limits/local", {"models": 5})),
    "DELETE /v1/limits/{owner_name}": ("limits.updated", after(Caller.limits)),
    "POST /v1/session": ("session.created", at("/v1/session")),
    "DELETE /v1/session": ("session.ended", at("/v1/session")),
}
"""The operations that change something, each with its action and a request."""

WITHOUT_CHANGE = frozenset(
    {
        "POST /v1/models/{name}/predict",
        "POST /v1/models/{name}/versions/{version}/predict",
        "POST /v1/models/{name}/versions/{version}/compare",
        "POST /v1/models/{name}/versions/{version}/profile",
        "POST /v2/models/{name}/infer",
        "POST /v2/models/{name}/versions/{version}/infer",
        "POST /v2/repository/index",
        "POST /v2/repository/models/{name}/load",
        "POST /v2/repository/models/{name}/unload",
    }
)
"""The operations by other methods than GET that predict, list, or refuse all requests."""

IDEMPOTENT = frozenset(
    {
        "POST /v1/keys/{key_id}/revoke",
        "PUT /v1/models/{name}/aliases/{alias}",
        "POST /v1/models/{name}/outcomes",
        "PUT /v1/members/{subject}",
        "PUT /v1/projects/{name}",
        "PUT /v1/limits/{owner_name}",
        "DELETE /v1/limits/{owner_name}",
    }
) | {operation for operation in CHANGES if operation.endswith("/cancel")}
"""The operations that succeed again and change nothing then."""


def authorized(parts: SmallParts, *scopes: KeyScope, owner: str = OWNER) -> tuple[UUID, dict[str, str]]:
    key, secret = parts.keys.create(owner, "of a test", scopes=scopes)
    return UUID(key.id), {"Authorization": f"Bearer {secret}"}


@pytest.fixture
def client_with_keys(parts: SmallParts) -> Iterator[TestClient]:
    """A client of an application that needs keys; every request reads them."""
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True, now=Minutes())
    limits = replace(LIMITS, max_body_bytes=10**6)
    with TestClient(
        make_application(parts, limits, authenticator=authenticator), base_url="http://localhost"
    ) as client:
        yield client


def entries(parts: SmallParts, owner: str = OWNER) -> list[AuditEntry]:
    """All entries, oldest first, of a chain that is valid."""
    assert parts.audit.verify(owner).faults == ()
    return [entry for batch in parts.audit.batches(owner) for entry in batch]


def test_each_operation_that_may_change_something_has_its_action(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    walked = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods} - {
        f"GET {path}" for path in paths
    }
    missing = sorted(walked - set(CHANGES) - WITHOUT_CHANGE)
    assert missing == [], "Add these operations to CHANGES with their audit action, and record it in the change."
    assert set(CHANGES) | WITHOUT_CHANGE == walked


@pytest.mark.thorough
@pytest.mark.parametrize("operation", CHANGES)
def test_a_change_leaves_one_entry_with_its_action_actor_and_origin(
    operation: str, parts: SmallParts, client_with_keys: TestClient
) -> None:
    action, prepare = CHANGES[operation]
    key_id, authorization = authorized(parts, "admin")
    caller = Caller(client_with_keys, parts, authorization)
    path, body = prepare(caller)
    headers = caller.session() | OWN_PAGE if operation == "DELETE /v1/session" else {}
    before = entries(parts)
    response = caller.send(operation.partition(" ")[0], path, body=body, **headers, **{"X-Request-ID": "r-1"})
    assert response.is_success, response.text
    added = entries(parts)[len(before) :]
    assert [entry.action for entry in added] == [action]
    (entry,) = added
    assert (entry.owner, entry.result, entry.number) == (OWNER, "success", len(before) + 1)
    assert (entry.actor.kind, entry.actor.id) == ("api_key", str(key_id))
    assert (entry.address, entry.user_agent, entry.request_id) == ("testclient", USER_AGENT, "r-1")
    path = path.partition("?")[0]
    named = response.headers.get("Location", path)
    assert entry.resource == (named if response.status_code in {201, 202} and named != path else _subject(path))
    assert "secret" not in f"{entry.details}{entry.resource}"
    if operation in IDEMPOTENT:
        assert caller.send(operation.partition(" ")[0], path, body=body).is_success
        assert len(entries(parts)) == len(before) + 1


def _subject(path: str) -> str:
    """The path of the resource that a request changes."""
    for suffix in ("/cancel", "/revoke", "/test", "/redeliver"):
        path = path.removesuffix(suffix)
    return path


@pytest.mark.parametrize("operation", CHANGES)
def test_a_change_that_is_not_permitted_is_recorded_as_refused(
    operation: str, parts: SmallParts, client_with_keys: TestClient
) -> None:
    _, prepare = CHANGES[operation]
    _, authorization = authorized(parts, "admin")
    path, body = prepare(Caller(client_with_keys, parts, authorization))
    needs_admin = "/v1/keys" in operation
    key_id, insufficient = authorized(parts, "train" if needs_admin else "read")
    if operation.endswith("/v1/session"):
        insufficient |= {"Sec-Fetch-Site": "cross-site"}
    before = entries(parts)
    method = operation.partition(" ")[0]
    response = Caller(client_with_keys, parts, insufficient).send(method, path, body=body)
    (entry,) = entries(parts)[len(before) :]
    path = path.partition("?")[0]
    assert (entry.action, entry.result, entry.resource) == ("request.refused", "refused", path)
    assert (entry.actor.kind, entry.actor.id, entry.user_agent) == ("api_key", str(key_id), USER_AGENT)
    assert entry.details == {"method": method, "status": response.status_code}
    assert response.status_code == (404 if operation == "DELETE /v1/session" else 403)


def test_another_owner_finds_its_refusals_in_its_own_chain(parts: SmallParts, client_with_keys: TestClient) -> None:
    before = entries(parts)
    _, authorization = authorized(parts, "admin", owner="other")
    caller = Caller(client_with_keys, parts, authorization)
    assert caller.send("DELETE", "/v1/models/small").status_code == 404
    assert caller.send("GET", "/v1/models/small").status_code == 404
    assert caller.send("POST", "/v1/models/small/predict", body={"rows": []}).status_code in {404, 422}
    assert entries(parts) == before
    assert [entry.action for entry in entries(parts, "other")] == ["key.created", "request.refused"]


def test_a_conflict_and_a_failed_condition_are_recorded_and_invalid_requests_are_not(
    parts: SmallParts, client_with_keys: TestClient
) -> None:
    _, authorization = authorized(parts, "admin")
    caller = Caller(client_with_keys, parts, authorization)
    caller.alias("best")
    before = len(entries(parts))
    statuses = (
        caller.send("DELETE", "/v1/models/small/versions/1").status_code,
        caller.send("PATCH", "/v1/models/small", body={}, **{"If-Match": '"another"'}).status_code,
        caller.send("POST", "/v1/keys", body={"name": ""}).status_code,
        caller.send("GET", "/v1/models/small", Accept="text/none").status_code,
    )
    assert statuses == (409, 412, 422, 406)
    assert [entry.details["status"] for entry in entries(parts)[before:]] == [409, 412]


def test_a_request_without_a_valid_key_has_no_owner_and_no_entry(
    parts: SmallParts, client_with_keys: TestClient
) -> None:
    authorized(parts, "admin")
    before = entries(parts)
    caller = Caller(client_with_keys, parts, {"Authorization": "Bearer rlv_wrong"})
    assert caller.send("DELETE", "/v1/models/small").status_code == 401
    assert entries(parts) == before
    assert parts.audit.owners() == (OWNER,)


def test_an_idempotent_request_that_is_repeated_leaves_no_second_entry(
    parts: SmallParts, client_with_keys: TestClient
) -> None:
    _, authorization = authorized(parts, "admin")
    caller = Caller(client_with_keys, parts, authorization)
    before = len(entries(parts))
    for _ in range(2):
        assert caller.send("POST", "/v1/training-jobs", body=SUBMIT, **{"Idempotency-Key": "one"}).is_success
    assert len(entries(parts)) == before + 1


def test_without_keys_the_actor_is_anonymous_and_with_a_session_it_is_its_key(
    parts: SmallParts, client: TestClient, client_with_keys: TestClient
) -> None:
    assert client.patch("/v1/models/small", json={}).is_success
    assert (entries(parts)[-1].actor.kind, entries(parts)[-1].actor.id) == ("anonymous", None)
    key_id, authorization = authorized(parts, "admin")
    caller = Caller(client_with_keys, parts, authorization)
    with_session = Caller(client_with_keys, parts, caller.session() | OWN_PAGE)
    assert with_session.send("PATCH", "/v1/models/small", body={}).is_success
    assert (entries(parts)[-1].actor.kind, entries(parts)[-1].actor.id) == ("session", str(key_id))


def test_another_role_of_a_member_is_a_change_of_it(parts: SmallParts, client_with_keys: TestClient) -> None:
    _, authorization = authorized(parts, "admin")
    caller = Caller(client_with_keys, parts, authorization)
    assert caller.send("PUT", caller.member(), body={"role": "editor"}).is_success
    assert [entry.action for entry in entries(parts)[-2:]] == ["member.invited", "member.updated"]
    assert entries(parts)[-1].details == {"role": "editor"}


def test_each_action_is_of_an_operation_or_of_the_service() -> None:
    elsewhere = {
        "member.created",
        "member.updated",
        "result.expired",
        "webhook.disabled",
        "audit.expired",
        "request.refused",
    }
    assert {action for action, _ in CHANGES.values()} | elsewhere == set(AUDIT_ACTIONS)
