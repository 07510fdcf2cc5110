import gc
import subprocess
import sys

import pytest

from app.cli import main
from app.cli.serving import imports_that_stay

SLOW = ("httpx", "numpy", "rich", "sqlalchemy", "pydantic", "msgspec", "uvicorn", "fastapi")


def test_help_loads_nothing_that_a_command_would_need() -> None:
    code = f"""
import sys
from app.cli import main
sys.argv = ["relevance", "--help"]
try:
    main()
except SystemExit as end:
    assert end.code == 0, end.code
loaded = set({SLOW!r}) & set(sys.modules)
assert not loaded, loaded
"""
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    assert "train" in done.stdout


COMMANDS = (
    *("serve", "api", "worker", "migrate", "check", "backup", "restore", "copy-database", "doctor"),
    *("train", "approximate", "components", "encode"),
    *("predict", "decode", "jobs", "models", "export", "import", "webhooks"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_page(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["relevance", command, "--help"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert f"relevance {command}" in capsys.readouterr().out


def test_imports_of_a_server_are_left_out_of_garbage_collections() -> None:
    frozen = gc.get_freeze_count()
    with imports_that_stay():
        assert not gc.isenabled()
        made = [[number] for number in range(100)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= frozen + len(made)
    with pytest.raises(ImportError), imports_that_stay():
        raise ImportError("no such module")
    assert gc.isenabled()
