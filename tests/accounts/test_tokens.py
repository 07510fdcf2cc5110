"""Tokens of an issuer on a real socket."""

import base64
import hmac
import json
import re
import time as wall_clock
from collections.abc import Iterator
from datetime import UTC, datetime

import anyio
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from app.accounts import tokens
from app.accounts.authenticator import KeyAuthenticator
from app.accounts.tokens import (
    DISCOVERY,
    MAX_AGE_SECONDS,
    MIN_FETCH_SECONDS,
    Issuer,
    IssuerKeys,
    TokenAuthenticator,
    TokenRules,
)
from app.errors import UnavailableError
from app.identity import Principal
from tests.applications import SmallParts
from tests.issuers import AUDIENCE, TokenIssuer, new_key, serving
from tests.waiting import until

OF_TOKEN = Principal("acme", frozenset({"read", "predict"}))


class Time:
    """A monotonic clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def issuer() -> Iterator[TokenIssuer]:
    with serving() as issuer:
        yield issuer


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def authenticator(parts: SmallParts, issuer: TokenIssuer, time: Time) -> TokenAuthenticator:
    return made(parts, issuer, time)


def made(parts: SmallParts, issuer: TokenIssuer, time: Time, *, owner_claim: str = "sub") -> TokenAuthenticator:
    keys = KeyAuthenticator(parts.transaction, needs_keys=True)
    rules = TokenRules(issuer.url, AUDIENCE, owner_claim=owner_claim)
    return TokenAuthenticator(keys, IssuerKeys(Issuer(issuer.url), now=time), rules)


def header(token: str) -> list[bytes]:
    return [f"Bearer {token}".encode()]


def found(authenticator: TokenAuthenticator, token: str) -> Principal | None:
    return authenticator.known(header(token)) or anyio.run(authenticator.authenticate, header(token))


def encoded(part: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


@pytest.mark.parametrize("algorithm", ["RS256", "PS512", "ES256", "EdDSA"])
def test_a_token_of_each_kind_of_key_is_accepted_and_known_afterwards(
    authenticator: TokenAuthenticator, issuer: TokenIssuer, algorithm: str
) -> None:
    issuer.keys = {"first": new_key(algorithm)}
    token = issuer.token(algorithm=algorithm)
    assert authenticator.known(header(token)) is None
    assert anyio.run(authenticator.authenticate, header(token)) == OF_TOKEN
    assert authenticator.known(header(token)) == OF_TOKEN
    assert issuer.requested == [DISCOVERY, "/keys"]


def test_api_keys_are_accepted_beside_tokens(parts: SmallParts, authenticator: TokenAuthenticator) -> None:
    _, secret = parts.keys.create("local", "CI", scopes=("read",))
    assert found(authenticator, secret) == Principal("local", frozenset({"read"}))
    assert found(authenticator, "wrong") is None
    assert anyio.run(authenticator.authenticate, []) is None


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "openid train"}, {"train"}),
        ({"scope": None, "scp": ["admin", 1, "profile"]}, {"admin"}),
        ({"scope": None, "scp": "read train"}, {"read", "train"}),
        ({"scope": "read", "scp": ["admin"]}, {"read"}),
        ({"scope": None}, set()),
        ({"scope": {"admin": True}}, set()),
    ],
)
def test_scopes_are_a_string_or_an_array_and_others_are_ignored(
    authenticator: TokenAuthenticator, issuer: TokenIssuer, claims: dict[str, object], scopes: set[str]
) -> None:
    principal = found(authenticator, issuer.token(issuer.claims(**claims)))
    assert principal is not None
    assert principal.scopes == scopes


def test_the_owner_is_the_claim_of_the_settings(parts: SmallParts, issuer: TokenIssuer, time: Time) -> None:
    authenticator = made(parts, issuer, time, owner_claim="team")
    assert found(authenticator, issuer.token()) is None
    principal = found(authenticator, issuer.token(issuer.claims(team="vision")))
    assert principal is not None
    assert principal.owner == "vision"


NOW = int(wall_clock.time())


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": NOW - 31},
        {"exp": None},
        {"exp": "soon"},
        {"exp": "9999999999"},
        {"nbf": NOW + 600},
        {"aud": "another"},
        {"aud": None},
        {"aud": ["another"]},
        {"iss": "https://issuer.test"},
        {"iss": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "a\nb"},
        {"sub": 7},
    ],
    ids=lambda changes: re.sub(r"\d{10}", "time", str(changes)),  # the same in each process that collects the tests
)
def test_a_token_with_a_wrong_claim_is_refused(
    authenticator: TokenAuthenticator, issuer: TokenIssuer, changes: dict[str, object]
) -> None:
    payload = encoded(issuer.claims(**changes))
    head = encoded({"alg": "ES256", "kid": "first"})
    key = jwt.get_algorithm_by_name("ES256")
    signature = key.sign(f"{head}.{payload}".encode(), issuer.keys["first"])
    token = f"{head}.{payload}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"
    assert found(authenticator, token) is None
    assert found(authenticator, issuer.token()) == OF_TOKEN


def test_the_owner_local_is_that_of_the_mapped_subject_alone(issuer: TokenIssuer) -> None:
    public = jwt.get_algorithm_by_name("ES256").to_jwk(issuer.keys["first"].public_key(), as_dict=True)
    key = jwt.PyJWK(public, "ES256")
    local, other = (issuer.token(issuer.claims(sub=name, scope="read")) for name in ("local", "ada"))

    def owner(rules: TokenRules, token: str) -> str | None:
        principal = rules.principal(token, key)
        return None if principal is None else principal.owner

    plain = TokenRules(issuer.url, AUDIENCE)
    assert (owner(plain, local), owner(plain, other)) == (None, "ada")
    mapped = TokenRules(issuer.url, AUDIENCE, local_subject="ada")
    assert (owner(mapped, local), owner(mapped, other)) == (None, "local")
    itself = TokenRules(issuer.url, AUDIENCE, local_subject="local")
    assert (owner(itself, local), owner(itself, other)) == ("local", "ada")


def forged(issuer: TokenIssuer) -> list[str]:
    """Tokens that the issuer has not signed."""
    valid = issuer.token()
    head, payload, signature = valid.split(".")
    public = issuer.keys["first"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    symmetric = f"{encoded({'alg': 'HS256', 'kid': 'first'})}.{payload}"
    mac = base64.urlsafe_b64encode(hmac.digest(public, symmetric.encode(), "sha256")).rstrip(b"=").decode()
    other = encoded(issuer.claims(sub="local", scope="admin"))
    deep = base64.urlsafe_b64encode(b'{"kid":' + b"[" * 15_000).rstrip(b"=").decode()
    return [
        issuer.token(key=new_key()),
        f"{encoded({'alg': 'none', 'kid': 'first'})}.{payload}.",
        f"{encoded({'alg': 'none'})}.{payload}.",
        f"{symmetric}.{mac}",
        f"{head}.{other}.{signature}",
        f"{head}.{payload}.",
        f"{encoded({'alg': ['ES256'], 'kid': 'first'})}.{payload}.{signature}",
        f"{encoded({'alg': 'ES256', 'kid': ['first']})}.{payload}.{signature}",
        f"{encoded({'alg': 'ES256', 'kid': 'first', 'crit': ['x']})}.{payload}.{signature}",
        f"{encoded({'alg': 'RS256', 'kid': 'first'})}.{payload}.{signature}",
        f"{deep}.{payload}.{signature}",
        f"eyJ.{payload}.{signature}",
        "eyJ..",
        "eyJ\xff.\xff.\xff",
    ]


def test_a_token_that_the_issuer_has_not_signed_is_refused(
    authenticator: TokenAuthenticator, issuer: TokenIssuer
) -> None:
    assert found(authenticator, issuer.token()) == OF_TOKEN
    for token in forged(issuer):
        assert found(authenticator, token) is None, token[:80]


def test_a_token_without_a_key_id_is_of_the_only_key(authenticator: TokenAuthenticator, issuer: TokenIssuer) -> None:
    token = issuer.token(key_id=None, key=issuer.keys["first"])
    assert found(authenticator, token) == OF_TOKEN


def test_without_a_key_id_two_keys_are_ambiguous(authenticator: TokenAuthenticator, issuer: TokenIssuer) -> None:
    issuer.keys["second"] = new_key()
    assert found(authenticator, issuer.token(key_id=None, key=issuer.keys["first"])) is None


def test_an_unknown_key_id_fetches_the_keys_once_in_some_seconds(
    authenticator: TokenAuthenticator, issuer: TokenIssuer, time: Time
) -> None:
    assert found(authenticator, issuer.token()) == OF_TOKEN
    issuer.keys["second"] = new_key()
    rotated = issuer.token(key_id="second")
    for _ in range(5):
        assert found(authenticator, rotated) is None
    assert issuer.requested == [DISCOVERY, "/keys"]
    time.now += MIN_FETCH_SECONDS + 0.01
    assert found(authenticator, rotated) == OF_TOKEN
    assert issuer.requested == [DISCOVERY, "/keys"] * 2


def test_a_token_of_a_removed_key_is_refused_once_the_keys_are_fetched(
    authenticator: TokenAuthenticator, issuer: TokenIssuer, time: Time
) -> None:
    old = issuer.token()
    assert found(authenticator, old) == OF_TOKEN
    issuer.keys = {"second": new_key()}
    time.now += MAX_AGE_SECONDS + 1.0
    assert found(authenticator, issuer.token(key_id="second")) == OF_TOKEN
    assert found(authenticator, old) is None


def test_known_keys_go_on_while_the_issuer_does_not_respond_and_nobody_waits(
    authenticator: TokenAuthenticator, issuer: TokenIssuer, time: Time
) -> None:
    assert found(authenticator, issuer.token()) == OF_TOKEN
    issuer.responds.clear()
    time.now += MAX_AGE_SECONDS + 1.0
    began = wall_clock.monotonic()
    assert found(authenticator, issuer.token(issuer.claims(sub="other"))) is not None
    assert wall_clock.monotonic() - began < 1.0
    until(lambda: len(issuer.requested) == 3)


def test_the_event_loop_goes_on_while_keys_are_fetched(authenticator: TokenAuthenticator, issuer: TokenIssuer) -> None:
    issuer.responds.clear()

    async def two() -> int:
        ticks = 0
        async with anyio.create_task_group() as group:
            group.start_soon(authenticator.authenticate, header(issuer.token()))
            for _ in range(20):
                await anyio.sleep(0.01)
                ticks += 1
            issuer.responds.set()
        return ticks

    began = wall_clock.monotonic()
    assert anyio.run(two) == 20
    assert wall_clock.monotonic() - began < 3.0


@pytest.mark.parametrize(
    "response",
    [
        (500, {}, b"{}"),
        (302, {"Location": "/elsewhere"}, b""),
        (200, {}, b"no JSON"),
        (200, {}, b"[]"),
        (200, {}, b'{"issuer": "https://another.test", "jwks_uri": "https://another.test/keys"}'),
        (200, {}, b'{"keys": "x"}' + b" " * 1_100_000),
    ],
    ids=["status", "redirect", "text", "array", "issuer", "size"],
)
@pytest.mark.parametrize("path", [DISCOVERY, "/keys"])
def test_without_any_keys_tokens_can_not_be_checked(
    authenticator: TokenAuthenticator, issuer: TokenIssuer, path: str, response: tuple[int, dict[str, str], bytes]
) -> None:
    issuer.responses[path] = response
    with pytest.raises(UnavailableError, match="can't be fetched"):
        found(authenticator, issuer.token())
    assert "/elsewhere" not in issuer.requested


def test_an_issuer_that_does_not_respond_is_waited_for_until_the_deadline(
    authenticator: TokenAuthenticator, issuer: TokenIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.accounts.tokens.FETCH_SECONDS", 0.2)
    issuer.responds.clear()
    began = wall_clock.monotonic()
    with pytest.raises(UnavailableError):
        found(authenticator, issuer.token())
    assert wall_clock.monotonic() - began < 2.0


def test_keys_that_are_not_for_signatures_are_left_out(authenticator: TokenAuthenticator, issuer: TokenIssuer) -> None:
    secret = base64.urlsafe_b64encode(b"s" * 32).decode()
    documents = [7, {}, {"kty": "RSA", "n": 1, "e": 2}, {"kty": "EC", "crv": "P-256", "x": "", "y": ""}]
    documents.append({"kty": "oct", "kid": "first", "k": secret})
    issuer.responses["/keys"] = (200, {}, json.dumps({"keys": documents}).encode())
    token = jwt.encode(issuer.claims(), b"s" * 32, "HS256", headers={"kid": "first"})
    assert found(authenticator, token) is None


def test_a_principal_expires_when_its_token_does_at_most_at_the_end_of_the_calendar(
    authenticator: TokenAuthenticator, issuer: TokenIssuer
) -> None:
    now = int(wall_clock.time())
    for expiry, expected in ((now + 60, now + 60.0), (10**400, tokens.LAST_EXPIRY)):
        principal = found(authenticator, issuer.token(issuer.claims(exp=expiry)))
        assert principal is not None
        assert (principal.expires_at, principal.key_id) == (expected, None)
    assert datetime.fromtimestamp(tokens.LAST_EXPIRY, UTC).year == 9999


def test_a_verified_token_is_refused_once_it_has_expired(
    authenticator: TokenAuthenticator, issuer: TokenIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = int(wall_clock.time())
    token = issuer.token(issuer.claims(exp=now + 60))
    assert found(authenticator, token) == OF_TOKEN
    monkeypatch.setattr("app.accounts.tokens.time.time", lambda: now + 60 + 29.0)
    assert authenticator.known(header(token)) == OF_TOKEN  # within the leeway
    monkeypatch.setattr("app.accounts.tokens.time.time", lambda: now + 60 + 31.0)
    assert authenticator.known(header(token)) is None


def test_the_number_of_verified_tokens_in_memory_is_bounded(
    authenticator: TokenAuthenticator, issuer: TokenIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MAX_TOKENS", 2)
    sent = [issuer.token(issuer.claims(sub=name)) for name in ("a", "b", "c")]
    assert all(found(authenticator, token) for token in sent)
    assert [authenticator.known(header(token)) is not None for token in sent] == [False, True, True]
