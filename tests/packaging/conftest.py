from pathlib import Path

import pytest

from tests.packaging.wheels import ROOT, Wheels, built


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    folder: Path = tmp_path_factory.mktemp("wheels")
    return Wheels(built(ROOT / "library", folder / "library"), built(ROOT, folder / "server"))
