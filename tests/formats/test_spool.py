import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

from app.errors import StorageFullError
from app.formats.spool import SpoolFile, spooled, write_whole


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
        with Path("/dev/full").open("wb", buffering=0) as full:
            file = SpoolFile(full, 10)
            await file.write(b"row")
            await file.flush()

    with pytest.raises(StorageFullError, match="The disk of the spool directory"):
        anyio.run(write)


def test_a_pipe_that_takes_few_bytes_at_once_gets_all() -> None:
    """As a file without a buffer does whose disk is nearly full."""
    content = bytes(range(256)) * 4_096
    end, beginning = os.pipe()
    with ThreadPoolExecutor(1) as pool, os.fdopen(end, "rb") as reader:
        read = pool.submit(reader.read)
        with os.fdopen(beginning, "wb", buffering=0) as writer:
            write_whole(writer, content)
        assert read.result(30) == content


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
