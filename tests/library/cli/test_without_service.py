"""Commands where no service responds: one is started on the default database, unless another one is meant."""

import json
import socket
from pathlib import Path

import pytest

from relevance_bayes.cli import connection
from tests.commands import Run

KIOSK = Path(__file__).parents[3] / "examples" / "tour" / "kiosk.csv"


@pytest.fixture
def silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The default URL, where nothing listens, and an empty working directory."""
    with socket.create_server(("127.0.0.1", 0)) as opened:
        url = f"http://127.0.0.1:{opened.getsockname()[1]}"
    monkeypatch.setattr(connection, "DEFAULT_URL", url)
    monkeypatch.setenv("RELEVANCE_URL", url)
    monkeypatch.delenv("RELEVANCE_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    return url


@pytest.mark.thorough
def test_a_service_is_started_for_each_command_on_the_same_database(run: Run, silent: str, tmp_path: Path) -> None:
    trained = run("train", str(KIOSK), "--target", "litres", "--model", "ice-cream", "--effort", "quick")
    assert trained.exit_code == 0, trained.stderr
    assert f"No service responds at {silent}: one is started on relevance.db for this command." in trained.stderr
    predicted = run("predict", "ice-cream", str(KIOSK), "--json")
    assert predicted.exit_code == 0, predicted.stderr
    assert len(json.loads(predicted.stdout)["predictions"]) > 10
    assert (tmp_path / "relevance.db").exists()


def test_without_a_database_a_command_that_creates_nothing_starts_none(run: Run, silent: str, tmp_path: Path) -> None:
    done = run("predict", "ice-cream", str(KIOSK))
    assert done.exit_code == 1
    assert "relevance serve" in done.stderr
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("case", ["another URL", "another database", "no command"])
def test_no_service_is_started_where_another_is_meant(
    run: Run, silent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    match case:
        case "another URL":
            monkeypatch.setattr(connection, "DEFAULT_URL", "http://127.0.0.1:8000")
        case "another database":
            monkeypatch.setenv("RELEVANCE_DATABASE_URL", "postgresql+psycopg://db/relevance")
        case _:
            monkeypatch.setattr(connection, "is_installed", lambda: False)
    done = run("train", str(KIOSK), "--target", "litres")
    assert done.exit_code == 1
    assert silent in done.stderr
    assert [*tmp_path.iterdir()] == []
