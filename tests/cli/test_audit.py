"""`relevance audit`, on a database with a few changes."""

import json
import sqlite3
from pathlib import Path

import pytest

from app.services import build_worker
from app.settings import Settings
from tests.commands import Run, runner


@pytest.fixture
def database(migrated_file: Path) -> Path:
    return migrated_file


@pytest.fixture
def audit(database: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`relevance audit`, after three keys of one owner and one of another."""
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", f"sqlite:///{database}")
    run = runner(monkeypatch)
    for name, owner in (("one", "local"), ("two", "local"), ("three", "local"), ("theirs", "other")):
        assert run("keys", "create", name, "--owner", owner).exit_code == 0
    return lambda *arguments: run("audit", *arguments)


def test_entries_are_listed_with_the_command_that_made_them(audit: Run) -> None:
    done = audit("list", "--limit", "2")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("key.created") == 2
    assert "command" in done.stdout
    assert "There is no such entry of the owner 'local'." in audit("list", "--action", "key.revoked").stdout
    assert audit("list", "--action", "key.painted").exit_code == 1
    assert audit("list", "--since", "2100-01-01").stdout.startswith("There is no such entry")


def test_an_export_is_verified_as_a_file(audit: Run, tmp_path: Path) -> None:
    file = tmp_path / "audit.ndjson"
    assert audit("export", str(file)).exit_code == 0
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    assert [entry["details"]["name"] for entry in entries] == ["one", "two", "three"]
    assert entries[0]["actor"]["kind"] == "command"
    assert "@" in entries[0]["actor"]["id"]
    assert audit("export", str(file)).exit_code == 1  # an existing file stays
    assert audit("verify", "--file", str(file)).exit_code == 0
    file.write_text(file.read_text().replace('"two"', '"too"'))
    done = audit("verify", "--file", str(file))
    assert done.exit_code == 1
    assert "Entry 2 was changed" in done.stdout
    file.write_text("{}")
    assert audit("verify", "--file", str(file)).exit_code == 1
    lines = audit("export", "-", "--format", "csv", "--owner", "other").stdout.splitlines()
    assert len(lines) == 2


def test_all_chains_are_verified_and_checkpoints_show_a_replaced_end(
    audit: Run, database: Path, tmp_path: Path
) -> None:
    done = audit("verify", "--json")
    assert done.exit_code == 0, done.output
    chains = json.loads(done.stdout)
    assert [(chain["owner"], chain["entries"], chain["faults"]) for chain in chains] == [
        ("local", 3, []),
        ("other", 1, []),
    ]
    checkpoints = tmp_path / "checkpoints.json"
    checkpoints.write_text(done.stdout)
    assert audit("verify", "--checkpoints", str(checkpoints)).exit_code == 0
    with sqlite3.connect(database) as connection:
        connection.execute("DELETE FROM audit_entries WHERE owner = 'other'")
        connection.execute("DELETE FROM audit_chains WHERE owner = 'other'")
    connection.close()
    assert audit("verify").exit_code == 0
    done = audit("verify", "--checkpoints", str(checkpoints))
    assert done.exit_code == 1
    assert "other: Entries are missing at the end: there is a checkpoint of entry 1." in done.stdout
    assert audit("verify", "--owner", "local", "--checkpoints", str(checkpoints)).exit_code == 0
    empty = tmp_path / "empty.ndjson"
    empty.touch()
    verify_empty = ("verify", "--file", str(empty), "--checkpoints", str(checkpoints))
    done = audit(*verify_empty, "--owner", "local")
    assert done.exit_code == 1
    assert "local: Entries are missing at the end: there is a checkpoint of entry 3." in done.stdout
    assert audit(*verify_empty).exit_code == 0  # of which owner it should have entries is not known
    checkpoints.write_text("[1]")
    assert audit("verify", "--checkpoints", str(checkpoints)).exit_code == 1


@pytest.fixture
def heads(audit: Run, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the heads of all chains, as a worker that has started and ended writes it."""
    file, key = tmp_path / "heads.ndjson", tmp_path / "key"
    key.write_bytes(b"k" * 32)
    done = audit("verify")
    assert "Without the heads of the chains outside the database" in done.stderr
    monkeypatch.setenv("RELEVANCE_AUDIT_HEAD_FILE", str(file))
    monkeypatch.setenv("RELEVANCE_AUDIT_HEAD_KEY_FILE", str(key))
    monkeypatch.setenv("RELEVANCE_SPOOL_DIRECTORY", str(tmp_path / "spool"))
    (tmp_path / "spool").mkdir()
    worker = build_worker(Settings())
    assert worker.audit_heads is not None
    worker.audit_heads.stop()
    worker.audit_heads.start()
    worker.audit_heads.run_last(30.0)
    worker.close()
    return file


def test_heads_outside_the_database_show_a_chain_that_was_deleted(audit: Run, database: Path, heads: Path) -> None:
    done = audit("verify")
    assert done.exit_code == 0, done.output
    assert "The heads vouch for the entries up to those of 20" in done.stderr
    with sqlite3.connect(database) as connection:
        connection.execute("DELETE FROM audit_entries WHERE owner = 'other'")
        connection.execute("DELETE FROM audit_chains WHERE owner = 'other'")
    connection.close()
    done = audit("verify")
    assert done.exit_code == 1
    assert "other: Entries are missing at the end: there is a checkpoint of entry 1." in done.stdout
    assert json.loads(audit("verify", "--json").stdout)[1]["owner"] == "other"


def test_heads_that_were_changed_or_need_another_key_are_reported(
    audit: Run, heads: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy.ndjson"
    copy.write_bytes(heads.read_bytes())
    assert audit("verify", "--heads", str(copy)).exit_code == 0
    copy.write_bytes(heads.read_bytes().replace(b'"number":3', b'"number":2', 1))
    done = audit("verify", "--heads", str(copy))
    assert done.exit_code == 1
    assert "Line 1 of the heads was changed, or written with another key." in done.stderr
    export = tmp_path / "audit.ndjson"
    assert audit("export", str(export)).exit_code == 0
    assert audit("verify", "--file", str(export), "--heads", str(heads)).exit_code == 0
    export.write_text("".join(export.read_text().splitlines(keepends=True)[:2]))
    assert audit("verify", "--file", str(export)).exit_code == 0
    assert audit("verify", "--file", str(export), "--heads", str(heads)).exit_code == 1
    assert audit("verify", "--heads", str(tmp_path / "none")).exit_code == 1
    monkeypatch.delenv("RELEVANCE_AUDIT_HEAD_KEY_FILE")
    monkeypatch.delenv("RELEVANCE_AUDIT_HEAD_FILE")
    assert "RELEVANCE_AUDIT_HEAD_KEY_FILE is needed" in audit("verify", "--heads", str(heads)).stderr
