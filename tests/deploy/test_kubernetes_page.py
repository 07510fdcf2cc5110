"""Commands and examples of the page on Kubernetes. There is no cluster: kubectl parses what would be sent to one."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from app import __version__
from app.settings import Settings
from tests.deploy.manifests import FOLDER, NEWEST, OLDEST, Node, findings, of_kind, pods, read
from tests.deploy.programs import program

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "kubernetes.md").read_text()
UNREACHABLE = """\
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
users: [{name: none, user: {token: none}}]
current-context: none
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """The commands of all blocks, and those in the text, each once."""
    lines = [line for block in blocks("sh") for line in re.sub(r"\\\n\s*", "", block).splitlines()]
    return [*dict.fromkeys([*lines, *re.findall(r"`(kubectl [a-z].+?)`", PAGE.replace("\n", " "))])]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The folders that the commands name."""
    shutil.copytree(FOLDER, tmp_path / "deploy" / "kubernetes")
    (tmp_path / "deploy" / "cluster").mkdir()
    (tmp_path / "deploy" / "cluster" / "kustomization.yaml").write_text(blocks("yaml")[0])
    (tmp_path / "secrets").mkdir()
    for name in ("database_password", "api_key"):
        (tmp_path / "secrets" / name).write_text("a secret")
    (tmp_path / "config").write_text(UNREACHABLE)
    return tmp_path


def run(command: str, checkout: Path) -> subprocess.CompletedProcess[str]:
    assert command.startswith("kubectl ")
    environment = os.environ | {"KUBECONFIG": str(checkout / "config"), "HOME": str(checkout)}
    command = command.replace("kubectl", program("kubectl"), 1)
    return subprocess.run(
        ["sh", "-c", command], cwd=checkout, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("command", [one for one in commands() if "kustomize deploy" not in one or "apply" in one])
def test_a_command_is_one_that_kubectl_sends_to_the_cluster(command: str, checkout: Path) -> None:
    sent = run(command, checkout)
    assert sent.returncode != 0
    assert "127.0.0.1:1" in sent.stderr, sent.stderr
    assert "refused" in sent.stderr, sent.stderr


def test_a_command_with_a_mistake_is_not_sent(checkout: Path) -> None:
    assert "refused" not in run("kubectl rollout status --names relevance deployment/relevance-api", checkout).stderr
    assert len(commands()) > 8


def test_the_secret_has_the_keys_that_pods_read(checkout: Path) -> None:
    (command,) = (one for one in commands() if "create secret" in one)
    created = run(f"{command} --dry-run=client -o yaml", checkout)
    assert created.returncode == 0, created.stderr
    (secret,) = read(created.stdout)
    volumes = [volume["secret"] for pod in pods().values() for volume in pod.spec["volumes"] if "secret" in volume]
    assert {str(volume["secretName"]) for volume in volumes} == {str(secret["metadata"]["name"])}
    assert {str(item["key"]) for volume in volumes for item in volume["items"]} == set(secret["data"].members)


def rendered(checkout: Path) -> str:
    done = run("kubectl kustomize deploy/cluster", checkout)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_the_installation_of_the_page_is_valid(checkout: Path, version: str) -> None:
    assert findings(rendered(checkout), version) == []


def test_the_installation_of_the_page_changes_image_and_settings(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = read(rendered(checkout))
    images = {str(one["spec"]["template"]["spec"]["containers"].first["image"]) for one in found if is_workload(one)}
    assert images == {f"registry.example.org/team/relevance:{__version__}"}
    (config,) = (one["data"].texts() for one in found if str(one["kind"]) == "ConfigMap")
    assert set(config) >= {"RELEVANCE_SPOOL_DIRECTORY", "RELEVANCE_JWT_ISSUER"}
    for name, value in config.items():
        if not name.endswith("_FILE"):
            monkeypatch.setenv(name, value)
    assert Settings().url.host == "postgresql.databases"


def is_workload(manifest: Node) -> bool:
    return str(manifest["kind"]) in {"Deployment", "Job"}


def test_the_page_lists_the_files() -> None:
    listed = re.findall(r"`([a-z-]+\.yaml)`", "\n".join(re.findall(r"^\| `.*", PAGE, re.MULTILINE)))
    assert set(listed) == {file.name for file in FOLDER.iterdir()} - {"kustomization.yaml", "namespace.yaml"}


def test_the_numbers_of_the_page_are_those_of_the_manifests() -> None:
    workers, api = (
        next(one for one in of_kind("HorizontalPodAutoscaler") if str(one["metadata"]["name"]) == name)["spec"]
        for name in ("relevance-worker", "relevance-api")
    )
    assert (workers["minReplicas"].number, workers["maxReplicas"].number) == (2, 10)
    assert "at least two workers, and at most ten" in PAGE
    assert str(api["metrics"].first["resource"]["name"]) == "cpu"
    assert "API pods by CPU" in PAGE
    down = workers["behavior"]["scaleDown"]
    assert (down["stabilizationWindowSeconds"].number, down["policies"].first["periodSeconds"].number) == (600, 300)
    variables = pods()["relevance-api"].environment
    assert f"drains for {variables['RELEVANCE_DRAIN_SECONDS']} seconds" in PAGE
    assert f"has {variables['RELEVANCE_GRACE_SECONDS']} seconds for open requests" in PAGE
    probe = pods()["relevance-worker"].container["livenessProbe"]
    assert probe["periodSeconds"].number * probe["failureThreshold"].number == 30 * 60
    assert f"Kubernetes {OLDEST} and {NEWEST}" in PAGE
