import zipfile
from email.parser import HeaderParser
from pathlib import Path

from tests.packaging.wheels import ROOT, Wheels


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


def test_both_have_the_licence_and_state_whose_they_are(wheels: Wheels) -> None:
    for wheel in (wheels.library, wheels.server):
        given = dict(metadata(wheel))
        assert given["License-Expression"] == "Apache-2.0"
        assert given["Author"]
        (licence,) = [name for name in names(wheel) if name.endswith("/licenses/LICENSE")]
        with zipfile.ZipFile(wheel) as opened:
            assert opened.read(licence) == (ROOT / "LICENSE").read_bytes()
