"""The hosts and pages whose requests are executed, and the origin of a request's changes."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from httpx2 import Response
from starlette.testclient import TestClient
from starlette.types import Scope

from app.accounts.authenticator import KeyAuthenticator
from app.accounts.service import ApiKeys
from app.addresses import Allowance
from app.errors import CrossSiteError, MisdirectedError
from app.http.openapi import Json
from app.http.origins import MAX_AGENT_LENGTH, Hosts, actor_of, origin_of
from app.identity import LOCAL, Principal
from app.main import make_application
from app.origin import SERVICE, Origin, acting, command_origin, current_origin
from tests.applications import LIMITS, SmallParts, StoredParts
from tests.doubles.authenticator import OneKey
from tests.problems import TITLES

PAGE = "https://page.example"
CROSS_SITE = {"Sec-Fetch-Site": "cross-site"}
NAVIGATION = CROSS_SITE | {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
LINKED = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


def refused(response: Response, slug: str) -> dict[str, Json]:
    problem: dict[str, Json] = response.json()
    assert (problem["type"], response.status_code) == (f"/problems/{slug}", TITLES[slug][0])
    return problem


def check(hosts: Hosts, *names: str, server: str = "127.0.0.1") -> None:
    hosts.check_names([name.encode() for name in names], (server, 8000))


@pytest.mark.parametrize(
    "host",
    ["localhost", "LocalHost:8000", "localhost.", "a.b.localhost:1", "127.0.0.1", "127.8.9.10:65535", "[::1]:8000"],
)
def test_the_hosts_of_this_machine_are_served(host: str) -> None:
    check(Hosts(), host)


@pytest.mark.parametrize(
    "hosts",
    [
        (),
        ("evil.example",),
        ("evil.example:8000",),
        ("localhost.evil.example",),
        ("notlocalhost",),
        ("localhost@evil.example",),
        ("localhost, evil.example",),
        ("localhost", "evil.example"),
        ("localhost", "localhost"),
        ("127.0.0.1.evil.example",),
        ("128.0.0.1",),
        ("10.0.0.5:8000",),
        ("0.0.0.0",),
        ("[::2]",),
        ("[::1",),
        ("::1",),
        ("0x7f000001",),
        ("2130706433",),
        ("127.1",),
        ("",),
        ("localhost:port",),
        ("localhost/",),
    ],
)
def test_other_hosts_are_not_served(hosts: tuple[str, ...]) -> None:
    with pytest.raises(MisdirectedError, match="RELEVANCE_ALLOWED_HOSTS"):
        check(Hosts(), *hosts)


def test_hosts_and_networks_of_the_settings_are_served() -> None:
    hosts = Hosts(Allowance.of("models.example, 10.0.0.0/8"))
    for name in ("Models.example:8443", "10.1.2.3"):
        check(hosts, name)
    for name in ("a.models.example", "11.1.2.3"):
        with pytest.raises(MisdirectedError):
            check(hosts, name)


def test_the_address_at_which_a_connection_arrives_is_served_in_a_container_alone() -> None:
    arrived, server = "172.17.0.2:8000", "172.17.0.2"
    check(Hosts(own_address=True), arrived, server=server)
    with pytest.raises(MisdirectedError):
        check(Hosts(own_address=True), "172.17.0.3:8000", server=server)
    with pytest.raises(MisdirectedError):
        check(Hosts(own_address=True), "evil.example", server="evil.example")
    with pytest.raises(MisdirectedError):
        check(Hosts(), arrived, server=server)


def test_the_hosts_that_are_known_are_bounded_and_only_those_that_are_served() -> None:
    hosts = Hosts()
    for number in range(1_100):
        check(hosts, f"n{number}.localhost")
        with pytest.raises(MisdirectedError):
            check(hosts, f"n{number}.example")
    assert len(hosts._known) == 1_000
    assert all(name.endswith(b".localhost") for name in hosts._known)


@pytest.mark.parametrize("path", ["/", "/docs", "/redoc", "/openapi.json", "/guide", "/v1/models", "/v2", "/none"])
def test_a_foreign_host_gets_a_problem_that_names_the_setting(client: TestClient, path: str) -> None:
    problem = refused(client.get(path, headers={"Host": "evil.example:8000"}), "misdirected-request")
    assert "'evil.example:8000'" in str(problem["detail"])
    assert "RELEVANCE_ALLOWED_HOSTS" in str(problem["detail"])


def test_nothing_is_created_for_a_foreign_host(client: TestClient) -> None:
    headers = {"Host": "evil.example", "Content-Type": "text/csv"}
    refused(client.post("/v1/datasets?name=a.csv", content="x,y\n1,2\n", headers=headers), "misdirected-request")
    refused(client.delete("/v1/models/small", headers={"Host": "evil.example"}), "misdirected-request")
    assert client.get("/v1/models/small").is_success


@pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/v2/health/live", "/metrics"])
def test_probes_and_metrics_are_served_for_every_host(client: TestClient, path: str) -> None:
    assert client.get(path, headers={"Host": "pod-17.example"}).is_success


@pytest.mark.parametrize(
    "headers",
    [
        CROSS_SITE,
        CROSS_SITE | {"Origin": PAGE},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:3000"},
        {"Origin": PAGE},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},
        NAVIGATION,
    ],
)
def test_a_foreign_page_creates_nothing(client: TestClient, headers: dict[str, str]) -> None:
    headers = headers | {"Content-Type": "text/plain"}
    problem = refused(client.post("/v1/datasets?name=a.csv", content="x\n1\n", headers=headers), "cross-site-request")
    assert "RELEVANCE_CORS_ORIGINS" in str(problem["detail"])
    assert client.get("/v1/datasets").json()["items"] == client.get("/v1/datasets", headers=LINKED).json()["items"]


@pytest.mark.parametrize("path", ["/", "/docs", "/redoc"])
def test_a_link_from_elsewhere_opens_the_page_and_the_documentation(client: TestClient, path: str) -> None:
    accept = {"Accept": "text/html"}
    assert client.get(path, headers=NAVIGATION | accept).is_success
    framed = NAVIGATION | accept | {"Sec-Fetch-Dest": "iframe"}
    refused(client.get(path, headers=framed), "cross-site-request")
    refused(client.get(path, headers=CROSS_SITE | accept), "cross-site-request")


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/small/versions/1/report", "/openapi.json"])
def test_a_link_from_elsewhere_opens_no_resource(client: TestClient, path: str) -> None:
    refused(client.get(path, headers=NAVIGATION), "cross-site-request")


@pytest.mark.parametrize("headers", [{}, LINKED, {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}])
def test_programs_users_and_the_service_s_own_pages_are_served(client: TestClient, headers: dict[str, str]) -> None:
    assert client.get("/v1/models", headers=headers).is_success


@pytest.fixture
def shared(parts: SmallParts) -> Iterator[TestClient]:
    """A client of a service without keys that pages of one origin may call."""
    with TestClient(make_application(parts, LIMITS, cors_origins=(PAGE,)), base_url="http://localhost") as client:
        yield client


def test_pages_of_the_settings_origins_are_served(shared: TestClient) -> None:
    assert shared.get("/v1/models", headers=CROSS_SITE | {"Origin": PAGE}).is_success
    refused(shared.get("/v1/models", headers=CROSS_SITE | {"Origin": "https://other.example"}), "cross-site-request")
    refused(shared.get("/v1/models", headers={"Host": "evil.example", "Origin": PAGE}), "misdirected-request")


def test_a_service_that_needs_keys_is_served_under_every_host(parts: SmallParts) -> None:
    client = TestClient(make_application(parts, LIMITS, authenticator=OneKey("k" * 20)), base_url="http://any.example")
    assert client.get("/v1/models", headers={"Authorization": "Bearer " + "k" * 20}).is_success
    assert client.get("/docs").is_success


def test_the_first_key_ends_the_check(live_parts: StoredParts) -> None:
    seconds = iter(range(1_000_000))
    authenticator = KeyAuthenticator(live_parts.transaction, now=lambda: float(next(seconds)))
    application = make_application(live_parts, LIMITS, authenticator=authenticator)
    with TestClient(application, base_url="http://models.example") as client:
        refused(client.get("/v1/models"), "misdirected-request")
        refused(client.get("/docs"), "misdirected-request")
        _, secret = ApiKeys(live_parts.transaction).create("local", "first")
        assert client.get("/docs").is_success
        assert client.get("/v1/models", headers={"Authorization": f"Bearer {secret}"}).is_success


@pytest.mark.parametrize("origins", [[b"https://page.example"], [b"null"]])
def test_calls_over_grpc_of_a_page_are_refused(origins: list[bytes]) -> None:
    with pytest.raises(CrossSiteError):
        Hosts().check_origins(origins)
    Hosts().check_origins([])
    Hosts(origins=frozenset({"*"})).check_origins(origins)


@pytest.mark.parametrize(
    ("host", "server"), [("172.17.0.2", "::ffff:172.17.0.2"), ("[::ffff:172.17.0.2]", "172.17.0.2")]
)
def test_an_address_of_ipv4_is_the_same_where_a_socket_of_ipv6_has_it(host: str, server: str) -> None:
    Hosts(own_address=True).check_names([host.encode()], (server, 8000))
    with pytest.raises(MisdirectedError):
        Hosts(own_address=True).check_names([b"172.17.0.3"], (server, 8000))


def test_a_loopback_address_of_ipv4_may_be_written_as_one_of_ipv6() -> None:
    Hosts().check_names([b"[::ffff:127.0.0.1]:8000"], None)
    with pytest.raises(MisdirectedError):
        Hosts().check_names([b"[::ffff:10.0.0.1]:8000"], None)


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
