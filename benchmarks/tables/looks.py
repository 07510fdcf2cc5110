"""The looks at the sealed half: at most three, each recorded with its figures in a file that is committed."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from benchmarks.files import NotRun
from benchmarks.tables.catalogue import Task
from benchmarks.tables.splits import SPLITS

FILE = Path(__file__).with_name("looks.json")

ROOT = Path(__file__).parents[2]

MAX_LOOKS = 3

Summary = Mapping[Task, Mapping[str, Mapping[str, float]]]
"""The figures by task, engine and name."""


@dataclass(frozen=True)
class Look:
    """A measurement of the sealed half; without `figures` it was begun and not ended."""

    number: int
    day: str
    revision: str
    splits: int = SPLITS
    """Splits of each table."""

    figures: Summary = field(default_factory=dict)


def looks() -> list[Look]:
    """The looks that were taken."""
    if not FILE.is_file():
        return []
    return [Look(**stored) for stored in json.loads(FILE.read_text("utf-8"))["looks"]]


def begin(day: str, revision: str, *, splits: int = SPLITS) -> Look:
    """Record that a look begins; one that the same revision has begun with as many splits and not
    ended goes on.

    Raises NotRun where three have been taken.
    """
    made = looks()
    if made and not made[-1].figures and (made[-1].revision, made[-1].splits) == (revision, splits):
        return made[-1]
    if len(made) >= MAX_LOOKS:
        raise NotRun(f"{MAX_LOOKS} looks at the sealed half have been taken, and there is no other")
    look = Look(len(made) + 1, day, revision, splits)
    _write([*made, look])
    return look


def end(look: Look, figures: Summary) -> None:
    """Record the figures of a look that was begun."""
    _write([replace(one, figures=figures) if one.number == look.number else one for one in looks()])


def revision() -> str:
    """The commit that is checked out; raises NotRun where files that it has were changed."""
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", f":(exclude)*{FILE.name}")
    if changed:
        raise NotRun("a look measures a commit, and there are changes that are not committed")
    return _git("rev-parse", "HEAD")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _write(made: list[Look]) -> None:
    FILE.write_text(json.dumps({"looks": [asdict(look) for look in made]}, indent=1) + "\n", "utf-8")
