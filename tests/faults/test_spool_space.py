"""A worker as shipped whose spool directory is on a full disk, or can't be used at all."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from relevance_bayes.core.selection import train
from tests.faults.conftest import AS_SHIPPED, MakePlace
from tests.live_workers import workers_alive
from tests.waiting import until

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

BALLAST = "ballast"
WAITS = "the spool directory has no space: the worker waits"
STARTS = "the spool directory has space again: the worker starts"
FULL_DISK = 'mount -t tmpfs -o size=16k tmpfs "$0" && { cat /dev/zero >"$0"/ballast 2>/dev/null; exec "$@"; }'
"""Has a disk of its own, filled to the last page, in the place of a folder."""


def full_disk(folder: Path) -> tuple[str, ...]:
    """A command that starts a process with a full disk at this folder; skips the test where that is not allowed."""
    folder.mkdir()
    alone = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", FULL_DISK, str(folder))
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody mount a file system of their own")
    return alone


def test_a_worker_that_starts_on_a_full_disk_waits_until_it_has_space(make_place: MakePlace) -> None:
    place = make_place()
    spool = place.folder / "spool"
    worker = place.start_worker(AS_SHIPPED, before=full_disk(spool))
    until(lambda: place.other_events(0) == [WAITS], seconds=30)
    job = place.submit(train, rows=40)
    assert not workers_alive(place.settings)
    Path(f"/proc/{worker.pid}/root{spool}", BALLAST).unlink()
    until(lambda: place.look(job).state != "queued", seconds=60)
    until(lambda: place.other_events(0) == [WAITS, STARTS, "worker started"], seconds=30)


def test_a_worker_that_waits_for_space_ends_when_it_is_stopped(make_place: MakePlace) -> None:
    place = make_place()
    worker = place.start_worker(AS_SHIPPED, before=full_disk(place.folder / "spool"))
    until(lambda: place.other_events(0) == [WAITS], seconds=30)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(10) == 0
    assert place.other_events(0) == [WAITS]


def test_a_worker_whose_directory_can_not_be_used_reports_it_and_ends(make_place: MakePlace) -> None:
    place = make_place()
    (place.folder / "a file").touch()
    worker = place.start_worker(AS_SHIPPED, RELEVANCE_SPOOL_DIRECTORY=str(place.folder / "a file" / "spool"))
    assert worker.wait(30) == 1
    given = (place.folder / "worker-0.log").read_text()
    assert "RELEVANCE_SPOOL_DIRECTORY" in given
    assert "Not a directory" in given
    assert "Traceback" not in given
