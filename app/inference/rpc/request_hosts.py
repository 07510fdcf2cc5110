"""The hosts that the requests of an HTTP/2 connection name (RFC 9113).

gRPC's library does not show `:authority` to a server in Python.
"""

from collections.abc import Iterator

from hpack import Decoder, HPACKError
from hyperframe.exceptions import HyperframeError
from hyperframe.frame import ContinuationFrame, Frame, HeadersFrame

PREFACE_BYTES = 24
FRAME_HEADER_BYTES = 9
MAX_PADDING_BYTES = 1 + 255 + 5
"""The maximum number of bytes of a frame's padding and priority, which are no part of its header block."""

HOSTS = frozenset({b":authority", b"host"})
"""The fields that name a host; gRPC reads the second where the first is missing."""


class RequestHosts:
    """Reads what a client sends on one connection."""

    def __init__(self, max_block_bytes: int) -> None:
        self._max_block = max_block_bytes
        self._received = bytearray()
        self._skipped = PREFACE_BYTES
        self._block = bytearray()
        self._stream = self._last_stream = 0
        self._decoder = Decoder(max_block_bytes)

    def feed(self, data: bytes) -> Iterator[list[bytes]]:
        """Yield the hosts of each request whose header block ends in received bytes.

        Raises ValueError for what is no header block, or a larger one, encoded or decoded: the connection can't be
        read further.
        """
        self._received += data
        try:
            while (frame := self._frame()) is not None:
                if isinstance(frame, HeadersFrame):
                    self._stream, self._block = frame.stream_id, bytearray()
                self._block += frame.data
                if len(self._block) > self._max_block:
                    raise self._too_large()
                if "END_HEADERS" in frame.flags:
                    fields = self._decoder.decode(bytes(self._block), raw=True)
                    hosts = [value for name, value in fields if name in HOSTS]
                    if hosts or self._stream > self._last_stream:  # else trailers
                        yield hosts
                    self._last_stream = max(self._stream, self._last_stream)
        except (HPACKError, HyperframeError) as error:
            raise ValueError(f"Expected header blocks in frames of HTTP/2: {error}") from error

    def _frame(self) -> HeadersFrame | ContinuationFrame | None:
        """Return the next frame of a header block, once it has arrived; others are skipped and never kept."""
        while True:
            dropped = min(self._skipped, len(self._received))
            del self._received[:dropped]
            self._skipped -= dropped
            if self._skipped or len(self._received) < FRAME_HEADER_BYTES:
                return None
            frame, size = Frame.parse_frame_header(memoryview(self._received[:FRAME_HEADER_BYTES]))
            end = FRAME_HEADER_BYTES + size
            if isinstance(frame, HeadersFrame | ContinuationFrame):
                if size > self._max_block + MAX_PADDING_BYTES:
                    raise self._too_large()
                if len(self._received) < end:
                    return None
                frame.parse_body(memoryview(self._received[FRAME_HEADER_BYTES:end]))
                self._skipped = end
                return frame
            self._skipped = end

    def _too_large(self) -> ValueError:
        return ValueError(f"Expected a header block of at most {self._max_block} bytes.")
