import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

from app import __version__
from tests.packaging.wheels import ROOT, Wheels, built


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as opened:
        return set(opened.namelist())


def metadata(wheel: Path) -> list[tuple[str, str]]:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        return HeaderParser().parsestr(opened.read(name).decode()).items()


def test_the_library_has_its_own_files_alone(wheels: Wheels) -> None:
    found = names(wheels.library)
    assert {name.split("/")[0].split("-")[0] for name in found} == {"relevance_bayes"}
    assert {
        "relevance_bayes/py.typed",
        "relevance_bayes/core/__init__.py",
        "relevance_bayes/client/__init__.py",
    } <= found


def test_the_server_has_all_migrations(wheels: Wheels) -> None:
    found = names(wheels.server)
    migrations = {path.name for path in (ROOT / "migrations" / "versions").glob("*.py")}
    assert migrations == {Path(name).name for name in found if name.startswith("app/migrations/versions/")}
    assert {"app/migrations/env.py", "app/py.typed"} <= found
    assert {name.split("/")[0].split("-")[0] for name in found} == {"app", "relevance_server"}


def test_the_library_needs_numpy_pydantic_and_scipy_and_its_client_httpx(wheels: Wheels) -> None:
    needed = [value for name, value in metadata(wheels.library) if name == "Requires-Dist"]
    assert [one.split("<")[0] for one in needed if "extra" not in one] == ["numpy", "pydantic", "scipy"]
    assert [one.split("<")[0] for one in needed if "extra == 'client'" in one] == ["httpx"]


def test_both_have_the_number_of_the_release_and_the_server_needs_the_library_of_its_own(wheels: Wheels) -> None:
    for wheel in (wheels.library, wheels.server):
        assert dict(metadata(wheel))["Version"] == __version__
    needed = [value for name, value in metadata(wheels.server) if name == "Requires-Dist" and "relevance" in value]
    assert needed == [f"relevance-bayes[cli]=={__version__}"]


@pytest.mark.parametrize("distribution", ["library", "server"])
def test_a_wheel_of_the_sources_alone_is_the_same(wheels: Wheels, distribution: str, tmp_path: Path) -> None:
    source, wheel = (ROOT / "library", wheels.library) if distribution == "library" else (ROOT, wheels.server)
    with tarfile.open(built(source, tmp_path / "sources", "sdist")) as sources:
        sources.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.glob(f"relevance_*-{__version__}")
    rebuilt = built(folder, tmp_path / "wheel")
    assert names(rebuilt) == names(wheel)
    assert metadata(rebuilt) == metadata(wheel)


def test_both_have_the_licence_and_state_whose_they_are(wheels: Wheels) -> None:
    for wheel in (wheels.library, wheels.server):
        given = dict(metadata(wheel))
        assert given["License-Expression"] == "Apache-2.0"
        assert given["Author"]
        (licence,) = [name for name in names(wheel) if name.endswith("/licenses/LICENSE")]
        with zipfile.ZipFile(wheel) as opened:
            assert opened.read(licence) == (ROOT / "LICENSE").read_bytes()
