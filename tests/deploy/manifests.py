"""The manifests of deploy/kubernetes, as kubectl renders them."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from tests.deploy.programs import output
from tests.docs.shortened import Json

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "kubernetes"
WORKLOADS = ("relevance-api", "relevance-migrate", "relevance-worker")
OLDEST, NEWEST = "1.25", "1.37"
"""Releases of Kubernetes whose schemas the manifests follow; `autoscaling/v2` and `policy/v1` are in all of them."""


@dataclass(frozen=True)
class Node:
    """A value of a manifest."""

    value: Json

    @property
    def members(self) -> dict[str, Json]:
        """The members of an object."""
        assert isinstance(self.value, dict), self.value
        return self.value

    def __getitem__(self, name: str) -> "Node":
        return Node(self.members[name])

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def __iter__(self) -> Iterator["Node"]:
        assert isinstance(self.value, list), self.value
        return map(Node, self.value)

    def __str__(self) -> str:
        assert isinstance(self.value, str | int), self.value
        return str(self.value)

    @property
    def first(self) -> "Node":
        """The first item of a list."""
        return next(iter(self))

    @property
    def number(self) -> int:
        """A whole number."""
        assert isinstance(self.value, int), self.value
        return self.value

    def texts(self) -> dict[str, str]:
        """The members of an object of texts."""
        return {name: str(Node(value)) for name, value in self.members.items()}


def render(folder: Path) -> str:
    """The output of `kubectl kustomize`; a warning would be part of it, and no YAML."""
    return output("kubectl", "kustomize", folder)


def read(text: str) -> list[Node]:
    """The documents of a YAML text."""
    return [Node(document) for document in yaml.safe_load_all(text)]


@cache
def manifests() -> tuple[Node, ...]:
    """All manifests."""
    return tuple(read(render(FOLDER)))


def of_kind(*kinds: str) -> list[Node]:
    """The manifests of some kinds."""
    return [manifest for manifest in manifests() if str(manifest["kind"]) in kinds]


@dataclass(frozen=True)
class Pod:
    """The pods of a Deployment or a Job, which have one container each."""

    name: str
    labels: dict[str, str]
    spec: Node

    @property
    def container(self) -> Node:
        """Its container."""
        (container,) = self.spec["containers"]
        return container

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the container, those of the ConfigMap included."""
        (config,) = of_kind("ConfigMap")
        (source,) = self.container["envFrom"]
        assert str(source["configMapRef"]["name"]) == str(config["metadata"]["name"])
        return config["data"].texts() | {str(one["name"]): str(one["value"]) for one in self.container["env"]}


@cache
def pods() -> dict[str, Pod]:
    """The pods by the names of their Deployments and Jobs."""
    found = {}
    for workload in of_kind("Deployment", "Job"):
        name, template = str(workload["metadata"]["name"]), workload["spec"]["template"]
        found[name] = Pod(name, template["metadata"]["labels"].texts(), template["spec"])
    return found


def findings(text: str, version: str) -> list[str]:
    """The errors and warnings of kubernetes-validate, and any other line that it prints but that a manifest passed."""
    done = subprocess.run(
        [sys.executable, "-m", "kubernetes_validate", "--strict", "-k", version, "-"],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    passed = [line for line in done.stdout.splitlines() if line.startswith("INFO - passed")]
    found = [line for line in done.stdout.splitlines() if line not in passed]
    assert found or (done.returncode == 0 and len(passed) == len(read(text))), done.stdout
    return found
