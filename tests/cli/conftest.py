import pytest

from tests.commands import Run, runner


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, logging_as_it_was: None) -> Run:
    return runner(monkeypatch)
