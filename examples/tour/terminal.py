"""Commands of a page and what they print: how two printed texts differ in shape, and new ones for old."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from examples.tour.readme import README

CLI_EXAMPLE = re.compile(r"^```sh\n(relevance [^`]*?)\n```\n+```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


@dataclass(frozen=True)
class CliExample:
    """A command, and the text that the page shows of it."""

    command: str
    shown: str


def cli_examples(text: str) -> list[CliExample]:
    """The commands of `relevance` that are followed by what they print, in order."""
    return [CliExample(command, shown) for command, shown in CLI_EXAMPLE.findall(text)]


def printed(command: str, url: str, *, where: Path = README.parent) -> str:
    """Return what a command prints, asking the service at `url`; without what it says on the way to people that wait.

    Of one that is refused, why: the last that it says.
    """
    here = os.environ | {"RELEVANCE_URL": url, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ("sh", "-ec", command), cwd=where, env=here, capture_output=True, text=True, timeout=120, check=False
    )
    lines = done.stdout.splitlines() if done.returncode == 0 else done.stderr.splitlines()[-1:]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def shape_of(printed: str) -> list[list[str]]:
    """The words of each line, with a mark in the place of each number."""
    return [NUMBER.sub("#", line).split() for line in printed.splitlines()]


def with_current_output(text: str, url: str) -> str:
    """A text with what its commands print now.

    Raises SystemExit where that has another shape: what the text says about it may then be wrong too.
    """
    for spoken in cli_examples(text):
        now = printed(spoken.command, url)
        if shape_of(now) != shape_of(spoken.shown):
            raise SystemExit(f"{spoken.command}\n{now}")
        text = text.replace(f"```text\n{spoken.shown}```", f"```text\n{now}```")
    return text
