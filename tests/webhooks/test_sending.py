import socket
import ssl
import subprocess
import time
from pathlib import Path
from threading import Event, Timer

import pytest

from app.addresses import Allowance, read_target
from app.jobs.worker.attempts import Interrupted
from app.webhooks import deliverer
from app.webhooks.deliverer import LAST_SECONDS, Deadline, NotSent, post
from relevance_bayes.records.webhooks import DeliveryError
from tests.receivers import Behaviour, floods, hangs, receiving, responses, sends, sends_slowly, unused_port

HERE = Allowance.of("127.0.0.0/8")
OK = responses(200)


def status_of(url: str, *, allowed: Allowance = HERE, seconds: float = 5.0, stopping: Event | None = None) -> int:
    deadline = Deadline(stopping or Event(), seconds)
    return post(read_target(url), {"webhook-id": "one"}, b'{"a":1}', allowed=allowed, deadline=deadline)


def reason_of(url: str, *, allowed: Allowance = HERE, seconds: float = 5.0) -> DeliveryError:
    with pytest.raises(NotSent) as refused:
        status_of(url, allowed=allowed, seconds=seconds)
    return refused.value.reason


def test_a_request_is_one_that_every_server_understands() -> None:
    with receiving(responses(204)) as receiver:
        assert status_of(receiver.url) == 204
    (request,) = receiver.received
    assert request.line == "POST /hook?key=a%20b HTTP/1.1"
    assert request.headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert (request.headers["Content-Type"], request.headers["webhook-id"]) == ("application/json", "one")
    assert request.body == b'{"a":1}'


@pytest.mark.parametrize("status", [200, 299, 301, 400, 410, 429, 500, 503])
def test_the_status_is_that_of_the_response(status: int) -> None:
    with receiving(responses(status, body=b"so be it")) as receiver:
        assert status_of(receiver.url) == status


def test_go_on_is_no_status() -> None:
    with receiving(
        responses(202, before=b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n")
    ) as receiver:
        assert status_of(receiver.url) == 202


def test_a_redirect_is_not_followed() -> None:
    with receiving(OK) as inner, receiving(responses(307, f"Location: {inner.url}")) as outer:
        assert status_of(outer.url) == 307
    assert inner.connections == 1  # its own end, in this test


def test_a_slow_response_in_time_is_a_response() -> None:
    with receiving(sends_slowly(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", pause=0.02)) as receiver:
        assert status_of(receiver.url) == 200


@pytest.mark.parametrize(
    "behaviour",
    [
        hangs,
        sends_slowly(b"HTTP/1.1 200 OK\r\nA: ", pause=0.01, endless=b"b"),
        sends_slowly(b"HTT", pause=0.1, endless=b""),
    ],
    ids=["hangs", "headers without end", "stops in the middle"],
)
def test_a_receiver_that_takes_too_long_is_left(behaviour: Behaviour) -> None:
    with receiving(behaviour) as receiver:
        began = time.monotonic()
        reason = reason_of(receiver.url, seconds=0.6)
        assert time.monotonic() - began < 1.5
    assert reason in {"timeout", "not-connected", "not-http"}
    assert (behaviour is not hangs) or reason == "timeout"


def test_headers_a_byte_at_a_time_are_too_late_in_all() -> None:
    with receiving(sends_slowly(b"HTTP/1.1 200 OK\r\nA: ", pause=0.05, endless=b"b")) as receiver:
        assert reason_of(receiver.url, seconds=1.0) == "timeout"


@pytest.mark.parametrize("behaviour", [floods, sends_slowly(b"HTTP/1.1 200 OK\r\n\r\n", pause=0.001, endless=b"x")])
def test_a_body_is_not_waited_for(behaviour: Behaviour) -> None:
    with receiving(behaviour) as receiver:
        began = time.monotonic()
        assert status_of(receiver.url) == 200
        assert time.monotonic() - began < 2.0


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (b"", "not-connected"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "not-connected"),
        (b"220 mail.example ESMTP\r\n\r\n", "not-http"),
        (b"HTTP/2 200\r\n\r\n", "not-http"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "not-http"),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n", "not-connected"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 11, "not-connected"),
        (b"HTTP/1.1 200 OK\r\nA: " + b"b" * 200_000, "not-http"),
    ],
    ids=[
        "nothing",
        "cut off early",
        "another protocol",
        "another version",
        "no status",
        "cut off",
        "going on",
        "endless",
    ],
)
def test_what_is_no_response_is_stated_to_be_none(given: bytes, reason: DeliveryError) -> None:
    with receiving(sends(given)) as receiver:
        assert reason_of(receiver.url) == reason


def test_nobody_there_is_not_connected() -> None:
    assert reason_of(f"http://127.0.0.1:{unused_port()}/") == "not-connected"


def test_a_name_that_leads_nowhere_is_not_found() -> None:
    assert reason_of("https://nowhere.invalid/", seconds=20.0) == "name-not-found"


def test_a_look_up_that_takes_too_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: ended.wait(10) and [])
    assert reason_of("https://slow.example/", seconds=0.3) == "timeout"
    ended.set()


