"""The limits of the gRPC server: raw HTTP/2 frames and real channels against a real process."""

import re
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import grpc
import pytest

from app.inference.rpc.generated import open_inference_pb2 as messages
from app.inference.rpc.service import MAX_CONNECTIONS
from tests.hostile.service import Target
from tests.served import Service, served

INFER = "/inference.GRPCInferenceService/ModelInfer"
LIVE = "/inference.GRPCInferenceService/ServerLive"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS, SETTINGS, PING, CONTINUATION = 1, 4, 6, 9
ACK, END_HEADERS = 1, 4
FRAME = 16_384


@pytest.fixture(scope="module")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with served(sqlite_template, tmp_path_factory.mktemp("rpc")) as service:
        yield service


def frame(kind: int, payload: bytes, *, flags: int = 0, stream: int = 0) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def field(name: bytes, value: bytes) -> bytes:
    """A header field in HPACK: literal, never indexed, no Huffman coding."""
    return b"\x10" + integer(len(name)) + name + integer(len(value)) + value


def integer(number: int) -> bytes:
    """HPACK's integer with a prefix of seven bits (RFC 7541, 5.1)."""
    if number < 127:
        return bytes([number])
    found, number = b"\x7f", number - 127
    while number >= 128:
        found, number = found + bytes([number % 128 + 128]), number // 128
    return found + bytes([number])


def delimited(number: int, content: bytes) -> bytes:
    """A field of a message in protocol buffers that has its length before it."""
    length, size = b"", len(content)
    while size > 127:
        length, size = length + bytes([size % 128 + 128]), size // 128
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def call_headers() -> bytes:
    return b"".join(
        field(name, value)
        for name, value in (
            (b":method", b"POST"),
            (b":scheme", b"http"),
            (b":path", LIVE.encode()),
            (b":authority", b"h"),
            (b"te", b"trailers"),
            (b"content-type", b"application/grpc"),
        )
    )


def open_connection(service: Service) -> socket.socket:
    host, _, port = service.rpc.rpartition(":")
    client = socket.create_connection((host, int(port)), timeout=20)
    client.sendall(PREFACE + frame(SETTINGS, b""))
    return client


def is_alive(service: Service) -> bool:
    with grpc.insecure_channel(service.rpc) as channel:
        call = channel.unary_unary(
            LIVE,
            request_serializer=messages.ServerLiveRequest.SerializeToString,
            response_deserializer=messages.ServerLiveResponse.FromString,
        )
        response: messages.ServerLiveResponse = call(messages.ServerLiveRequest(), timeout=20, wait_for_ready=True)
        return response.live


def megabytes(service: Service) -> float:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{service.pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def flood(client: socket.socket, *, fields: bytes, total: int) -> None:
    """Send metadata of about `total` bytes in one header block; wait until the server has read it, or has closed."""
    ping, found = bytes(8), b""
    with suppress(OSError):
        client.sendall(frame(HEADERS, call_headers(), stream=1))
        block = fields * (total // len(fields))
        for at in range(0, len(block), FRAME):
            client.sendall(frame(CONTINUATION, block[at : at + FRAME], stream=1))
        client.sendall(frame(CONTINUATION, b"", flags=END_HEADERS, stream=1) + frame(PING, ping))
    with suppress(ConnectionError):
        while frame(PING, ping, flags=ACK) not in found and (piece := client.recv(65536)):
            found += piece


@pytest.mark.thorough
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(field(b"a", b"b"), id="many fields", marks=pytest.mark.thorough),
        pytest.param(field(b"x" * 50, b"y" * 8000), id="large fields"),
    ],
)
def test_what_metadata_without_end_takes_is_not_kept(service: Service, fields: bytes) -> None:
    for _ in range(3):  # what gRPC reads into, and uses again
        with open_connection(service) as client:
            flood(client, fields=fields, total=40 * 2**20)
    before, times = megabytes(service), 6
    for _ in range(times):
        with open_connection(service) as client:
            flood(client, fields=fields, total=40 * 2**20)
            assert is_alive(service)
    assert megabytes(service) - before < 40 / 2 * times  # what an allocator keeps varies by one block of metadata


def test_metadata_is_bounded_to_what_headers_are(service: Service) -> None:
    codes = []
    with grpc.insecure_channel(service.rpc) as channel:
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(LIVE)
        for size in (20_000, 40_000):
            try:
                call(b"", metadata=(("x-large", "a" * size),), timeout=20)
                codes.append("OK")
            except grpc.RpcError as error:
                codes.append(error.code().name)
    assert codes == ["OK", "RESOURCE_EXHAUSTED"]


def test_connections_are_bounded_and_everyone_else_gets_a_response(service: Service) -> None:
    with grpc.insecure_channel(service.rpc) as channel, ExitStack() as stack:
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(LIVE)
        call(b"", timeout=20)
        host, _, port = service.rpc.rpartition(":")
        for _ in range(2 * MAX_CONNECTIONS):
            with suppress(OSError):
                stack.enter_context(socket.create_connection((host, int(port)), timeout=20)).sendall(PREFACE[:10])
        descriptors = len(list(Path(f"/proc/{service.pid}/fd").iterdir()))
        assert descriptors < MAX_CONNECTIONS + 100
        call(b"", timeout=20)
    assert is_alive(service)


MESSAGES: dict[str, Callable[[], bytes]] = {
    "inputs": lambda: b"\x2a\x00" * 15_000_000,
    "outputs": lambda: b"\x32\x00" * 15_000_000,
    "raw contents": lambda: b"\x3a\x00" * 15_000_000,
    "texts": lambda: delimited(5, delimited(5, b"\x42\x00" * 15_000_000)),
    "shape": lambda: delimited(5, delimited(3, b"\x01" * 30_000_000)),
    "typed numbers": lambda: delimited(
        5, delimited(2, b"INT32") + delimited(3, b"\x01") + delimited(5, delimited(2, b"\x01" * 30_000_000))
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize(("authorized", "seconds"), [(True, 3.0), (False, 0.5)], ids=["with the key", "without it"])
def test_a_message_of_millions_of_fields_is_refused(
    service: Service, name: str, authorized: bool, seconds: float
) -> None:
    target = Target.of(service)
    metadata = (("authorization", f"Bearer {service.key}"),) if authorized else ()
    with grpc.insecure_channel(service.rpc) as channel:
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(INFER)
        message = delimited(1, b"numbers") + MESSAGES[name]()
        began = target.cpu()
        with pytest.raises(grpc.RpcError) as refused:
            call(message, metadata=metadata, timeout=100)
    assert target.cpu() - began < seconds
    refusals = {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert refused.value.code() in (refusals if authorized else {grpc.StatusCode.UNAUTHENTICATED})


def test_what_is_no_message_is_refused(service: Service) -> None:
    with grpc.insecure_channel(service.rpc) as channel:
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(INFER)
        with pytest.raises(grpc.RpcError) as refused:
            call(b"\xff" * 10, metadata=(("authorization", f"Bearer {service.key}"),), timeout=20)
    assert (refused.value.code(), refused.value.details()) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "The message can't be parsed.",
    )
