"""Reading `text/event-stream` as HTML's standard has it (section 9.2.6, interpreting an event stream)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """One message of a stream: its `id` is the last that was sent, empty where none was."""

    id: str
    event: str
    data: str


def messages(chunks: Iterable[bytes]) -> Iterator[Message]:
    """The messages of a stream, however its bytes come in pieces; one that was cut off is none."""
    last_id, event = "", ""
    data: list[str] = []
    for line in _lines(chunks):
        if not line:
            if data:
                yield Message(last_id, event or "message", "\n".join(data))
            event, data = "", []
            continue
        name, _, value = line.partition(":")  # a comment is a field without a name
        value = value.removeprefix(" ")
        match name:
            case "data":
                data.append(value)
            case "event":
                event = value
            case "id" if "\0" not in value:
                last_id = value


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Lines that have ended, with any of the three ends: text's own `splitlines` knows many more, which are data."""
    begun = b""
    after_return = False
    for chunk in chunks:
        if after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the other half of an end that was in two pieces
        if not chunk:
            continue
        after_return = chunk.endswith(b"\r")
        *whole, begun = (begun + chunk + b".").splitlines()
        begun = begun[:-1]
        for line in whole:
            yield line.decode("utf-8", errors="replace")
