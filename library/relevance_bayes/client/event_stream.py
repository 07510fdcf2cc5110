"""A parser of `text/event-stream` by HTML's standard (section 9.2.6, interpreting an event stream)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """A message of a stream; `id` is the last one received, empty without any."""

    id: str
    event: str
    data: str


def messages(chunks: Iterable[bytes]) -> Iterator[Message]:
    """Yield the messages of a stream from chunks of any size, without a truncated last one."""
    return (message for _, message in blocks(chunks) if message is not None)


def blocks(chunks: Iterable[bytes]) -> Iterator[tuple[str, Message | None]]:
    """Yield the last id after each block of lines, with the block's message; None where it has no data."""
    last_id, event = "", ""
    data: list[str] = []
    for line in _lines(chunks):
        if not line:
            yield last_id, Message(last_id, event or "message", "\n".join(data)) if data else None
            event, data = "", []
            continue
        name, _, value = line.partition(":")  # a comment has an empty name
        value = value.removeprefix(" ")
        match name:
            case "data":
                data.append(value)
            case "event":
                event = value
            case "id" if "\0" not in value:
                last_id = value


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield complete lines, by the three terminators of the standard; `splitlines` knows many more, which are data."""
    begun = b""
    after_return = False
    for chunk in chunks:
        if after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the second half of a terminator across two chunks
        if not chunk:
            continue
        after_return = chunk.endswith(b"\r")
        *whole, begun = (begun + chunk + b".").splitlines()
        begun = begun[:-1]
        for line in whole:
            yield line.decode("utf-8", errors="replace")
