"""Calls in projects that are shared with the owner of a key."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace

import grpc
import pytest

from app.accounts.authenticator import KeyAuthenticator
from app.accounts.rate_limiter import OwnerRates
from app.accounts.records import ROLE_SCOPES
from app.accounts.tokens import Issuer, IssuerKeys, TokenAuthenticator, TokenRules
from app.http.authentication import Authenticator
from app.inference.rpc.generated import open_inference_pb2 as messages
from relevance_bayes.records.accounts import KeyScope, OwnerLimits
from relevance_bayes.records.members import ROLES
from tests.applications import SmallParts
from tests.inference.rpc.test_calls import RULES, Client, Limits, mixed, run
from tests.issuers import AUDIENCE
from tests.issuers import serving as serving_tokens
from tests.keys import share

Call = Callable[[Client], Coroutine[None, None, str]]
Metadata = Sequence[tuple[str, str]]
PROJECT = ("relevance-project", "local")


@pytest.fixture(autouse=True)
def _copies_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.accounts.authenticator.REFRESH_SECONDS", 0.0)
    monkeypatch.setattr("app.accounts.authenticator.MIN_REFRESH_SECONDS", 0.0)


def calls(metadata: Metadata) -> dict[KeyScope, Call]:
    """Calls on a model of the project `local`, by a scope that suffices."""

    async def described(client: Client) -> str:
        requested = messages.ModelMetadataRequest(name="small")
        return (await client.send("ModelMetadata", requested, messages.ModelMetadataResponse, metadata)).name

    async def inferred(client: Client) -> str:
        return (await client.send("ModelInfer", mixed(), messages.ModelInferResponse, metadata)).model_name

    return {"read": described, "predict": inferred}


def outcome(parts: SmallParts, authenticator: Authenticator, call: Call) -> tuple[str, str]:
    """The status of a call, and its details."""
    try:
        return "OK", run(parts, call, replace(RULES, authenticator=authenticator))
    except grpc.aio.AioRpcError as refused:
        return refused.code().name, refused.details() or ""


def key(parts: SmallParts, *scopes: KeyScope, owner: str = "vision") -> tuple[str, str]:
    return "authorization", f"Bearer {parts.keys.create(owner, 'of a test', scopes=scopes)[1]}"


def test_a_member_calls_in_the_project_as_its_role_and_its_key_permit(parts: SmallParts) -> None:
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    for role in ROLES:
        share(parts.members, "local", "vision", role)
        for scope in ("read", "predict", "train", "admin"):
            sent = key(parts, scope)
            for needed, call in calls([sent, PROJECT]).items():
                has = ROLE_SCOPES[role] & ({"read", "predict"} if scope == "admin" else {scope})
                is_sufficient = bool(has & ({"read", "predict"} if needed == "read" else {"predict"}))
                code, detail = outcome(parts, authenticator, call)
                assert code == ("OK" if is_sufficient else "PERMISSION_DENIED"), (role, scope, needed, detail)
            for call in calls([sent]).values():
                assert outcome(parts, authenticator, call)[0] in {"NOT_FOUND", "PERMISSION_DENIED"}


def test_unknown_projects_those_that_are_not_shared_and_no_more_shared_are_the_same(parts: SmallParts) -> None:
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    former = key(parts, "admin")
    share(parts.members, "local", "vision", "admin")
    for call in calls([former, PROJECT]).values():
        assert outcome(parts, authenticator, call) == ("OK", "small")
    parts.members.remove("local", "vision")
    for sent in (former, key(parts, "admin", owner="stranger")):
        for project in ("local", "nobody"):
            for call in calls([sent, ("relevance-project", project)]).values():
                assert outcome(parts, authenticator, call) == ("NOT_FOUND", f"There is no project {project!r}.")
    wrong = ("authorization", "Bearer wrong")
    for call in calls([wrong, PROJECT]).values():
        assert outcome(parts, authenticator, call)[0] == "UNAUTHENTICATED"


def test_calls_in_projects_that_are_not_shared_count_for_the_rate_of_the_own_owner(parts: SmallParts) -> None:
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    rates = OwnerRates(OwnerLimits(requests_per_second=1), 1, lambda: 0.0)
    rules = replace(RULES, authenticator=authenticator, rate_limits=Limits(rates))
    call = calls([key(parts, "read"), PROJECT])["read"]
    codes = []
    for _ in range(2):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            run(parts, call, rules)
        codes.append(refused.value.code().name)
    assert codes == ["NOT_FOUND", "RESOURCE_EXHAUSTED"]


def test_the_owner_names_its_own_project_and_no_two(parts: SmallParts) -> None:
    authenticator = KeyAuthenticator(parts.transaction, needs_keys=True)
    own = key(parts, "predict", owner="local")
    for call in calls([own, PROJECT]).values():
        assert outcome(parts, authenticator, call) == ("OK", "small")
    for call in calls([own, PROJECT, PROJECT]).values():
        assert outcome(parts, authenticator, call) == ("NOT_FOUND", "There is no project 'local, local'.")


def test_a_token_calls_in_the_project_that_is_shared_with_its_owner(parts: SmallParts) -> None:
    with serving_tokens() as issuer:
        keys = KeyAuthenticator(parts.transaction, needs_keys=True)
        authenticator = TokenAuthenticator(keys, IssuerKeys(Issuer(issuer.url)), TokenRules(issuer.url, AUDIENCE))
        sent = ("authorization", f"Bearer {issuer.token(issuer.claims(sub='auth0|ada', scope='predict'))}")
        for call in calls([sent, PROJECT]).values():
            assert outcome(parts, authenticator, call)[0] == "NOT_FOUND"
        share(parts.members, "local", "auth0|ada", "viewer")
        for call in calls([sent, PROJECT]).values():
            assert outcome(parts, authenticator, call) == ("OK", "small")
