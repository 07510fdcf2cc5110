"""The manifests of Kubernetes: valid, of the syntax of kubectl 1.20, and restricted in what their pods may do."""

import re

import pytest

from app import __version__
from tests.deploy.manifests import (
    FOLDER,
    NEWEST,
    OLDEST,
    WORKLOADS,
    Node,
    Pod,
    findings,
    manifests,
    of_kind,
    pods,
    read,
    render,
)

OF_OTHER_PROGRAMS = {"prometheus-adapter.yaml", "prometheus-scrape.yaml"}
SYNTAX = {"apiVersion", "kind", "namespace", "resources", "images", "configMapGenerator"}
"""The members of kustomization.yaml, all of which kubectl 1.20 has and no later one warns of."""


def kustomization() -> Node:
    (found,) = read((FOLDER / "kustomization.yaml").read_text())
    return found


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_each_manifest_is_valid(version: str) -> None:
    assert findings(render(FOLDER), version) == []


@pytest.mark.parametrize(
    ("manifest", "finding"),
    [
        ("apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\n", "WARN"),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {port: [8000]}\n", "ERROR"),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: http}]}\n", "ERROR"),
    ],
    ids=["a kind that was removed", "a member that does not exist", "a value of another type"],
)
def test_an_invalid_manifest_is_found(manifest: str, finding: str) -> None:
    (found,) = findings(manifest, NEWEST)
    assert found.startswith(finding)


def test_the_kustomization_is_of_the_syntax_of_kubectl_1_20() -> None:
    assert set(kustomization().members) <= SYNTAX


def test_each_file_is_a_resource_or_the_configuration_of_another_program() -> None:
    resources = {str(one) for one in kustomization()["resources"]}
    files = {file.name for file in FOLDER.iterdir()}
    assert files - {"kustomization.yaml"} == resources | OF_OTHER_PROGRAMS
    kinds = [str(manifest["kind"]) for manifest in manifests()]
    assert sorted(kinds) == sorted(
        ["Namespace", "ConfigMap", "Job"]
        + 2 * ["Service", "Deployment", "HorizontalPodAutoscaler", "PodDisruptionBudget"]
        + 3 * ["NetworkPolicy"]
    )


def test_all_pods_run_the_image_of_this_release(pod: Pod) -> None:
    assert set(pods()) == set(WORKLOADS)
    assert str(pod.container["image"]) == f"registry.example.com/relevance:{__version__}"
    assert f"image: relevance:{__version__}" in (FOLDER.parents[1] / "docker-compose.yml").read_text()


def test_pods_are_as_restricted_as_their_namespace_demands(pod: Pod) -> None:
    (namespace,) = of_kind("Namespace")
    assert namespace["metadata"]["labels"].texts()["pod-security.kubernetes.io/enforce"] == "restricted"
    user = re.search(r"useradd .*--uid (\d+)", (FOLDER.parents[1] / "Dockerfile").read_text())
    assert user is not None
    assert pod.spec["securityContext"].value == {
        "runAsNonRoot": True,
        "runAsUser": int(user[1]),
        "runAsGroup": int(user[1]),
        "fsGroup": int(user[1]),
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert pod.container["securityContext"].value == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod.spec["automountServiceAccountToken"].value is False


def test_variables_of_services_are_not_taken_for_settings(pod: Pod) -> None:
    assert pod.spec["enableServiceLinks"].value is False


def test_each_container_has_requests_and_a_limit_of_memory(pod: Pod) -> None:
    resources = pod.container["resources"]
    assert {"cpu", "memory"} <= resources["requests"].texts().keys()
    assert "memory" in resources["limits"]


def selected(labels: Node) -> set[str]:
    """The workloads whose pods have these labels."""
    return {name for name, pod in pods().items() if labels.texts().items() <= pod.labels.items()}


def test_selectors_select_the_pods_of_their_name() -> None:
    for workload in of_kind("Deployment", "PodDisruptionBudget"):
        assert selected(workload["spec"]["selector"]["matchLabels"]) == {str(workload["metadata"]["name"])}
    for service in of_kind("Service"):
        assert selected(service["spec"]["selector"]) == {"relevance-api"}
    for autoscaler in of_kind("HorizontalPodAutoscaler"):
        target = autoscaler["spec"]["scaleTargetRef"]
        assert (str(target["kind"]), str(target["name"])) == ("Deployment", str(autoscaler["metadata"]["name"]))
        assert "replicas" not in next(
            one["spec"] for one in of_kind("Deployment") if str(one["metadata"]["name"]) == str(target["name"])
        )
        assert autoscaler["spec"]["minReplicas"].number >= 2


def test_pods_are_reached_only_where_a_policy_permits_it() -> None:
    policies = {str(one["metadata"]["name"]): one["spec"] for one in of_kind("NetworkPolicy")}
    assert {name: selected(spec["podSelector"]["matchLabels"]) for name, spec in policies.items()} == {
        "relevance": set(WORKLOADS),
        "relevance-api": {"relevance-api"},
        "relevance-worker": {"relevance-worker"},
    }
    assert policies["relevance"]["policyTypes"].value == ["Ingress", "Egress"]
    assert "ingress" not in policies["relevance"]
    assert "ingress" not in policies["relevance-worker"]
    assert "egress" not in policies["relevance-api"]
    assert all("from" in rule for rule in policies["relevance-api"]["ingress"])
