import os
from pathlib import Path

import pytest

from app import __version__
from tests.packaging.wheels import ROOT, Wheels, built


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    """The wheels of this checkout, or those of its release in the folder RELEVANCE_WHEELS."""
    if given := os.environ.get("RELEVANCE_WHEELS"):
        return Wheels(
            *(ROOT / given / f"relevance_{one}-{__version__}-py3-none-any.whl" for one in ("bayes", "server"))
        )
    folder: Path = tmp_path_factory.mktemp("wheels")
    return Wheels(built(ROOT / "library", folder / "library"), built(ROOT, folder / "server"))
