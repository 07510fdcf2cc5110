"""`make demo`, as a machine without a terminal runs it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples.tour.readme import README


def run_demo(directory: Path) -> str:
    env = os.environ | {"PYTHONPATH": str(README.parent)}
    command = (sys.executable, "-W", "error::DeprecationWarning:examples", "-m", "examples.demo")
    done = subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.thorough
def test_the_demo_shows_what_was_learned_and_can_be_run_again(tmp_path: Path) -> None:
    first = run_demo(tmp_path)
    assert "sinc, version 1" in first
    assert "ripley, version 1" in first
    assert "friedman-automatic, version 1" in first
    assert re.search(r"linear at most: x4, (x\d, )*x10", first)
    assert re.search(r"the error is [5-9]\d% less than the classical machine's", first)
    assert "heights-automatic, version 1" in first
    assert re.search(r"the error is (0\.9|1\.0)\d of the classical machine's, and 1\.0\d of", first)
    for engine in ("defaults", "classical machine", "Gaussian process", "support vectors"):
        assert re.search(rf"^{engine} +\d+\.\d +", first, flags=re.M)
    for picture in ("sinc.png", "ripley.png", "friedman.png", "heights.png"):
        assert (tmp_path / "demo-output" / picture).read_bytes().startswith(b"\x89PNG")
        assert picture in first
    assert first.splitlines()[-1].strip().startswith("http://127.0.0.1:8000/#/models ")
    second = run_demo(tmp_path)
    assert "sinc, version 2" in second
    learned = [line for line in first.splitlines() if "log evidence" in line and "nats" in line]
    assert learned == [line for line in second.splitlines() if "log evidence" in line and "nats" in line]
