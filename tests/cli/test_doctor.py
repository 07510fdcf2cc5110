"""`relevance doctor`."""

import json
from pathlib import Path

import pytest

from tests.commands import Run


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch, migrated_file: Path) -> Path:
    monkeypatch.delenv("RELEVANCE_REQUIRE_POSTGRES", raising=False)
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", f"sqlite:///{migrated_file}")
    return migrated_file


def test_warnings_have_exit_code_0(run: Run, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELEVANCE_PROT", "8080")
    done = run("doctor")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "warning  settings: RELEVANCE_PROT is set, but no setting has this name. Correct the name, or unset it."
    )
    assert f"ok       database: sqlite:///{database} responds" in lines
    assert {line.split()[0] for line in lines} == {"ok", "warning"}


def test_an_error_has_exit_code_1(run: Run, database: Path) -> None:
    database.unlink()
    done = run("doctor")
    assert done.exit_code == 1
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("error "))
    assert (
        "`relevance migrate` creates it (unable to open database file). Let this user read and write the file" in line
    )


def test_findings_are_printed_as_json(run: Run, database: Path) -> None:
    done = run("doctor", "--json")
    assert done.exit_code == 0
    findings = {finding["check"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert findings["writes"] == {"level": "ok", "check": "writes", "detail": "the database accepts writes"} | {
        "remedy": None
    }
    assert findings["workers"]["level"] == "warning"


def test_settings_that_are_refused_are_errors_without_secrets(
    run: Run, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEVANCE_API_KEY", "hunter2")
    monkeypatch.setenv("RELEVANCE_PORT", "eighty")
    done = run("doctor")
    assert done.exit_code == 1
    assert "error    settings: RELEVANCE_PORT: expected integer, got 'eighty'" in done.stdout
    assert "hunter2" not in done.output
    monkeypatch.delenv("RELEVANCE_PORT")
    monkeypatch.setenv("RELEVANCE_INITIAL_API_KEY_FILE", "/missing/key")
    done = run("doctor")
    assert (done.exit_code, "got /missing/key (No such file" in done.stdout) == (1, True), done.output
