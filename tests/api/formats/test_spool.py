import sys
from pathlib import Path

import anyio
import pytest

from app.api.formats.spool import SpoolFile, spooled
from app.domain.errors import UnavailableError


def test_a_directory_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    async def write() -> bytes:
        async with spooled(tmp_path / "not" / "there", most_bytes=10) as file:
            await file.write(b"row")
            await file.flush()
            return file.read()

    assert anyio.run(write) == b"row"
    assert list((tmp_path / "not" / "there").iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /dev/full")
def test_a_full_disk_is_told_as_no_room_for_now() -> None:
    async def write() -> None:
        with Path("/dev/full").open("wb") as full:
            file = SpoolFile(full, 10)
            await file.write(b"row")
            try:
                await file.flush()
            finally:
                full.raw.close()

    with pytest.raises(UnavailableError, match="no room for the body"):
        anyio.run(write)
