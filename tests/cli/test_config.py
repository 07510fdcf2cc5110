"""`relevance config`: each setting, its value and its origin, without secrets."""

from pathlib import Path

import pytest

from app.settings import Settings
from tests.commands import Run


def rows(output: str) -> dict[str, list[str]]:
    """Value, where there is one, and origin by variable."""
    return {words[0]: words[1:] for words in map(str.split, output.splitlines()) if words[:1] != ["variable"]}


def test_each_setting_is_printed_with_its_value_and_its_origin(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"RELEVANCE_{name.upper()}", raising=False)
    monkeypatch.setenv("RELEVANCE_PORT", "8080")
    monkeypatch.setenv("RELEVANCE_LOG_REQUESTS", "false")
    done = run("config")
    assert done.exit_code == 0, done.output
    found = rows(done.stdout)
    assert {f"RELEVANCE_{name.upper()}" for name in Settings.model_fields} <= set(found)
    assert found["RELEVANCE_PORT"] == ["8080", "environment"]
    assert found["RELEVANCE_LOG_REQUESTS"] == ["0", "environment"]
    assert found["RELEVANCE_HOST"] == ["127.0.0.1", "default"]
    assert found["RELEVANCE_JOB_TIMEOUT_SECONDS"] == ["86400", "default"]
    assert found["RELEVANCE_GRPC_PORT"] == ["default"]


def test_no_secret_is_printed(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", "postgresql://name:hunter2@host/relevance")
    monkeypatch.setenv("RELEVANCE_API_KEY", "hunter2-of-the-client")
    (tmp_path / "key").write_text("hunter2-of-the-file")
    monkeypatch.setenv("RELEVANCE_INITIAL_API_KEY_FILE", str(tmp_path / "key"))
    done = run("config")
    assert "hunter2" not in done.output
    found = rows(done.stdout)
    assert found["RELEVANCE_DATABASE_URL"] == ["postgresql://name:***@host/relevance", "environment"]
    assert found["RELEVANCE_API_KEY"] == ["********", "environment"]
    assert found["RELEVANCE_INITIAL_API_KEY"] == ["********", "file"]
    assert found["RELEVANCE_INITIAL_API_KEY_FILE"] == [str(tmp_path / "key"), "environment"]


def test_a_database_url_that_cannot_be_read_is_masked_as_a_whole(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", "name:hunter2@host")
    assert "hunter2" not in run("config").output


def test_variables_that_no_setting_has_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELEVANCE_PROT", "8080")
    monkeypatch.setenv("RELEVANCE_URL", "http://localhost:8080")
    output = run("config").stdout
    assert "RELEVANCE_PROT is set in the environment, but no setting has this name." in output
    assert "RELEVANCE_URL is set" not in output


COMMANDS = (
    *("config", "serve", "api", "worker", "migrate", "keys list", "limits list", "audit list", "audit verify"),
    *("check worker", "backup file", "restore file", "copy-database sqlite:///other.db"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_names_the_settings_that_it_refuses_in_a_line_each(
    command: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEVANCE_API_KEY", "hunter2")
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", "postgresql://user:hunter2@host/relevance")
    monkeypatch.setenv("RELEVANCE_PORT", "eighty")
    monkeypatch.setenv("RELEVANCE_MAX_ROWS", "0")
    done = run(*command.split())
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.stderr.splitlines() == [
        "RELEVANCE_PORT: expected integer, got 'eighty'",
        "RELEVANCE_MAX_ROWS: expected a value greater than 0, got '0'",
    ]
    assert "hunter2" not in done.output
