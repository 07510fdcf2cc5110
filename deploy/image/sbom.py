"""The SBOM of the container image (CycloneDX 1.6), from its lock and from the metadata of what is installed.

`python sbom.py requirements-runtime.lock` writes it to standard output, and ends with 1 where lock and installation
differ. The build of the image runs it as a file, beside the packages alone.
"""

import hashlib
import json
import re
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "relevance-server"
OWN = {ROOT, "relevance-bayes"}
"""The distributions of this project, which no lock has."""

Json = str | int | Sequence["Json"] | Mapping[str, "Json"]


def locked(lock: str) -> dict[str, str]:
    """The version of each distribution that a lock installs on this platform, by its normalised name."""
    lines = re.findall(r"^([\w.-]+==[^\\\n]+?) *\\?$", lock, flags=re.MULTILINE)
    found = map(Requirement, lines)
    return {
        canonicalize_name(one.name): str(one.specifier).removeprefix("==")
        for one in found
        if one.marker is None or one.marker.evaluate()
    }


def graph(root: str) -> dict[str, set[str]]:
    """What each distribution requires, from a root with all its extras on."""
    edges: dict[str, set[str]] = {}
    extras: dict[str, set[str]] = {}
    waiting = [(root, frozenset(distribution(root).metadata.get_all("Provides-Extra") or ()))]
    while waiting:
        name, wanted = waiting.pop()
        if name in edges and wanted <= extras[name]:
            continue
        extras.setdefault(name, set()).update(wanted)
        edges.setdefault(name, set())
        for one in _requirements(distribution(name), extras[name]):
            required = canonicalize_name(one.name)
            edges[name].add(required)
            waiting.append((required, frozenset(one.extras)))
    return edges


def _requirements(found: Distribution, extras: set[str]) -> Iterator[Requirement]:
    for one in map(Requirement, found.requires or ()):
        marker = one.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras}):
            yield one


def licences(found: Distribution) -> list[Json]:
    """The licence that a distribution declares: an SPDX expression, or else a name."""
    metadata = found.metadata
    if "License-Expression" in metadata:
        return [{"expression": metadata["License-Expression"], "acknowledgement": "declared"}]
    classifiers = [one for one in metadata.get_all("Classifier") or () if one.startswith("License ::")]
    names = [one.rpartition(":: ")[2] for one in classifiers]
    if not names and "License" in metadata:
        names = metadata["License"].splitlines()[:1]
    return [{"license": {"name": name, "acknowledgement": "declared"}} for name in names]


def component(name: str, kind: str) -> dict[str, Json]:
    """An installed distribution as a component of CycloneDX."""
    found = distribution(name)
    purl = reference(name)
    described: dict[str, Json] = {"type": kind, "bom-ref": purl, "name": name, "version": found.version}
    return {**described, "licenses": licences(found), "purl": purl}


def reference(name: str) -> str:
    """The package URL of an installed distribution, by which the SBOM refers to it."""
    return f"pkg:pypi/{name}@{distribution(name).version}"


def sbom(lock: str) -> dict[str, Json]:
    """The SBOM; raises ValueError where another version than the lock's is installed, or the lock lacks something."""
    edges, versions = graph(ROOT), locked(lock)
    installed = {name: distribution(name).version for name in edges if name not in OWN}
    if differing := sorted(installed.items() ^ versions.items()):
        raise ValueError(f"The lock and what is installed differ: {differing}.")
    digest = hashlib.sha256(lock.encode()).hexdigest()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {
            "component": component(ROOT, "application"),
            "properties": [{"name": "relevance:lock:sha256", "value": digest}],
        },
        "components": [component(name, "library") for name in sorted(edges) if name != ROOT],
        "dependencies": [
            {"ref": reference(name), "dependsOn": sorted(map(reference, required))}
            for name, required in sorted(edges.items())
        ],
    }


if __name__ == "__main__":
    try:
        sys.stdout.write(json.dumps(sbom(Path(sys.argv[1]).read_text()), indent=1) + "\n")
    except ValueError as error:
        sys.exit(str(error))
