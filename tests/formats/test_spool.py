import sys
from pathlib import Path

import anyio
import pytest

from app.errors import UnavailableError
from app.formats.spool import SpoolFile, spooled


def test_a_directory_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    async def write() -> bytes:
        async with spooled(tmp_path / "not" / "there", max_bytes=10) as file:
            await file.write(b"row")
            await file.flush()
            return file.read()

    assert anyio.run(write) == b"row"
    assert list((tmp_path / "not" / "there").iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /dev/full")
def test_a_full_disk_is_reported_as_no_space_for_now() -> None:
    async def write() -> None:
        with Path("/dev/full").open("wb") as full:
            file = SpoolFile(full, 10)
            await file.write(b"row")
            try:
                await file.flush()
            finally:
                full.raw.close()

    with pytest.raises(UnavailableError, match="no space for the body"):
        anyio.run(write)


def test_a_reader_outlives_the_file_and_never_reads_another(tmp_path: Path) -> None:
    """A client leaves: its request ends, and the thread that reads its body goes on for a while."""
    content = bytes(range(256)) * 8_192

    async def read_afterwards() -> bytes:
        async with spooled(tmp_path, max_bytes=len(content)) as file:
            await file.write(content)
            await file.flush()
            reader = file.reader()
            begin = reader.read(100)
        (tmp_path / "other").write_bytes(b"x" * len(content))
        with (tmp_path / "other").open("rb"), reader:  # it may get the descriptor that the first one had
            return begin + reader.read()

    assert anyio.run(read_afterwards) == content
