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
    stream = EventStream()
    return (message for chunk in chunks for _, message in stream.receive(chunk) if message is not None)


class EventStream:
    """A stream whose chunks are received one by one, of any size."""

    def __init__(self) -> None:
        self._last_id, self._event = "", ""
        self._data: list[str] = []
        self._begun = b""
        self._after_return = False

    def receive(self, chunk: bytes) -> Iterator[tuple[str, Message | None]]:
        """Yield the last id after each block of lines that ends, with the block's message; None without data."""
        for line in self._lines(chunk):
            if not line:
                data = "\n".join(self._data)
                yield self._last_id, Message(self._last_id, self._event or "message", data) if self._data else None
                self._event, self._data = "", []
                continue
            name, _, value = line.partition(":")  # a comment has an empty name
            value = value.removeprefix(" ")
            match name:
                case "data":
                    self._data.append(value)
                case "event":
                    self._event = value
                case "id" if "\0" not in value:
                    self._last_id = value

    def _lines(self, chunk: bytes) -> Iterator[str]:
        """Yield complete lines, by the three terminators of the standard; `splitlines` of a text knows more."""
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the second half of a terminator across two chunks
        if not chunk:
            return
        self._after_return = chunk.endswith(b"\r")
        *whole, begun = (self._begun + chunk + b".").splitlines()
        self._begun = begun[:-1]
        for line in whole:
            yield line.decode("utf-8", errors="replace")
