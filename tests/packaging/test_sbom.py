import re
from collections.abc import Mapping, Sequence
from typing import TypeGuard

import pytest

from app import __version__
from deploy.image.sbom import Json, locked, sbom
from tests.packaging.wheels import ROOT

LOCK = (ROOT / "requirements-runtime.lock").read_text()


def is_list(value: Json) -> TypeGuard[Sequence[Mapping[str, Json]]]:
    return isinstance(value, list)


@pytest.fixture(scope="module")
def written() -> dict[str, Json]:
    return sbom(LOCK)


def test_the_sbom_has_each_package_of_the_lock_and_the_library(written: dict[str, Json]) -> None:
    components = written["components"]
    assert is_list(components)
    found = {f"{one['name']}=={one['version']}" for one in components}
    lines = re.findall(r"^[\w.-]+==[\w.]+", LOCK, flags=re.MULTILINE)
    elsewhere = {
        line for line in lines if re.search(rf"^{re.escape(line)} ; sys_platform == 'win32'", LOCK, re.MULTILINE)
    }
    assert len(elsewhere) == 1
    assert len(found) == len(components) > 50
    assert found >= {*lines} - elsewhere - {"backports-zstd==1.8.0"}
    assert f"relevance-bayes=={__version__}" in found
    assert not found & elsewhere


def test_the_sbom_has_a_licence_for_each_package(written: dict[str, Json]) -> None:
    components = written["components"]
    assert is_list(components)
    assert [one["name"] for one in components if not one["licenses"]] == []


def test_the_sbom_refers_to_its_own_components_alone(written: dict[str, Json]) -> None:
    components, dependencies = written["components"], written["dependencies"]
    assert is_list(components)
    assert is_list(dependencies)
    references = {one["bom-ref"] for one in components} | {f"pkg:pypi/relevance-server@{__version__}"}
    assert {one["ref"] for one in dependencies} == references
    for one in dependencies:
        required = one["dependsOn"]
        assert isinstance(required, list)
        assert {*required} <= references
    needed = {one["ref"]: one["dependsOn"] for one in dependencies}[f"pkg:pypi/relevance-server@{__version__}"]
    assert isinstance(needed, list)
    assert any(str(name).startswith("pkg:pypi/grpcio@") for name in needed), "the extras of the image are missing"


def test_a_lock_that_is_not_what_is_installed_is_refused() -> None:
    other = re.sub(r"^numpy==\S+", "numpy==1.0", LOCK, flags=re.MULTILINE)
    assert locked(other)["numpy"] == "1.0"
    with pytest.raises(ValueError, match="numpy"):
        sbom(other)
    with pytest.raises(ValueError, match="anyio"):
        sbom(re.sub(r"^anyio==\S+", "# ", LOCK, flags=re.MULTILINE))
