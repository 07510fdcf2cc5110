"""Commands of `relevance` on a page and their outputs: shapes, and current outputs."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from examples.tour.readme import README

CLI_EXAMPLE = re.compile(r"^```sh\n(relevance [^`]*?)\n```\n+```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = Path(sys.executable).parent
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


@dataclass(frozen=True)
class CliExample:
    """A command, and its output on the page."""

    command: str
    shown: str


def cli_examples(text: str) -> list[CliExample]:
    """Return the commands of `relevance` that are followed by their output, in order."""
    return [CliExample(command, shown) for command, shown in CLI_EXAMPLE.findall(text)]


def printed(command: str, url: str, *, where: Path = README.parent, commands: Path = COMMANDS) -> str:
    """Return the output of a command of a client of the service at `url`, without its progress.

    For a command that fails, the last line of its error message. Programs are those of the folder `commands` first.
    """
    here = os.environ | {"RELEVANCE_URL": url, "PATH": f"{commands}:{os.environ['PATH']}"}
    done = subprocess.run(
        ("sh", "-ec", command), cwd=where, env=here, capture_output=True, text=True, timeout=120, check=False
    )
    lines = done.stdout.splitlines() if done.returncode == 0 else done.stderr.splitlines()[-1:]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def shape_of(printed: str) -> list[list[str]]:
    """Return the words of each line, with `#` in the place of each number."""
    return [NUMBER.sub("#", line).split() for line in printed.splitlines()]


def with_current_output(text: str, url: str) -> str:
    """Return a text with the current outputs of its commands.

    Raises SystemExit where an output has another shape, so that the text may be wrong too.
    """
    for example in cli_examples(text):
        now = printed(example.command, url)
        if shape_of(now) != shape_of(example.shown):
            raise SystemExit(f"{example.command}\n{now}")
        text = text.replace(f"```text\n{example.shown}```", f"```text\n{now}```")
    return text
