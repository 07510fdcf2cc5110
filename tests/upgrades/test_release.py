"""The commit before the last migration, in repositories of all kinds."""

import subprocess
from pathlib import Path

import pytest

from tests.upgrades.release import MIGRATIONS, NoHistoryError, commit_before_the_last_migration


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit(folder: Path, name: str) -> str:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(name)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", name)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, f"{MIGRATIONS}/1.py")
    return folder


def test_it_is_the_parent_of_the_commit_that_added_a_migration(repository: Path) -> None:
    before = commit(repository, "app/one.py")
    commit(repository, f"{MIGRATIONS}/2.py")
    commit(repository, "app/two.py")
    assert commit_before_the_last_migration(repository) == before


def test_a_migration_that_was_reverted_is_not_the_last(repository: Path) -> None:
    before = commit(repository, "app/one.py")
    commit(repository, f"{MIGRATIONS}/2.py")
    commit(repository, f"{MIGRATIONS}/3.py")
    git(repository, "revert", "--no-edit", "HEAD")
    assert commit_before_the_last_migration(repository) == before


def test_of_a_merge_it_is_the_commit_into_which_the_branch_was_merged(repository: Path) -> None:
    git(repository, "checkout", "-qb", "branch")
    commit(repository, f"{MIGRATIONS}/2.py")
    git(repository, "checkout", "-q", "main")
    before = commit(repository, "app/one.py")
    git(repository, "merge", "-q", "--no-ff", "-m", "merge", "branch")
    assert commit_before_the_last_migration(repository) == before


def test_where_the_migration_is_not_committed_it_is_the_last_commit(repository: Path) -> None:
    last = commit(repository, "app/one.py")
    (repository / MIGRATIONS / "2.py").touch()
    assert commit_before_the_last_migration(repository) == last


def test_a_shallow_clone_is_refused_with_the_remedy(repository: Path, tmp_path: Path) -> None:
    commit(repository, f"{MIGRATIONS}/2.py")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    with pytest.raises(NoHistoryError, match="git fetch --unshallow"):
        commit_before_the_last_migration(tmp_path / "shallow")


def test_without_an_earlier_commit_or_a_repository_there_is_none(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(NoHistoryError, match="no commit adds a migration to an earlier one"):
        commit_before_the_last_migration(repository)
    with pytest.raises(NoHistoryError, match="no git checkout"):
        commit_before_the_last_migration(tmp_path)
