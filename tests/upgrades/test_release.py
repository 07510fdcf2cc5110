"""The last release before a commit, in repositories of all kinds."""

import subprocess
from pathlib import Path

import pytest

from tests.upgrades.release import NoHistoryError, last_release


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], capture_output=True, check=True)


def commit(folder: Path, tag: str | None = None) -> None:
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    if tag is not None:
        git(folder, "tag", tag)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("UPGRADE_FROM", raising=False)
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    return folder


def test_before_the_first_release_there_is_none(repository: Path) -> None:
    assert last_release(repository) is None
    git(repository, "tag", "1.0.0")
    assert last_release(repository) is None


def test_it_is_the_release_before_the_commit_with_the_largest_number(repository: Path) -> None:
    for tag in ("1.2.0", "1.10.0", "1.9.0", "1.11.0-rc1", "other"):
        commit(repository, tag)
    commit(repository)
    assert last_release(repository) == "1.10.0"


def test_a_release_of_another_branch_is_none_before_the_commit(repository: Path) -> None:
    commit(repository, "1.0.0")
    git(repository, "checkout", "-qb", "branch")
    commit(repository, "1.0.1")
    git(repository, "checkout", "-q", "main")
    commit(repository)
    assert last_release(repository) == "1.0.0"


def test_another_one_may_be_named(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPGRADE_FROM", "1.0.0")
    assert last_release(repository) == "1.0.0"


def test_a_shallow_clone_is_refused_with_the_remedy(repository: Path, tmp_path: Path) -> None:
    commit(repository)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    with pytest.raises(NoHistoryError, match="git fetch --unshallow --tags"):
        last_release(tmp_path / "shallow")


def test_without_a_repository_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(NoHistoryError, match="no git checkout"):
        last_release(tmp_path)
