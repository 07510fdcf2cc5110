"""Clients that others wrote find the service as they expect a server to be."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.served import Service

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / ".venv-clients"
TIMEOUT = 120

CHECKS = {"triton": 31, "triton_rpc": 15, "kserve": 8, "mlserver": 5}
"""The minimum number of checks of each."""


@pytest.mark.parametrize("checked", CHECKS)
def test_a_client_that_others_wrote_finds_what_it_expects(checked: str, service: Service) -> None:
    client = checked.removesuffix("_rpc")
    python = ENVIRONMENTS / client / "bin" / "python"
    assert python.exists(), "the clients are not installed: `make clients`"
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    checks = Path(__file__).with_name(f"checks_{checked}.py")
    done = subprocess.run(
        [python, "-m", "pytest", "--noconftest", "-p", "no:cacheprovider", "-v", checks],
        cwd=ROOT,
        env=ours | {"CHECKED_URL": service.url, "CHECKED_RPC": service.rpc, "CHECKED_KEY": service.key},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("tests/foreign/checks_") and "::" in line]
    assert [line for line in lines if " PASSED " not in line] == [], done.stdout
    assert done.returncode == 0, done.stdout
    assert len(lines) >= CHECKS[checked]
