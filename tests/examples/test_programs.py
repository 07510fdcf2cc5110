"""The programs that show the client and the estimators to those who write their own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(name: str, folder: Path) -> str:
    """Return the output of a program that is run in another folder."""
    command = [sys.executable, str(ROOT / "examples" / name)]
    done = subprocess.run(command, cwd=folder, env=os.environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.thorough
def test_the_estimators_fit_without_a_service(tmp_path: Path) -> None:
    mean, sd = map(float, run("fitting.py", tmp_path).splitlines()[0].split())
    assert abs(mean) < 1.5
    assert 0.05 < sd < 0.5


@pytest.mark.thorough
def test_the_client_trains_and_predicts_with_a_service_of_its_own(tmp_path: Path) -> None:
    version, litres, newest = run("calling.py", tmp_path).splitlines()
    assert version == "version 1"
    found = re.fullmatch(r"litres \[(.*)\]", litres)
    assert found is not None
    assert float(found[1]) == pytest.approx(94.6, abs=1.0)
    assert newest == "newest 1 and of an unknown model None"
