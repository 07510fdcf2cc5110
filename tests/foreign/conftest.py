"""A service with models for clients that others wrote."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.served import Service, served


@pytest.fixture(scope="session")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """That of `served`."""
    with served(sqlite_template, tmp_path_factory.mktemp("foreign")) as service:
        yield service
