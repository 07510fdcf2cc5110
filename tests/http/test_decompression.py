"""Bodies with a Content-Encoding: any number of pieces, members and frames, at a cost linear in their size."""

import gzip
import random
import struct
import sys
import time
import zlib
from collections.abc import Callable

import pytest

from app.errors import MalformedBodyError
from app.http.decompression import BYTES_PER_MEMBER, FREE_MEMBERS, Decompressor, expanded

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_BYTES = 2**26
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, 1),
    "deflate": lambda data: zlib.compress(data, 1),
    "zstd": zstd.compress,
}
SKIPPABLE = struct.pack("<II", 0x184D2A50, 4) + b"skip"


def cpu_seconds(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def refused_in(body: bytes, encoding: str) -> tuple[str, float]:
    """The error of a body that has too many members, and the CPU seconds until then."""
    began = time.process_time()
    with pytest.raises(MalformedBodyError) as error:
        expanded(body, encoding, MAX_BYTES)
    return error.value.detail, time.process_time() - began


@pytest.mark.parametrize(
    ("encoding", "member", "count"),
    [("zstd", zstd.compress(b""), 100_000), ("gzip", gzip.compress(b""), 500_000), ("zstd", SKIPPABLE, 100_000)],
    ids=["frames of zstd", "members of gzip", "skippable frames"],
)
def test_empty_members_and_frames_are_bounded(encoding: str, member: bytes, count: int) -> None:
    detail, seconds = refused_in(member * count, encoding)
    assert detail.startswith(
        f"The body has too many {encoding} members: at most 1,000, and one for each 8,192 decompressed bytes"
    )
    assert seconds < 0.5


def test_empty_frames_are_bounded_over_all_pieces_of_an_upload() -> None:
    decompressor = Decompressor("zstd", MAX_BYTES)
    piece = zstd.compress(b"") * 100
    assert [[*decompressor.feed(piece)] for _ in range(10)] == [[]] * 10
    with pytest.raises(MalformedBodyError):
        [*decompressor.feed(piece)]


@pytest.mark.parametrize("encoding", PACK)
def test_so_many_members_as_are_allowed_are_read(encoding: str) -> None:
    body = PACK[encoding](b"row\n") * FREE_MEMBERS
    assert expanded(body, encoding, MAX_BYTES) == b"row\n" * FREE_MEMBERS


@pytest.mark.parametrize("encoding", PACK)
def test_blocks_that_hold_enough_may_be_many_more(encoding: str) -> None:
    block = b"x" * BYTES_PER_MEMBER
    body = PACK[encoding](block) * (3 * FREE_MEMBERS)
    assert expanded(body, encoding, MAX_BYTES) == block * (3 * FREE_MEMBERS)


def test_a_skippable_frame_states_nothing() -> None:
    body = SKIPPABLE + zstd.compress(b"one") + SKIPPABLE + zstd.compress(b"two") + SKIPPABLE
    assert expanded(body, "zstd", MAX_BYTES) == b"onetwo"


@pytest.mark.parametrize("encoding", PACK)
def test_pieces_may_end_anywhere(encoding: str) -> None:
    data = random.Random(1).randbytes(70_000)
    body = PACK[encoding](data) + PACK[encoding](data[:100])
    for size in (1, 2, 1_000, 16_384, 16_385, 65_536):
        decompressor = Decompressor(encoding, MAX_BYTES)
        got = b"".join(
            piece for start in range(0, len(body), size) for piece in decompressor.feed(body[start : start + size])
        )
        decompressor.finish()
        assert got == data + data[:100]


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", PACK)
def test_a_body_that_hardly_shrinks_costs_linear_time(encoding: str) -> None:
    data = random.Random(2).randbytes(2**25)
    small, large = PACK[encoding](data[: 2**23]), PACK[encoding](data)
    smallest = cpu_seconds(lambda: expanded(small, encoding, MAX_BYTES))
    assert cpu_seconds(lambda: expanded(large, encoding, MAX_BYTES)) < max(8 * smallest, 0.5)


def test_a_window_beyond_8_mib_is_refused() -> None:
    options = {int(zstd.CompressionParameter.window_log): 24, int(zstd.CompressionParameter.content_size_flag): 0}
    compressor = zstd.ZstdCompressor(options=options)
    body = compressor.compress(b"x" * 2**25) + compressor.flush()
    with pytest.raises(MalformedBodyError):
        expanded(body, "zstd", MAX_BYTES)
