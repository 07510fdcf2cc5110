"""Clients that others wrote find the service as they expect a server to be."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.end_to_end.deployment import deployed
from tests.keys import add_key
from tests.served import KEY, Service

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / ".venv-clients"
TIMEOUT = 900
"""Seconds after which checks are taken to hang, also on a busy machine."""

CHECKS = {"triton": 31, "triton_rpc": 15, "kserve": 8, "mlserver": 5}
"""The minimum number of checks of each."""


@pytest.mark.parametrize("checked", CHECKS)
def test_a_client_that_others_wrote_finds_what_it_expects(checked: str, service: Service) -> None:
    environment = {"CHECKED_URL": service.url, "CHECKED_RPC": service.rpc, "CHECKED_KEY": service.key}
    run_checks(checked, checked.removesuffix("_rpc"), CHECKS[checked], environment)


def test_clients_that_generators_make_train_and_predict(sqlite_template: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{shutil.copyfile(sqlite_template, tmp_path / 'relevance.db')}"
    add_key(url, KEY)
    with deployed(url, tmp_path) as deployment:
        api = deployment.api(RELEVANCE_LOG_REQUESTS="0")
        deployment.start("worker")
        address = str(api.http.base_url).rstrip("/")
        run_checks("generators", "generators", 3, {"CHECKED_URL": address, "CHECKED_RPC": "", "CHECKED_KEY": KEY})


def run_checks(checked: str, client: str, minimum: int, environment: Mapping[str, str]) -> None:
    """Run the checks of a client in its environment: all pass, and they are at least so many."""
    python = ENVIRONMENTS / client / "bin" / "python"
    assert python.exists(), "the clients are not installed: `make clients`"
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    checks = Path(__file__).with_name(f"checks_{checked}.py")
    done = subprocess.run(
        [python, "-m", "pytest", "--noconftest", "-p", "no:cacheprovider", "-v", checks],
        cwd=ROOT,
        env={**ours, **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("tests/foreign/checks_") and "::" in line]
    assert [line for line in lines if " PASSED " not in line] == [], done.stdout
    assert done.returncode == 0, done.stdout
    assert len(lines) >= minimum
