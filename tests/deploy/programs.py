"""Programs of Debian's packages that use the files of deploy/."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.end_to_end.deployment import TIMEOUT

PACKAGES = {
    "kubectl": "kubernetes-client",
    "nginx": "nginx-light",
    "prometheus": "prometheus",
    "promtool": "prometheus",
}


def program(name: str) -> str:
    """The path of a program, also of one that Debian keeps from the PATH of users."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    assert found is not None, f"{name} is missing: apt-get install --no-install-recommends {PACKAGES.get(name, name)}"
    return found


def output(name: str, *arguments: str | Path, text: str = "") -> str:
    """The standard output and standard error of a program; it ends with exit code 0."""
    done = subprocess.run(
        [program(name), *map(str, arguments)],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def promtool(*arguments: str | Path, text: str = "") -> None:
    """Run promtool."""
    output("promtool", *arguments, text=text)
