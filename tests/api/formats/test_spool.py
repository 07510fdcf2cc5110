from pathlib import Path

import anyio

from app.api.formats.spool import spooled


def test_a_directory_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    async def write() -> bytes:
        async with spooled(tmp_path / "not" / "there", most_bytes=10) as file:
            await file.write(b"row")
            await file.flush()
            return file.read()

    assert anyio.run(write) == b"row"
    assert list((tmp_path / "not" / "there").iterdir()) == []
