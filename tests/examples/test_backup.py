"""The claims of docs/how-to/backup.md."""

import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli.commands import application
from tests import postgres
from tests.stored_service import fill, responses

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "backup.md").read_text()
COMMANDS = [line for block in re.findall(r"(?ms)^```sh\n(.*?)^```$", PAGE) for line in block.splitlines()]
EXAMPLE_URL = "postgresql://relevance@db.example.com/relevance"


@pytest.fixture
def target_url(postgres_server: postgres.Server) -> Iterator[str]:
    """The URL of an empty PostgreSQL database."""
    postgres_server.create("page")
    yield postgres_server.url("page").render_as_string(hide_password=False)
    postgres_server.drop("page")


def shape(text: str) -> list[str]:
    """Each line up to its first digit, without the spaces of tables."""
    return [" ".join(re.sub(r"\d.*", "", line).split()) for line in text.splitlines()]


@pytest.mark.thorough
def test_the_pages_commands_do_what_they_state(
    sqlite_template: Path, target_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "relevance.db"
    file.write_bytes(sqlite_template.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELEVANCE_DATABASE_URL", f"sqlite:///{file}")
    key = fill(f"sqlite:///{file}")
    before = responses(f"sqlite:///{file}", key)
    printed: list[str] = []
    for command in COMMANDS:
        if "--replace" in command:
            with closing(sqlite3.connect(file)) as connection, connection:
                connection.execute("DELETE FROM model_aliases")
        done = CliRunner().invoke(application, shlex.split(command.replace(EXAMPLE_URL, target_url))[1:])
        assert done.exit_code == 0, (command, done.output)
        printed.append(done.stdout)
    assert [command.split()[1] for command in COMMANDS] == ["backup", "restore", "restore", "copy-database"]
    (shown,) = re.findall(r"(?ms)^```text\n(.*?)^```$", PAGE)
    assert shape(shown.replace("3a9d", "")) == shape(re.sub(r"(sha256 +)\S+", r"\g<1>0", printed[0]))
    assert "can be restored" in printed[1]
    assert responses(f"sqlite:///{file}", key) == before
    assert responses(target_url, key) == before
