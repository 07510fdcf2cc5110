"""The release before this code, from the history of the repository, installed in an environment of its own."""

import io
import json
import os
import re
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

from app.database.revision import EXPECTED
from app.http.openapi import Json

ROOT = Path(__file__).parents[2]
TAG = re.compile(r"\d+\.\d+\.\d+")
"""The form of tags of releases."""

FACTS = """
import json
from app.database import revision
import relevance_bayes
print(json.dumps([revision.__file__, relevance_bayes.__file__, revision.EXPECTED]))
"""


class NoHistoryError(Exception):
    """The repository has no history in which a release could be found."""


@dataclass(frozen=True)
class Release:
    """The code of a release, which expects a revision of the tables, in a folder with its environment `.venv`; of this
    working tree, whose processes have the environment of the tests, the folder is None."""

    folder: Path | None
    revision: str

    def recorded(self) -> list[dict[str, Json]]:
        """Return the requests of its documentation, with the responses that were recorded."""
        exchanges: list[dict[str, Json]] = json.loads(((self.folder or ROOT) / "app/http/examples.json").read_text())
        return exchanges


PRESENT = Release(None, EXPECTED)


def last_release(root: Path = ROOT) -> str | None:
    """Return the tag of the newest release before the current commit, None where there is none yet.

    The environment's UPGRADE_FROM names another release. Raises NoHistoryError.
    """
    if named := os.environ.get("UPGRADE_FROM"):
        return named
    if not (root / ".git").exists():
        raise NoHistoryError(f"{root} is no git checkout: clone the repository, with its history.")
    before = _git(root, "tag", "--merged", "HEAD", "--no-contains", "HEAD").decode().split()
    tags = [tag for tag in before if TAG.fullmatch(tag)]
    if not tags and _git(root, "rev-parse", "--is-shallow-repository").strip() == b"true":
        raise NoHistoryError(f"{root} lacks the history: `git fetch --unshallow --tags` fetches it.")
    return max(tags, key=lambda tag: tuple(map(int, tag.split("."))), default=None)


def installed(tag: str, folder: Path) -> Release:
    """Extract the code of a tag into a folder, and install it there; raises NoHistoryError for an unknown tag."""
    with tarfile.open(fileobj=io.BytesIO(_git(ROOT, "archive", "--format=tar", tag))) as tar:
        tar.extractall(folder, filter="data")
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "MAKEFLAGS"}}
    subprocess.run(["make", "-C", folder, "install", f"PYTHON={sys.executable}"], env=environment, check=True)
    shown = subprocess.run(
        [folder / ".venv/bin/python", "-c", FACTS],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    server, library, revision = json.loads(shown.stdout)
    assert Path(server).is_relative_to(folder), server
    assert Path(library).is_relative_to(folder), library
    return Release(folder, revision)


def _git(root: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        raise NoHistoryError(f"`git {arguments[0]}` failed: {done.stderr.decode().strip()}")
    return done.stdout
