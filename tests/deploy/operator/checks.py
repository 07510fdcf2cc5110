"""The commands of the page from the first start to the certificate, and what holds after each."""

import json
import ssl
import time
import urllib.request

import grpc

from app import __version__
from app.inference.rpc.generated import open_inference_pb2 as messages
from relevance_bayes.client.responses import Json
from tests.deploy.operator.deployment import IMAGE, Deployment, until
from tests.deploy.operator.load import Load, row
from tests.deploy.operator.page import Page

MIN_REQUESTS = 1_000
SOME_REQUESTS = 200
MODEL = "kiosk"
ROW = row({"temperature": 29, "weather": "sunny", "holiday": True})
STATUS = "command curl --silent --output /dev/null --write-out '%{http_code}' --cacert secrets/tls.crt"


def check(holds: bool, what: str) -> None:
    """Raise RuntimeError unless something holds."""
    if not holds:
        raise RuntimeError(f"WRONG: {what}")


def started(deployment: Deployment, page: Page) -> None:
    """Start, upload, train and predict through TLS."""
    began = time.monotonic()
    printed = deployment.follow(page, "With containers")
    print(f"built, started, trained and predicted: {time.monotonic() - began:.0f} s", flush=True)
    check('"rows":150' in printed, f"the upload returned {printed[:500]}")
    check("litres" in (deployment.folder / "predictions.csv").read_text(), "the file of predictions has no header")
    for service, n in (("api", 2), ("worker", 2), ("proxy", 1), ("database", 1)):
        healthy = [deployment.is_healthy(one) for one in deployment.containers(service)]
        check(healthy == [True] * n, f"{service}: {healthy}")
    for service in ("api", "worker", "proxy"):
        user = deployment.run(f"docker compose exec -T {service} id -u").strip()
        check(user != "0", f"{service} runs as root")
        write = f"docker compose exec -T {service} sh -c 'touch /etc/x 2>&1 || true'"
        check("Read-only" in deployment.run(write), f"{service} can write to its root")
    url = deployment.url("PROXY_PORT", "https")
    for path, status in (("/v1/models", "401"), ("/metrics", "404"), ("/health/ready", "200"), ("/guide/", "200")):
        found = deployment.run(f"{STATUS} {url}{path}")
        check(found == status, f"{path} without a key: {found}")
    check(_grpc_is_ready(deployment), "gRPC is not ready")
    inspected = "docker inspect --format '{{json .Config.Labels}}' " + deployment.containers("api")[0]
    check(f'"org.opencontainers.image.version":"{__version__}"' in deployment.run(inspected), "the image has no labels")


def alone(deployment: Deployment, page: Page) -> None:
    """The image by itself, with a worker and a SQLite file."""
    (block,) = page.take("The image")
    name, port = "relevance-operator-alone", deployment.environment["PROXY_PORT"]
    replaced = block.replace("docker run", f"docker run --detach --name {name}").replace(
        f"relevance:{__version__}", IMAGE
    )
    replaced = replaced.replace("relevance:/srv/data", f"{name}:/srv/data").replace(":8000:8000", f":{port}:8000")
    ready = f"command curl --silent 'http://127.0.0.1:{port}/health/ready?for=training' || true"
    try:
        deployment.run(replaced)
        seconds = until(lambda: '"worker":true' in deployment.run(ready), "the worker")
    finally:
        deployment.run(f"docker rm --force --volumes {name}; docker volume rm {name}")
    print(f"the image alone: ready after {seconds:.0f} s", flush=True)


def load_of(deployment: Deployment, *, predicts_only: bool = False) -> Load:
    """Clients that predict by the page's model."""
    key = (deployment.folder / "secrets" / "api_key").read_text()
    return Load(deployment.url("PROXY_PORT", "https"), key, f"/v1/models/{MODEL}/predict", ROW, predicts_only)


def without_failures(deployment: Deployment, page: Page, heading: str) -> None:
    """The commands of a heading, under load; no request fails."""
    before = {one for service in ("api", "worker") for one in deployment.containers(service)}
    began = time.monotonic()
    with load_of(deployment) as load:
        deployment.follow(page, heading)
        seconds = time.monotonic() - began
        until(lambda: load.sent >= MIN_REQUESTS, "a thousand requests")
    print(f"{heading}: {len(load.failed)} of {load.sent:,} requests failed, {seconds:.0f} s", flush=True)
    check(not load.failed, f"failed requests: {load.failed[:5]}")
    after = {one for service in ("api", "worker") for one in deployment.containers(service)}
    check(not before & after, f"not replaced: {before & after}")


