from pathlib import Path

import pytest

from app.jobs.worker.spool import Spool


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    spool = Spool(tmp_path / "spool", executor="here:1")
    spool.open()
    return spool


def test_a_directory_is_removed_at_the_end_of_its_block(spool: Spool) -> None:
    with spool.directory() as directory:
        (directory / "rows.f64").write_bytes(b"12345678")
    assert not directory.exists()
    spool.close()


def test_two_fits_have_two_directories_that_nobody_else_may_read(spool: Spool) -> None:
    with spool.directory() as one, spool.directory() as other:
        assert one != other
        assert one.parent.stat().st_mode & 0o077 == 0
    spool.close()


def test_nothing_is_left_of_a_worker_that_ended(spool: Spool, tmp_path: Path) -> None:
    spool.health_file.touch()
    spool.close()
    assert list((tmp_path / "spool").iterdir()) == []


def test_what_a_killed_worker_left_is_removed_and_what_a_living_one_uses_is_not(spool: Spool, tmp_path: Path) -> None:
    root = tmp_path / "spool"
    left = root / "relevance-worker-killed"
    left.mkdir()
    (left / "rows.f64").touch()
    lock = root / "relevance-worker-killed.lock"
    lock.write_text("here:0")
    health_file = root / "relevance-worker-killed.health"
    health_file.touch()
    with spool.directory() as used:
        another = Spool(root, executor="here:2")
        assert another.open() == {"here:0"}
        assert not left.exists()
        assert not lock.exists()
        assert not health_file.exists()
        assert used.exists()
        another.close()
        assert used.exists()
    spool.close()


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    others = tmp_path / "somebody-elses.lock"
    others.touch()
    spool = Spool(tmp_path, executor="here:1")
    spool.open()
    spool.close()
    assert others.exists()


def test_what_another_host_left_is_removed_and_that_it_died_is_for_others_to_judge(tmp_path: Path) -> None:
    lock = tmp_path / "relevance-worker-killed.lock"
    lock.write_text("there:0")
    spool = Spool(tmp_path, executor="here:1")
    assert not spool.open()
    assert not lock.exists()
    spool.close()
