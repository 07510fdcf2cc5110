"""Commands of a page and what they print: how two printed texts differ in shape, and new ones for old."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from examples.tour.readme import README

SPOKEN = re.compile(r"^```sh\n(relevance [^`]*?)\n```\n+```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


@dataclass(frozen=True)
class Spoken:
    """A command, and the text that the page shows of it."""

    command: str
    shown: str


def spoken_in(text: str) -> list[Spoken]:
    """The commands of `relevance` that are followed by what they print, in order."""
    return [Spoken(command, shown) for command, shown in SPOKEN.findall(text)]


def printed(command: str, url: str) -> str:
    """What a command prints, asking the service at `url`; without what it says on the way to people that wait."""
    here = os.environ | {"RELEVANCE_URL": url, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ("sh", "-c", command), cwd=README.parent, env=here, capture_output=True, text=True, timeout=120, check=True
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def shape_of(printed: str) -> list[list[str]]:
    """The words of each line, with a mark in the place of each number."""
    return [NUMBER.sub("#", line).split() for line in printed.splitlines()]


def respoken(text: str, url: str) -> str:
    """A text with what its commands print now.

    Raises SystemExit where that has another shape: what the text says about it may then be wrong too.
    """
    for spoken in spoken_in(text):
        now = printed(spoken.command, url)
        if shape_of(now) != shape_of(spoken.shown):
            raise SystemExit(f"{spoken.command}\n{now}")
        text = text.replace(f"```text\n{spoken.shown}```", f"```text\n{now}```")
    return text
