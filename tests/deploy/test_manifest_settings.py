"""The manifests of Kubernetes name settings, files, ports, probes, commands and metrics that the service has."""

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import httpx2
import pytest

from app.cli.run_worker import MAX_STOP_SECONDS
from app.cli.shutdown import MARGIN_SECONDS
from app.settings import Settings
from tests.deploy.manifests import FOLDER, Node, Pod, of_kind, pods, read
from tests.deploy.programs import promtool
from tests.deploy.prometheus_server import awaited, scraping
from tests.end_to_end.deployment import Deployment, deployed
from tests.waiting import until

ROOT = Path(__file__).parents[2]
SECRETS = {"database_password": "a password", "api_key": "rlv_a key of sixteen characters or more"}
PROBES = ("startupProbe", "livenessProbe", "readinessProbe")
OTHERS = {"OPENBLAS_NUM_THREADS"}
"""Variables that are no settings."""


def mounts(pod: Pod) -> dict[str, Node]:
    """The volumes of a pod by the paths at which its container has them."""
    volumes = {str(volume["name"]): volume for volume in pod.spec["volumes"]}
    return {str(mount["mountPath"]): volumes[str(mount["name"])] for mount in pod.container["volumeMounts"]}


def environment(pod: Pod, directory: Path) -> dict[str, str]:
    """The variables of a pod, with its directories as folders of `directory`, and the secrets in their files."""
    found = dict(pod.environment)
    for path, volume in mounts(pod).items():
        folder = directory / path.strip("/")
        folder.mkdir(parents=True, exist_ok=True)
        if "secret" in volume:
            for item in volume["secret"]["items"]:
                (folder / str(item["path"])).write_text(SECRETS[str(item["key"])])
        found = {name: value.replace(f"{path}/", f"{folder}/") for name, value in found.items()}
        found = {name: str(folder) if value == path else value for name, value in found.items()}
    return found


