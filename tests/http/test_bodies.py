"""Request bodies: small ones of JSON, and large ones in bounded memory."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from starlette.types import Message

from app.errors import MalformedBodyError, TooLargeError, UnavailableError
from app.http.bodies import PIECE_BYTES, LargeBodies, LargeBody, checked
from relevance_bayes.records.errors import InvalidRequestError


@pytest.mark.parametrize(
    ("n_wrong", "more"), [(1, ""), (2, " (and 1 more)"), (999, " (and 998 more)"), (1_500, " (and 1,499 more)")]
)
def test_the_summary_counts_all_errors(n_wrong: int, more: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        checked(TypeAdapter(list[int]), ["a"] * n_wrong)
    assert refused.value.detail == f'At /0: Should be a valid integer, got "a"{more}.'


MESSAGE_BYTES = PIECE_BYTES // 8
LONG = [bytes([number]) * MESSAGE_BYTES for number in range(40)]
LONG_BYTES = len(LONG) * MESSAGE_BYTES


def sending(parts: Sequence[bytes], then: Message | Exception | None = None) -> Callable[[], Awaitable[Message]]:
    """A client that sends these parts of a body, and `then` something else before the last."""
    messages: list[Message | Exception] = [
        {"type": "http.request", "body": part, "more_body": place < len(parts) - 1} for place, part in enumerate(parts)
    ]
    if then is not None:
        messages[-1] = then
    coming = iter(messages)

    async def receive() -> Message:
        await asyncio.sleep(0.0)  # others send meanwhile
        message = next(coming)
        if isinstance(message, Exception):
            raise message
        return message

    return receive


def test_a_short_body_is_bytes_whether_it_comes_in_one_part_or_in_several(tmp_path: Path) -> None:
    bodies = LargeBodies(tmp_path)
    assert asyncio.run(bodies.receive(sending([b"all"]))) == b"all"
    assert asyncio.run(bodies.receive(sending([b"a", b"l", b"", b"l"]))) == b"all"
    assert bodies.bytes_in_memory == 0


def test_a_long_body_alone_is_not_written(tmp_path: Path) -> None:
    bodies = LargeBodies(tmp_path / "never made", max_bytes_in_memory=LONG_BYTES)
    body = asyncio.run(bodies.receive(sending(LONG)))
    assert isinstance(body, LargeBody)
    assert bodies.bytes_in_memory == LONG_BYTES
    assert body.read() == b"".join(LONG)
    assert bodies.bytes_in_memory == 0
    assert not bodies.directory or not bodies.directory.exists()


def test_many_long_bodies_take_no_more_memory_than_they_may(tmp_path: Path) -> None:
    n_bodies, max_bytes = 12, 4 * PIECE_BYTES
    bodies = LargeBodies(tmp_path / "spool", max_bytes_in_memory=max_bytes)
    peak = 0

    async def receive_all() -> list[bytes | LargeBody]:
        nonlocal peak
        receiving = [asyncio.ensure_future(bodies.receive(sending([bytes([n]), *LONG]))) for n in range(n_bodies)]
        while not all(one.done() for one in receiving):
            peak = max(peak, bodies.bytes_in_memory)
            await asyncio.sleep(0.0)
        return [one.result() for one in receiving]

    found = asyncio.run(receive_all())
    # Each may have less than a piece in memory, and what comes with the message that makes it one.
    assert peak <= max_bytes + n_bodies * (PIECE_BYTES + MESSAGE_BYTES) < n_bodies * LONG_BYTES / 3
    assert bodies.bytes_in_memory <= max_bytes
    for number, body in enumerate(found):
        assert isinstance(body, LargeBody)
        assert body.read() == bytes([number]) + b"".join(LONG)
    assert bodies.bytes_in_memory == 0
    assert [*(tmp_path / "spool").iterdir()] == []  # files without names


@pytest.mark.parametrize("max_bytes_in_memory", [0, 2 * LONG_BYTES])
@pytest.mark.parametrize(
    ("then", "raised"),
    [
        ({"type": "http.disconnect"}, MalformedBodyError),
        (TooLargeError("The body is larger than may be."), TooLargeError),
    ],
)
def test_a_body_that_does_not_come_whole_is_given_up(
    tmp_path: Path, max_bytes_in_memory: int, then: Message | Exception, raised: type[Exception]
) -> None:
    bodies = LargeBodies(tmp_path, max_bytes_in_memory)
    with pytest.raises(raised):
        asyncio.run(bodies.receive(sending(LONG, then)))
    assert bodies.bytes_in_memory == 0


def test_a_body_that_can_not_be_written_is_refused_for_now(tmp_path: Path) -> None:
    no_directory = tmp_path / "file"
    no_directory.write_bytes(b"")
    bodies = LargeBodies(no_directory, max_bytes_in_memory=0)
    with pytest.raises(UnavailableError, match="can't be written: File exists"):
        asyncio.run(bodies.receive(sending(LONG)))
    assert bodies.bytes_in_memory == 0


def test_a_body_that_nobody_reads_is_given_up_once(tmp_path: Path) -> None:
    bodies = LargeBodies(tmp_path, max_bytes_in_memory=PIECE_BYTES)
    for _ in range(2):
        body = asyncio.run(bodies.receive(sending(LONG)))
        assert isinstance(body, LargeBody)
        body.close()
        body.close()
        assert bodies.bytes_in_memory == 0
