"""The release before the last migration, from the history of the repository, in a checkout of its own."""

import io
import json
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

from app.http.openapi import Json

ROOT = Path(__file__).parents[2]
MIGRATIONS = "migrations/versions"
PARTS = ("app", "library", "migrations", "pyproject.toml")

FACTS = """
import json
from app.database import revision
import relevance_bayes
print(json.dumps([revision.__file__, relevance_bayes.__file__, revision.EXPECTED, hasattr(revision, "COMPATIBLE")]))
"""


class NoHistoryError(Exception):
    """The repository has no history in which the release before the last migration could be found."""


@dataclass(frozen=True)
class Release:
    """The code of a release in a folder.

    It expects a revision of the tables; `has_compatibility` where it is ready on later ones that are compatible.
    """

    folder: Path
    commit: str
    revision: str
    has_compatibility: bool

    def recorded(self) -> list[dict[str, Json]]:
        """Return the requests of its documentation, with the responses that were recorded."""
        exchanges: list[dict[str, Json]] = json.loads((self.folder / "app/http/examples.json").read_text())
        return exchanges


def present() -> Release:
    """Return the release of this working tree."""
    return _release(ROOT, "the working tree")


def before_the_last_migration(folder: Path) -> Release:
    """Extract the commit before the last migration appeared into a folder; raises NoHistoryError.

    The environment's UPGRADE_FROM names another commit.
    """
    commit = os.environ.get("UPGRADE_FROM") or commit_before_the_last_migration(ROOT)
    archive = _git(ROOT, "archive", "--format=tar", commit, "--", *PARTS)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return _release(folder, commit[:10])


def commit_before_the_last_migration(root: Path) -> str:
    """Return the parent of the commit that added the last migration to this line of history.

    It is HEAD where the last migration is not committed yet. Raises NoHistoryError.
    """
    if not (root / ".git").exists():
        raise NoHistoryError(f"{root} is no git checkout: clone the repository, with its history.")
    changes = _text(root, "status", "--porcelain", "--", MIGRATIONS).splitlines()
    if any(change.startswith(("??", "A")) for change in changes):
        return _text(root, "rev-parse", "HEAD")
    # Those that are there: one that was added and reverted is in the history too.
    files = _text(root, "ls-files", "--", MIGRATIONS).splitlines()
    added = _text(root, "log", "--first-parent", "-m", "-1", "--diff-filter=A", "--format=%H", "--", *files)
    if added:
        known = _text(root, "log", "-1", "--format=%P", added).split()
        if known:
            return known[0]
    shallow = _text(root, "rev-parse", "--is-shallow-repository") == "true"
    remedy = "`git fetch --unshallow` fetches it" if shallow else "no commit adds a migration to an earlier one"
    raise NoHistoryError(f"{root} lacks the history before the last migration: {remedy}.")


def _release(folder: Path, commit: str) -> Release:
    shown = subprocess.run(
        [sys.executable, "-c", FACTS],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{folder}:{folder / 'library'}"},
        capture_output=True,
        text=True,
        check=True,
    )
    server, library, revision, is_aware = json.loads(shown.stdout)
    assert Path(server).is_relative_to(folder), server
    assert Path(library).is_relative_to(folder), library
    return Release(folder, commit, revision, is_aware)


def _git(root: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        raise NoHistoryError(f"`git {arguments[0]}` failed: {done.stderr.decode().strip()}")
    return done.stdout


def _text(root: Path, *arguments: str) -> str:
    return _git(root, *arguments).decode().strip()