def test_a_name_that_leads_to_this_machine_is_refused_unless_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(OK) as receiver:
        url = f"http://localhost:{receiver.port}/"
        assert reason_of(url, allowed=Allowance()) == "address-refused"
        assert reason_of(url.replace("http:", "https:"), allowed=Allowance()) == "address-refused"
        assert receiver.connections == 0
        assert status_of(url, allowed=Allowance.of("localhost")) == 200


def test_one_bad_address_among_good_ones_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(_host: str, port: int, *_: object, **__: object) -> list[deliverer.Found]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.215.14", port)),
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::ffff:10.0.0.1", port, 0, 0)),
        ]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert reason_of("https://both.example/", allowed=Allowance()) == "address-refused"


def test_the_address_that_was_checked_is_the_one_spoken_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads elsewhere the second time is not resolved a second time; a dead address is passed over."""
    requested: list[str] = []
    with receiving(OK) as receiver:

        def look_up(host: str, port: int, *_: object, **__: object) -> list[deliverer.Found]:
            requested.append(host)
            return [
                (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.2", unused_port())),
                (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)),
            ]

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        assert status_of(f"http://hooks.example:{receiver.port}/") == 200
    assert requested == ["hooks.example"]
    assert receiver.received[0].headers["Host"] == f"hooks.example:{receiver.port}"


def test_a_name_that_is_rebound_between_deliveries_reaches_no_private_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is public when it is checked first, and of this machine from then on, with a receiver that listens."""
    requested: list[str] = []
    with receiving(OK) as receiver:

        def look_up(host: str, _port: int, *_: object, **__: object) -> list[deliverer.Found]:
            requested.append(host)
            address = "93.184.215.14" if len(requested) == 1 else "127.0.0.1"
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, receiver.port))]

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        url = f"https://hooks.example:{receiver.port}/"
        assert Allowance().checked(url).host == "hooks.example"
        reasons = [reason_of(url, allowed=Allowance(), seconds=1.0) for _ in range(3)]
    assert reasons[1:] == ["address-refused"] * 2
    assert reasons[0] != "address-refused"
    assert len(requested) == 3
    assert receiver.received == []


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{unused_port()}")
    with receiving(OK) as receiver:
        assert status_of(receiver.url) == 200


def test_a_worker_that_is_to_end_waits_a_little_for_a_response_and_no_longer() -> None:
    stopping = Event()
    with receiving(hangs) as receiver:
        Timer(0.1, stopping.set).start()
        began = time.monotonic()
        with pytest.raises(Interrupted):
            status_of(receiver.url, seconds=60.0, stopping=stopping)
        assert LAST_SECONDS <= time.monotonic() - began < LAST_SECONDS + 2.0


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a server `hooks.example`, by nobody but itself."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    made = ("-keyout", str(path), "-out", str(path), "-days", "2", "-subj", "/CN=hooks.example")
    named = ("-addext", "subjectAltName=DNS:hooks.example")
    command = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *made, *named)
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return path


def secured(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_a_server_is_spoken_to_in_secret_and_by_its_name(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str | None] = []
    context = secured(certificate)
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    found = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
    monkeypatch.setattr(socket, "getaddrinfo", lambda _, port, *__, **___: [(*found, ("127.0.0.1", port))])
    with receiving(OK, tls=context) as receiver:
        assert reason_of(f"https://hooks.example:{receiver.port}/") == "tls"  # nobody vouches for it
        trust = ssl.create_default_context(cafile=certificate)
        monkeypatch.setattr(deliverer, "_trust", lambda: trust)
        assert status_of(f"https://hooks.example:{receiver.port}/") == 200
        assert reason_of(f"https://other.example:{receiver.port}/") == "tls"
    assert names == ["hooks.example", "hooks.example", "other.example"]
    assert len(receiver.received) == 1


def test_a_server_without_tls_is_refused_and_its_connection_closed() -> None:
    began = time.monotonic()
    with receiving(sends(b"HTTP/1.1 400 Bad\r\n\r\n")) as receiver:  # which ends when the connection is closed
        reason = reason_of(receiver.url.replace("http:", "https:"), seconds=2.0)
    assert reason in {"tls", "timeout", "not-connected"}
    assert time.monotonic() - began < 10.0
