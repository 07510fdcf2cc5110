"""`relevance copy-database`."""

import json
from pathlib import Path

import pytest

from tests.commands import Run


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, migrated_file: Path) -> Path:
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", f"sqlite:///{migrated_file}")
    return migrated_file.parent


def test_each_table_is_printed_with_its_digest(run: Run, folder: Path) -> None:
    done = run("copy-database", f"sqlite:///{folder / 'copy.db'}")
    assert done.exit_code == 0, done.output
    (row,) = (line.split() for line in done.stdout.splitlines() if line.startswith("datasets "))
    assert row == ["datasets", "0", "0" * 64]
    assert f"Copied to sqlite:///{folder / 'copy.db'}; " in done.stdout


def test_the_copy_is_printed_as_json(run: Run, folder: Path) -> None:
    done = json.loads(run("copy-database", f"sqlite:///{folder / 'copy.db'}", "--json").stdout)
    assert done["database"] == f"sqlite:///{folder / 'copy.db'}"
    assert {"name": "datasets", "rows": 0, "sha256": "0" * 64} in done["tables"]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://relevance:hunter2@127.0.0.1:1/relevance", "can't be reached"),
        ("mysql://relevance:hunter2@127.0.0.1/relevance", "URL of the database can't be used"),
        ("hunter2", "URL of the database can't be used"),
    ],
)
def test_a_refusal_has_exit_code_1_and_no_secret(run: Run, folder: Path, url: str, reason: str) -> None:
    done = run("copy-database", url)
    assert done.exit_code == 1
    assert reason in done.stderr
    assert "hunter2" not in done.output
