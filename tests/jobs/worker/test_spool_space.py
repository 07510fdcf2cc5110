"""A worker whose spool directory has no space waits for it, and reports it once."""

import errno
import logging
import os
import tempfile
from pathlib import Path
from threading import Event, Thread

import pytest

from app.jobs.worker import spool as spools
from app.jobs.worker.spool import Spool, UnusableSpoolError
from app.services import build_worker
from app.settings import Settings
from tests.waiting import until


class Disk:
    """The outcome of creating files: `failure` is the number of the error, None for none."""

    def __init__(self, failure: int | None) -> None:
        self.failure = failure
        self.attempts = 0

    def mkstemp(self, *, prefix: str, suffix: str, dir: Path) -> tuple[int, str]:  # noqa: A002 - as `tempfile` has it
        self.attempts += 1
        if self.failure is not None:
            raise OSError(self.failure, os.strerror(self.failure))
        path = dir / f"{prefix}1{suffix}"
        return os.open(path, os.O_RDWR | os.O_CREAT), str(path)


def disk(monkeypatch: pytest.MonkeyPatch, failure: int | None) -> Disk:
    made = Disk(failure)
    monkeypatch.setattr(tempfile, "mkstemp", made.mkstemp)
    monkeypatch.setattr(spools, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(spools, "MAX_PAUSE_SECONDS", 0.02)
    return made


@pytest.mark.parametrize("failure", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_spool_without_space_is_waited_for_and_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: int
) -> None:
    caplog.set_level(logging.INFO)
    full = disk(monkeypatch, failure)
    spool, found = Spool(tmp_path, executor="here:1"), list[frozenset[str] | None]()
    waiting = Thread(target=lambda: found.append(spool.open_when_writable(Event().wait)))
    waiting.start()
    until(lambda: full.attempts >= 5)
    full.failure = None
    waiting.join(10)
    assert found == [frozenset()]
    with spool.directory() as directory:
        assert directory.is_dir()
    spool.close()
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert vars(caplog.records[0])["directory"] == str(tmp_path)
    assert os.strerror(failure) in vars(caplog.records[0])["reason"]


def test_a_worker_that_waits_for_space_stops_when_it_is_requested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full, stop_requested = disk(monkeypatch, errno.ENOSPC), Event()
    spool, found = Spool(tmp_path, executor="here:1"), list[frozenset[str] | None]()
    waiting = Thread(target=lambda: found.append(spool.open_when_writable(stop_requested.wait)))
    waiting.start()
    until(lambda: full.attempts >= 2)
    stop_requested.set()
    waiting.join(10)
    assert found == [None]


def test_a_worker_that_stops_while_it_waits_for_space_has_started_nothing(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk(monkeypatch, errno.ENOSPC)
    worker = build_worker(Settings(database_url=database_url, spool_directory=tmp_path))
    assert not worker.start(lambda seconds: True)
    worker.close()


def test_a_directory_that_may_not_be_used_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk(monkeypatch, errno.EACCES)
    with pytest.raises(UnusableSpoolError, match=str(tmp_path)):
        Spool(tmp_path, executor="here:1").open_when_writable(Event().wait)


def test_nothing_is_left_of_an_attempt_without_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        spool = Spool(tmp_path, executor="here:1")
        with pytest.raises(OSError, match="No space"):
            spool.open()
    assert list(tmp_path.iterdir()) == []
    assert spool.open() == frozenset()
    spool.close()
