"""The origin of a request, from its scope and its principal."""

from uuid import UUID

import pytest
from starlette.types import Scope

from app.http.origins import MAX_AGENT_LENGTH, actor_of, origin_of
from app.identity import LOCAL, Principal
from app.origin import SERVICE, Origin, acting, command_origin, current_origin

KEY = UUID(int=7)


@pytest.mark.parametrize(
    ("principal", "kind", "actor"),
    [
        (LOCAL, "anonymous", None),
        (Principal("alice", key_id=KEY), "api_key", str(KEY)),
        (Principal("alice", expires_at=2e9), "token", "alice"),
        (Principal("alice", expires_at=2e9, key_id=KEY, is_session=True), "session", str(KEY)),
        (Principal("alice", expires_at=2e9, is_session=True), "session", "alice"),
    ],
)
def test_an_actor_is_a_credential(principal: Principal, kind: str, actor: str | None) -> None:
    assert actor_of(principal) == (kind, actor)


def test_an_origin_is_of_the_request_and_its_texts_are_bounded() -> None:
    scope: Scope = {"state": {}, "client": None, "headers": [(b"user-agent", b"\x00\xffa\tb" + b"x" * 1_000)]}
    scope["state"] |= {"principal": Principal("alice", key_id=KEY), "request_id": "r-1"}
    found = origin_of(scope)
    assert (found.actor, found.actor_id, found.address, found.request_id) == ("api_key", str(KEY), None, "r-1")
    assert found.user_agent is not None
    assert found.user_agent.startswith("?a?bxxx")
    assert len(found.user_agent) == MAX_AGENT_LENGTH
    assert origin_of({**scope, "headers": [], "client": ("192.0.2.7", 50_000)}).address == "192.0.2.7"


def test_the_service_acts_where_nobody_else_does() -> None:
    assert current_origin() == SERVICE
    with acting(Origin("job", "one")):
        assert current_origin() == Origin("job", "one")
        with acting(command_origin()):
            assert current_origin().actor == "command"
        assert current_origin() == Origin("job", "one")
    assert current_origin() == SERVICE
