"""The configuration of nginx in the guide, used by nginx before a running service."""

import io
import os
import re
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import httpx2
import pytest

from app.http.lists import MAX_WAIT_SECONDS
from app.inference.rpc.generated import open_inference_pb2 as messages
from app.settings import MEBIBYTE, Settings
from tests.conftest import migrated_database
from tests.deploy.programs import output, program
from tests.end_to_end.deployment import TIMEOUT, Api, deployed
from tests.waiting import until

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "proxy.md"
KEY = "rlv_a key of sixteen characters or more"
AUTHORIZATION = {"Authorization": f"Bearer {KEY}"}
JSON = {"Content-Type": "application/json"}
MAIN = """\
daemon off;
{user}
pid {directory}/pid;
error_log {directory}/errors.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {directory}/bodies;
    proxy_temp_path {directory}/proxied;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    include {directory}/relevance.conf;
}}
"""


def documented() -> str:
    """The file of the page."""
    (found,) = re.findall(r"^```nginx\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return str(found)


def seconds(directive: str) -> list[float]:
    return [float(value) for value in re.findall(rf"^ *{directive} (\d+)s;", documented(), re.MULTILINE)]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("proxy")


@pytest.fixture(scope="module")
def api(request: pytest.FixtureRequest, directory: Path) -> Iterator[Api]:
    """The port of gRPC is the one above that of HTTP, as in the file."""
    with migrated_database("sqlite", request, directory) as url, deployed(url, directory) as deployment:
        environment = deployment.environment(RELEVANCE_INITIAL_API_KEY=KEY)
        subprocess.run([sys.executable, "-m", "app.cli", "migrate"], env=environment, check=True)
        yield deployment.api(RELEVANCE_GRPC_PORT=str(free_port()))


@pytest.fixture(scope="module")
def proxy(api: Api, directory: Path) -> Iterator[str]:
    """The address of nginx before the service."""
    certificate, key, port = directory / "relevance.crt", directory / "relevance.key", free_port()
    names = "subjectAltName=DNS:localhost"
    output(
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
        *("-days", "2", "-subj", "/CN=localhost", "-addext", names, "-keyout", key, "-out", certificate),
    )
    replaced = {
        "127.0.0.1:8000": api.http.base_url.netloc.decode(),
        "127.0.0.1:8001": f"127.0.0.1:{grpc_port(api)}",
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        "/etc/nginx/tls": str(directory),
        "relevance.example.com": "localhost",
    }
    text = documented()
    for documentation, real in replaced.items():
        assert documentation in text
        text = text.replace(documentation, real)
    (directory / "relevance.conf").write_text(text)
    user = "user root;" if os.getuid() == 0 else ""
    (directory / "nginx.conf").write_text(MAIN.format(directory=directory, user=user))
    arguments = [program("nginx"), "-c", str(directory / "nginx.conf"), "-e", str(directory / "errors.log")]
    checked = subprocess.run([*arguments, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    with subprocess.Popen(arguments) as process:
        try:
            until(lambda: is_listening(port), seconds=TIMEOUT)
            yield f"localhost:{port}"
        finally:
            process.terminate()


def is_listening(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def grpc_port(api: Api) -> str:
    """The port of gRPC in the environment of the process."""
    variables = Path(f"/proc/{api.process.pid}/environ").read_text().split("\0")
    (port,) = (value for name, _, value in (one.partition("=") for one in variables) if name == "RELEVANCE_GRPC_PORT")
    return port


@pytest.fixture
def client(proxy: str, directory: Path) -> Iterator[httpx2.Client]:
    trusted = ssl.create_default_context(cafile=directory / "relevance.crt")
    with httpx2.Client(base_url=f"https://{proxy}", verify=trusted, timeout=TIMEOUT) as client:
        yield client


def upload(client: httpx2.Client, size: int) -> httpx2.Response:
    """Upload a table of about so many bytes."""
    table = io.BytesIO(b"x,y\n" + b"1.5,2.5\n2.5,1.5\n" * (size // 16))
    return client.post("/v1/datasets?name=large", headers=AUTHORIZATION | {"Content-Type": "text/csv"}, content=table)


def test_the_limits_are_those_of_the_service() -> None:
    default = Settings()
    megabytes = re.findall(r"client_max_body_size (\d+)m;", documented())
    assert [int(one) * MEBIBYTE for one in megabytes] == [default.max_body_bytes, default.max_upload_bytes]
    (buffers,) = re.findall(r"large_client_header_buffers 4 (\d+)k;", documented())
    assert int(buffers) * 1024 == default.max_header_bytes
    assert seconds("client_header_timeout") == [default.header_timeout_seconds]
    assert [found > MAX_WAIT_SECONDS for found in seconds("proxy_read_timeout")] == [True]


def test_a_large_upload_and_a_large_prediction_pass(client: httpx2.Client) -> None:
    created = upload(client, 3 * MEBIBYTE)
    assert created.status_code == 201, created.text
    rows = b'{"rows": [' + b",".join([b'{"x": 1.25}'] * 90_000) + b"]" + b" " * 2 * MEBIBYTE + b"}"
    response = client.post("/v1/models/none/predict", headers=AUTHORIZATION | JSON, content=rows)
    assert response.json()["type"] == "/problems/not-found"


def test_long_headers_pass(client: httpx2.Client) -> None:
    response = client.get("/v1/models", headers=AUTHORIZATION | {"X-Long": "a" * 20_000})
    assert response.status_code == 200
    assert client.get("/v1/models", headers={"Authorization": "Bearer " + "a" * 9_000}).status_code == 401


def test_an_event_stream_passes_event_by_event(client: httpx2.Client) -> None:
    dataset = upload(client, 4_000).json()["id"]
    request = {"dataset_id": dataset, "target": "y", "model": "streamed"}
    submitted = client.post("/v1/training-jobs", headers=AUTHORIZATION, json=request)
    assert submitted.status_code == 202, submitted.text
    job = submitted.json()["id"]
    began = time.monotonic()
    accept = AUTHORIZATION | {"Accept": "text/event-stream"}
    with client.stream("GET", f"/v1/training-jobs/{job}/events", headers=accept) as stream:
        first = next(stream.iter_lines())
    assert first
    assert time.monotonic() - began < 10.0  # no worker runs: the stream has no end


def test_a_session_by_tls_has_a_secure_cookie(client: httpx2.Client) -> None:
    created = client.post("/v1/session", headers=AUTHORIZATION)
    assert created.status_code in {200, 201}, created.text
    cookie = created.headers["Set-Cookie"]
    assert cookie.startswith("__Host-relevance-session=")
    origin = {"Origin": str(client.base_url).rstrip("/")}
    webhook = {"url": "https://example.com/hook"}
    assert client.post("/v1/webhooks", headers=origin, json=webhook).status_code == 201
    assert client.post("/v1/webhooks", headers={"Origin": "https://other.example"}, json=webhook).status_code == 403


def test_the_audit_has_the_address_of_the_client(client: httpx2.Client) -> None:
    upload(client, 4_000).raise_for_status()
    spoofed = AUTHORIZATION | {"X-Forwarded-For": "192.0.2.7"}
    created = client.post("/v1/datasets?name=spoofed", headers=spoofed | {"Content-Type": "text/csv"}, content="x\n1\n")
    assert created.status_code == 201
    entries = client.get("/v1/audit?limit=1", headers=AUTHORIZATION).text
    assert "127.0.0.1" in entries
    assert "192.0.2.7" not in entries


def test_metrics_are_not_served(client: httpx2.Client, api: Api) -> None:
    assert client.get("/metrics", headers=AUTHORIZATION).status_code == 404
    assert api.http.get("/metrics", headers=AUTHORIZATION).status_code == 200


def test_grpc_passes_by_tls(proxy: str, directory: Path) -> None:
    credentials = grpc.ssl_channel_credentials((directory / "relevance.crt").read_bytes())
    with grpc.secure_channel(proxy, credentials) as channel:
        live = channel.unary_unary(
            "/inference.GRPCInferenceService/ServerLive",
            request_serializer=messages.ServerLiveRequest.SerializeToString,
            response_deserializer=messages.ServerLiveResponse.FromString,
        )
        assert live(messages.ServerLiveRequest(), timeout=TIMEOUT).live


def test_haproxy_ends_the_requests_of_a_server_that_hangs_and_not_of_one_that_stops() -> None:
    backends = (ROOT / "deploy" / "proxy" / "haproxy.cfg").read_text().split("\nbackend ")[1:]
    assert [backend.split()[0] for backend in backends] == ["api", "grpc"]
    for backend in backends:
        assert "init-state down on-marked-down shutdown-sessions" in backend.replace("pool-purge-delay 1s ", "")
        assert "http-check send meth GET uri /health/ready?stopping=404 " in backend
        assert "http-check disable-on-404" in backend
    compose = (ROOT / "docker-compose.yml").read_text()
    (drain,) = re.findall(r'RELEVANCE_DRAIN_SECONDS: "(\d+)"', compose)
    assert float(drain) >= Settings().drain_seconds + Settings().grace_seconds
