"""A service that the client starts on a file."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from relevance_bayes.client import NOT_REACHABLE, Client, ClientError, connect, connect_async
from relevance_bayes.client.embedded import EmbeddedService
from tests.waiting import until

PYTHON = sys.executable

GREETS = 'echo "Relevance 1.0 is at http://127.0.0.1:1"\n'
ENDS = "cat > /dev/null\necho Stopped.\n"
"""Parts of a command that does not serve: it prints where it is, and ends with its standard input."""

PARENT = """
import sys
from relevance_bayes.client import connect
sys.executable = sys.argv[2]
client = connect(sys.argv[1])
assert "app" not in sys.modules
print(client.embedded.url, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command `relevance` on the PATH, and none beside the interpreter."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "relevance"
    script.write_text(f'#!/bin/sh\nexec "{PYTHON}" -m app.cli "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    return script


def embedded(client: Client) -> EmbeddedService:
    assert client.embedded is not None
    return client.embedded


def is_reachable(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/live", timeout=5).is_success
    except httpx.TransportError:
        return False


def pretend(command: Path, *parts: str) -> None:
    command.write_text("".join(("#!/bin/sh\n", *parts)))


@pytest.mark.thorough
@pytest.mark.usefixtures("command")
def test_a_file_is_served_until_the_client_is_closed_and_keeps_what_was_stored(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    with connect(file) as client:
        url = embedded(client).url
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
        made = client.create_dataset({"x": [1, 2]}, name="numbers")
        assert is_reachable(url)

        async def other() -> str:
            async with connect_async(str(file)) as second:
                assert second.embedded is not None
                assert second.embedded.url != url
                assert [dataset.id async for dataset in second.datasets()] == [made.id]
                return second.embedded.url

        assert not is_reachable(asyncio.run(other()))
        assert is_reachable(url)
    assert not is_reachable(url)
    assert "Stopped." in (tmp_path / "shop.db.log").read_text()
    with connect(file) as client:
        assert [dataset.id for dataset in client.datasets()] == [made.id]


@pytest.mark.thorough
@pytest.mark.usefixtures("command")
def test_memory_is_a_folder_that_is_removed_and_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("RELEVANCE_PORT", "no setting of this program reaches the service")
    with connect(":memory:") as client:
        folder = embedded(client).log.parent
        assert folder.parent == tmp_path
        xs = [x / 3.0 for x in range(20)]
        dataset = client.create_dataset({"x": xs, "y": [2.0 * x for x in xs]}, name="line")
        submitted = client.trainings.submit({"dataset_id": dataset.id, "target": "y", "model": "line"})
        assert client.trainings.wait(submitted.id).state == "succeeded"
        assert client.predict("line", {"columns": {"x": [3.5]}}).predictions[0].mean == pytest.approx(7.0, abs=0.1)
    assert not folder.exists()


@pytest.mark.parametrize("end", ["closed", "killed"])
def test_it_ends_with_its_program(command: Path, tmp_path: Path, end: str) -> None:
    pretend(command, GREETS, ENDS)
    log = tmp_path / "shop.db.log"
    with subprocess.Popen(
        [PYTHON, "-c", PARENT, str(tmp_path / "shop.db"), str(tmp_path / "python")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stdin is not None
        assert program.stdout.readline() == "http://127.0.0.1:1\n"
        assert "Stopped." not in log.read_text()
        program.kill() if end == "killed" else program.stdin.close()
    until(lambda: "Stopped." in log.read_text(), seconds=20)


def test_it_ends_with_the_last_reference_to_its_client(command: Path, tmp_path: Path) -> None:
    pretend(command, GREETS, ENDS)
    connect(tmp_path / "shop.db")
    assert "Stopped." in (tmp_path / "shop.db.log").read_text()


def test_a_fork_of_the_program_does_not_end_it(command: Path, tmp_path: Path) -> None:
    pretend(command, GREETS, ENDS)
    with connect(tmp_path / "shop.db") as client:
        if (child := os.fork()) == 0:
            embedded(client).stop()
            os._exit(0)
        os.waitpid(child, 0)
        assert "Stopped." not in (tmp_path / "shop.db.log").read_text()


def test_a_start_that_is_cancelled_leaves_nothing_running(command: Path, tmp_path: Path) -> None:
    pretend(command, ENDS)
    log = tmp_path / "shop.db.log"

    async def connected() -> None:
        async with connect_async(tmp_path / "shop.db"):
            raise AssertionError("connected")

    async def main() -> None:
        task = asyncio.create_task(connected())
        while not log.exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    until(lambda: log.read_text() == "Stopped.\n", seconds=20)


def test_a_service_that_is_not_installed_is_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(ClientError, match="needs the command `relevance` of the distribution") as error:
        connect(tmp_path / "shop.db")
    assert error.value.problem.type == NOT_REACHABLE
    assert list(tmp_path.iterdir()) == []


def test_a_service_that_does_not_start_is_an_error_with_its_output(command: Path, tmp_path: Path) -> None:
    pretend(command, "echo no such module >&2\nexit 1\n")
    with pytest.raises(ClientError, match=r"(?s)did not start.*shop.db.log:\nno such module"):
        connect(tmp_path / "shop.db")


def test_the_command_gets_a_safe_path_and_no_settings_of_this_program(
    command: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEVANCE_API_KEY", "secret")
    pretend(command, 'echo "$@"\nenv\n', GREETS, ENDS)
    with connect(tmp_path / "shop.db"):
        printed = (tmp_path / "shop.db.log").read_text().splitlines()
    assert printed[0] == "serve --until-eof"
    assert {"PYTHONSAFEPATH=1", "RELEVANCE_HOST=127.0.0.1", "RELEVANCE_PORT=0"} < set(printed)
    assert f"RELEVANCE_DATABASE_URL=sqlite:///{tmp_path}/shop.db" in printed
    assert not any("secret" in line for line in printed)


@pytest.mark.usefixtures("command")
@pytest.mark.parametrize("name", ["no/shop.db", "a?b.db"])
def test_a_file_that_can_not_be_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ClientError, match="Expected a file in an existing folder"):
        connect(tmp_path / name)