def scaled(deployment: Deployment, page: Page) -> None:
    """Three of each kind, and two again."""
    with load_of(deployment) as load:
        deployment.follow(page, "Scale")
        for service in ("api", "worker"):
            healthy = [deployment.is_healthy(one) for one in deployment.containers(service)]
            check(healthy == [True] * 3, f"{service}: {healthy}")
        until(lambda: _servers(deployment) == 3, "three servers of the proxy")
        deployment.run("docker compose up --detach --no-recreate --wait 2>&1")
        until(lambda: _servers(deployment) == 2 and load.sent > SOME_REQUESTS, "two servers of the proxy")
    print(f"scaled to 3 and back to 2: {len(load.failed)} of {load.sent:,} requests failed", flush=True)
    check(not load.failed, f"failed requests: {load.failed[:5]}")


def certified(deployment: Deployment, page: Page) -> None:
    """Another certificate, which new connections get; none of the open ones fails."""
    old = _certificate(deployment)
    deployment.run(
        "mkdir other; make -C other -f ../Makefile secrets; cat other/secrets/tls.crt >> secrets/tls.crt;"
        "openssl x509 -in other/secrets/tls.pem > chain.pem; openssl pkey -in other/secrets/tls.pem > key.pem"
    )
    with load_of(deployment) as load:
        until(lambda: load.sent > SOME_REQUESTS, "requests with the old certificate")
        deployment.follow(page, "The certificate")
        until(lambda: _certificate(deployment) != old, "the new certificate")
        until(lambda: load.sent > 2 * SOME_REQUESTS, "requests with the new certificate")
    print(f"another certificate: {len(load.failed)} of {load.sent:,} requests failed", flush=True)
    check(not load.failed, f"failed requests: {load.failed[:5]}")


def observed(deployment: Deployment) -> None:
    """Each API container is scraped, the rules are evaluated, spans of API and workers arrive, webhooks too."""
    with deployment.client() as calls:
        calls.webhooks.create("http://collector:16686/hook")
    deployment.run("relevance train examples/tour/kiosk.csv --target litres --model traced")
    prometheus, collector = deployment.url("PROMETHEUS_PORT"), deployment.url("TRACES_PORT")
    expected = {("proxy", "up"): 1, ("relevance", "up"): 2}
    until(lambda: _targets(prometheus) == expected, f"the targets {expected} of Prometheus")
    until(lambda: "RelevanceDown" in json.dumps(_fetched(f"{prometheus}/api/v1/rules")), "the rules")
    until(lambda: _traced(collector) >= {"relevance-api", "relevance-worker"}, "a trace over API and worker")
    until(lambda: "training_job.succeeded" in json.dumps(_fetched(collector)), "the delivery of the webhook")
    print("scraped, traced and notified", flush=True)


def _grpc_is_ready(deployment: Deployment) -> bool:
    trusted = grpc.ssl_channel_credentials((deployment.folder / "secrets" / "tls.crt").read_bytes())
    with grpc.secure_channel(f"localhost:{deployment.environment['PROXY_PORT']}", trusted) as channel:
        call = channel.unary_unary(
            "/inference.GRPCInferenceService/ServerReady",
            request_serializer=messages.ServerReadyRequest.SerializeToString,
            response_deserializer=messages.ServerReadyResponse.FromString,
        )
        response: messages.ServerReadyResponse = call(messages.ServerReadyRequest(), timeout=10)
        return response.ready


def _servers(deployment: Deployment) -> int:
    request = 'exec 3<> /dev/tcp/127.0.0.1/8404; printf "GET /servers HTTP/1.0\\r\\n\\r\\n" >&3; tail -n 1 <&3'
    return int(deployment.run(f"docker compose exec -T proxy bash -c '{request}'"))


def _certificate(deployment: Deployment) -> str:
    return ssl.get_server_certificate(("localhost", int(deployment.environment["PROXY_PORT"])))


def _fetched(url: str) -> Json:
    with urllib.request.urlopen(url, timeout=30) as response:
        found: Json = json.load(response)
    return found


def _targets(prometheus: str) -> dict[tuple[str, str], int]:
    """The number of targets by scrape job and health."""
    with urllib.request.urlopen(f"{prometheus}/api/v1/targets", timeout=30) as response:
        found: dict[str, dict[str, list[dict[str, str]]]] = json.load(response)
    targets = [(one["scrapePool"], one["health"]) for one in found["data"]["activeTargets"]]
    return {one: targets.count(one) for one in targets}


def _traced(collector: str) -> set[str]:
    """The services of the trace that has the most of them."""
    with urllib.request.urlopen(collector, timeout=30) as response:
        spans: list[dict[str, str]] = json.load(response)["spans"]
    traces: dict[str, set[str]] = {}
    for span in spans:
        traces.setdefault(span["trace"], set()).add(span["service"])
    return max(traces.values(), key=len, default=set())
