"""`relevance backup` and `relevance restore`."""

import json
import re
from pathlib import Path

import pytest

from app.database.revision import EXPECTED
from tests.commands import Run
from tests.later_revisions import with_later_revisions


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch, migrated_file: Path) -> Path:
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", f"sqlite:///{migrated_file}")
    return migrated_file


def test_a_backup_is_written_and_restored(run: Run, database: Path, tmp_path: Path) -> None:
    done = run("backup", str(tmp_path / "backup.tar"))
    assert done.exit_code == 0, done.output
    assert f"Wrote {tmp_path / 'backup.tar'}." in done.stdout
    assert re.search(rf"(?m)^revision +{EXPECTED}$", done.stdout)
    database.unlink()
    verified = run("restore", str(tmp_path / "backup.tar"), "--verify")
    assert (verified.exit_code, database.exists()) == (0, False), verified.output
    assert f"{tmp_path / 'backup.tar'} is whole and can be restored." in verified.stdout
    done = run("restore", str(tmp_path / "backup.tar"))
    assert (done.exit_code, database.exists()) == (0, True), done.output
    assert f"Restored {tmp_path / 'backup.tar'} into sqlite:///{database}." in done.stdout


def test_facts_are_printed_as_json(run: Run, database: Path, tmp_path: Path) -> None:
    wrote = json.loads(run("backup", str(tmp_path), "--json").stdout)
    assert wrote["path"].startswith(str(tmp_path / "relevance-"))
    assert wrote["manifest"]["rows"]["datasets"] == 0
    assert json.loads(run("restore", wrote["path"], "--verify", "--json").stdout) == {"manifest": wrote["manifest"]}
    restored = json.loads(run("restore", wrote["path"], "--json").stdout)
    assert restored == {
        "database": f"sqlite:///{database}",
        "migrated_from": None,
        "manifest": wrote["manifest"],
    }


def test_a_refusal_has_exit_code_1(run: Run, database: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no backup")
    for arguments in (("backup", str(tmp_path / "file")), ("restore", str(tmp_path / "file"))):
        done = run(*arguments)
        assert (done.exit_code, done.stdout) == (1, "")
        assert str(tmp_path / "file") in done.stderr
    database.unlink()
    done = run("backup", str(tmp_path / "backup.tar"))
    assert done.exit_code == 1
    assert str(database) in done.stderr


@pytest.mark.usefixtures("database")
def test_a_migration_of_an_earlier_revision_is_printed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("backup", str(tmp_path / "backup.tar"))
    later = with_later_revisions(tmp_path, monkeypatch, None)
    done = run("restore", str(tmp_path / "backup.tar"))
    assert f"Migrated it from the revision {EXPECTED} to {later}." in done.stdout, done.output