def settings_of(pod: Pod, directory: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in environment(pod, directory).items():
        monkeypatch.setenv(name, value)
    return Settings()


def test_each_variable_is_a_setting_and_is_accepted(pod: Pod, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {f"RELEVANCE_{name.upper()}" for name in Settings.model_fields}
    assert pod.environment.keys() - OTHERS <= known
    found = settings_of(pod, tmp_path, monkeypatch)
    assert found.url.password == SECRETS["database_password"]
    assert found.url.drivername == "postgresql+psycopg"
    assert found.spool_directory is not None


def test_files_of_settings_are_in_volumes(pod: Pod) -> None:
    files = {name: value for name, value in pod.environment.items() if name.endswith("_FILE")}
    (secrets,) = (path for path, volume in mounts(pod).items() if "secret" in volume)
    items = {f"{secrets}/{item['path']}" for item in mounts(pod)[secrets]["secret"]["items"]}
    assert set(files.values()) == items
    assert ("RELEVANCE_INITIAL_API_KEY_FILE" in files) == (pod.name == "relevance-migrate")


def test_the_spool_directory_is_the_one_place_that_can_be_written(pod: Pod) -> None:
    writable = {path for path, volume in mounts(pod).items() if "emptyDir" in volume}
    assert writable == {pod.environment["RELEVANCE_SPOOL_DIRECTORY"]}


def test_ports_are_those_on_which_the_service_listens() -> None:
    api = pods()["relevance-api"]
    ports = {str(port["name"]): str(port["containerPort"]) for port in api.container["ports"]}
    assert ports == {"http": api.environment["RELEVANCE_PORT"], "grpc": api.environment["RELEVANCE_GRPC_PORT"]}
    for service in of_kind("Service"):
        served = {str(port["targetPort"]): str(port["port"]) for port in service["spec"]["ports"]}
        assert served.items() <= ports.items()
        assert served == ports or "publishNotReadyAddresses" in service["spec"]
    (policy,) = (one for one in of_kind("NetworkPolicy") if "ingress" in one["spec"])
    permitted = [str(port["port"]) for rule in policy["spec"]["ingress"] for port in rule["ports"]]
    assert set(permitted) == set(ports)
    assert {str(api.container[probe]["httpGet"]["port"]) for probe in PROBES} == {"http"}


def test_a_stop_takes_less_than_its_grace_period(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api, worker = pods()["relevance-api"], pods()["relevance-worker"]
    settings = settings_of(api, tmp_path, monkeypatch)
    stop = settings.drain_seconds + settings.grace_seconds + MARGIN_SECONDS
    assert stop + 1 < api.spec["terminationGracePeriodSeconds"].number
    assert worker.spec["terminationGracePeriodSeconds"].number > MAX_STOP_SECONDS + 1
    probe = api.container["readinessProbe"]
    assert settings.drain_seconds > probe["periodSeconds"].number * probe["failureThreshold"].number + 1


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """The API and a worker, with the arguments and variables of their pods, on a database that the Job has migrated."""
    directory = tmp_path_factory.mktemp("pods")
    with deployed(f"sqlite:///{directory / 'relevance.db'}", directory) as deployment:
        own = {"RELEVANCE_DATABASE_URL", "RELEVANCE_DATABASE_PASSWORD_FILE", "RELEVANCE_PORT", "RELEVANCE_HOST"}
        variables = {name: environment(pod, directory) for name, pod in pods().items()}
        for name, pod in pods().items():
            variables[name] = {key: value for key, value in variables[name].items() if key not in own}
            assert [str(argument) for argument in pod.container["args"]] == [name.removeprefix("relevance-")]
        migration = deployment.environment(**variables["relevance-migrate"])
        subprocess.run([sys.executable, "-m", "app.cli", "migrate"], env=migration, check=True)
        api = variables["relevance-api"] | {"RELEVANCE_GRPC_PORT": "0"}
        deployment.api(**api)
        deployment.start("worker", **variables["relevance-worker"])
        yield deployment


def test_probes_of_the_api_succeed_without_a_key(deployment: Deployment) -> None:
    (api,) = deployment.apis
    for probe in PROBES:
        path = str(pods()["relevance-api"].container[probe]["httpGet"]["path"])
        assert api.http.get(path).status_code == 200, path
    assert api.http.get("/v1/models").status_code == 401


def test_the_migration_adds_the_key_of_the_secret(deployment: Deployment) -> None:
    (api,) = deployment.apis
    headers = {"Authorization": f"Bearer {SECRETS['api_key']}"}
    assert api.http.get("/v1/models", headers=headers).json()["items"] == []


@pytest.mark.parametrize("probe", ["livenessProbe", "readinessProbe"])
def test_probes_of_a_worker_succeed(deployment: Deployment, probe: str, tmp_path: Path) -> None:
    command = [str(one) for one in pods()["relevance-worker"].container[probe]["exec"]["command"]]
    *interpreter, file = command
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert re.search(rf"^COPY (?:--\S+ )*app/jobs/worker/{Path(file).name} \./$", dockerfile, re.M)
    assert f"WORKDIR {Path(file).parent}\n" in dockerfile
    run = [sys.executable, *interpreter[1:], str(ROOT / "app" / "jobs" / "worker" / Path(file).name)]
    directory = pods()["relevance-worker"].environment["RELEVANCE_SPOOL_DIRECTORY"].strip("/")
    spool = {"RELEVANCE_SPOOL_DIRECTORY": str(deployment.directory / directory)}
    until(lambda: subprocess.run(run, env=spool, check=False).returncode == 0, seconds=60)
    assert subprocess.run(run, env={"RELEVANCE_SPOOL_DIRECTORY": str(tmp_path)}, check=False).returncode == 1


@pytest.fixture(scope="module")
def prometheus(deployment: Deployment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """Prometheus, with the labels that prometheus-scrape.yaml adds."""
    (api,) = deployment.apis
    directory = tmp_path_factory.mktemp("prometheus")
    labels = 'namespace: relevance, pod: "relevance-api-1"'
    with scraping(api.http.base_url.netloc.decode(), directory, labels, key=SECRETS["api_key"]) as client:
        yield client


def external_metrics() -> list[tuple[str, dict[str, str]]]:
    """The names and labels of the external metrics of the autoscalers."""
    metrics = chain.from_iterable(one["spec"]["metrics"] for one in of_kind("HorizontalPodAutoscaler"))
    found = [metric["external"]["metric"] for metric in metrics if str(metric["type"]) == "External"]
    return [(str(one["name"]), one["selector"]["matchLabels"].texts()) for one in found]


def test_the_adapter_has_one_number_for_each_metric_of_the_autoscalers(prometheus: httpx2.Client) -> None:
    (configuration,) = read((FOLDER / "prometheus-adapter.yaml").read_text())
    rules = {re.split(r"\{", str(rule["seriesQuery"]))[0]: rule for rule in configuration["externalRules"]}
    needed = external_metrics()
    assert {name for name, _ in needed} == set(rules)
    assert {labels["queue"] for _, labels in needed if "queue" in labels} == {"training", "scoring"}
    for name, labels in needed:
        rule = rules[name]
        assert rule["resources"]["overrides"]["namespace"]["resource"].value == "namespace"
        assert awaited(prometheus, str(rule["seriesQuery"]))
        matchers = ",".join(f'{label}="{value}"' for label, value in {"namespace": "relevance", **labels}.items())
        query = str(rule["metricsQuery"]).replace("<<.Series>>", name).replace("<<.LabelMatchers>>", matchers)
        assert awaited(prometheus, query) == [0.0]


def test_prometheus_accepts_the_scrape_job(tmp_path: Path) -> None:
    text = (FOLDER / "prometheus-scrape.yaml").read_text()
    (job,) = read(text)[0]["scrape_configs"]
    assert str(job["job_name"]) == "relevance"
    key = str(job["authorization"]["credentials_file"])
    (tmp_path / "key").write_text("a key")
    (tmp_path / "prometheus.yml").write_text(text.replace(key, str(tmp_path / "key")))
    promtool("check", "config", tmp_path / "prometheus.yml")
    (discovery,) = job["dns_sd_configs"]
    (name,) = discovery["names"]
    (service,) = (one for one in of_kind("Service") if "clusterIP" in one["spec"])
    namespace = str(service["metadata"]["namespace"])
    assert str(name) == f"{service['metadata']['name']}.{namespace}.svc.cluster.local"
    assert str(discovery["port"]) == pods()["relevance-api"].environment["RELEVANCE_PORT"]
    assert job["relabel_configs"].value == [{"target_label": "namespace", "replacement": namespace}]
