"""The hosts of calls over gRPC to a service without keys."""

import asyncio
import logging
import socket
import struct
from asyncio.trsock import TransportSocket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import replace

import grpc
import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from app.accounts.authenticator import KeyAuthenticator
from app.addresses import Allowance
from app.errors import MisdirectedError
from app.http.origins import Hosts
from app.inference.rpc.generated import open_inference_pb2 as messages
from app.inference.rpc.relay import LOOPBACK, Relay, RequestHosts
from app.inference.rpc.service import RpcRules
from app.logs import configure_logging
from tests.applications import SmallParts
from tests.inference.rpc.test_calls import RULES, Client, connected
from tests.inference.rpc.test_limits import END_HEADERS, HEADERS, PREFACE, SETTINGS, frame
from tests.inference.rpc.test_projects import Metadata, calls, key

Respond = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

CONTINUATION, DATA = 9, 0
PADDED, PADDED_AND_PRIORITY = 0x8, 0x28

BLOCKS = (
    "828684418cf1e3c2e5f23a6ba0ab90f4ff",
    "828684be5886a8eb10649cbf",
    "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
)
"""The header blocks of three requests to www.example.com (RFC 7541, appendix C.4)."""


async def outcomes(client: Client, metadata: Metadata = ()) -> list[tuple[str, str]]:
    found = []
    for call in calls(metadata).values():
        try:
            found.append(("OK", await call(client)))
        except grpc.aio.AioRpcError as refused:
            found.append((refused.code().name, refused.details() or ""))
    return found


def called(parts: SmallParts, rules: RpcRules, authority: str | None, metadata: Metadata = ()) -> list[tuple[str, str]]:
    async def all_of_it() -> list[tuple[str, str]]:
        async with connected(parts, rules, authority=authority) as client:
            live = await client.send("ServerLive", messages.ServerLiveRequest(), messages.ServerLiveResponse, ())
            assert live.live
            return await outcomes(client, metadata)

    return asyncio.run(all_of_it())


@pytest.mark.parametrize(
    "authority", ["evil.example", "evil.example:8001", "localhost.evil.example", "10.0.0.5:8001", "[::2]:1"]
)
def test_a_service_without_keys_refuses_calls_for_foreign_hosts(parts: SmallParts, authority: str) -> None:
    for code, detail in called(parts, RULES, authority):
        assert code == "PERMISSION_DENIED"
        assert f"'{authority}'" in detail
        assert "RELEVANCE_ALLOWED_HOSTS" in detail


@pytest.mark.parametrize(
    "authority", [None, "localhost", "LocalHost:8001", "a.localhost:1", "127.8.9.10", "[::1]:8001"]
)
def test_a_service_without_keys_responds_for_the_hosts_of_this_machine(
    parts: SmallParts, authority: str | None
) -> None:
    assert called(parts, RULES, authority) == [("OK", "small")] * 2


def test_hosts_of_the_settings_are_served(parts: SmallParts) -> None:
    rules = replace(RULES, hosts=Hosts(Allowance.of("models.example")))
    assert called(parts, rules, "models.example:8001") == [("OK", "small")] * 2
    assert [code for code, _ in called(parts, rules, "a.models.example")] == ["PERMISSION_DENIED"] * 2


def test_a_host_or_a_page_that_a_proxy_forwards_is_checked(parts: SmallParts) -> None:
    for metadata, status in (
        ((("host", "evil.example"),), "PERMISSION_DENIED"),
        ((("origin", "https://evil.example"),), "PERMISSION_DENIED"),
        ((("host", "localhost:8001"),), "OK"),
    ):
        assert [code for code, _ in called(parts, RULES, None, metadata)] == [status] * 2


def test_a_service_that_needs_keys_is_served_under_every_host(parts: SmallParts) -> None:
    rules = replace(RULES, authenticator=KeyAuthenticator(parts.transaction, needs_keys=True))
    metadata = [key(parts, "admin", owner="local"), ("host", "models.example")]
    assert called(parts, rules, "models.example", metadata) == [("OK", "small")] * 2


def test_the_first_key_ends_the_check(parts: SmallParts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.accounts.authenticator.REFRESH_SECONDS", 0.0)
    monkeypatch.setattr("app.accounts.authenticator.MIN_REFRESH_SECONDS", 0.0)
    rules = replace(RULES, authenticator=KeyAuthenticator(parts.transaction))

    async def before_and_after() -> None:
        async with connected(parts, rules, authority="models.example") as client:
            assert [code for code, _ in await outcomes(client)] == ["PERMISSION_DENIED"] * 2
            secret = await asyncio.to_thread(key, parts, "admin", owner="local")
            assert await outcomes(client, [secret]) == [("OK", "small")] * 2

    asyncio.run(before_and_after())


def small_relay(*, max_stalled_seconds: float = 60.0) -> Relay:
    return Relay(Hosts(), max_block_bytes=1, max_connections=2, max_stalled_seconds=max_stalled_seconds)


@asynccontextmanager
async def relayed(respond: Respond, relay: Relay) -> AsyncIterator[int]:
    """Yield the port of a relay before a server, for at most a minute: what hangs fails."""
    async with asyncio.timeout(60), await asyncio.start_server(respond, LOOPBACK, 0) as server:
        try:
            yield await relay.listen(LOOPBACK, 0, to=server.sockets[0].getsockname()[1])
        finally:
            await relay.close()


def reset_when_closed(connection: socket.socket | TransportSocket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_a_connection_that_does_not_come_through_the_port_is_refused() -> None:
    with pytest.raises(MisdirectedError, match="through the service's port"):
        small_relay().check("ipv4:127.0.0.1:1")


def test_connections_beyond_the_maximum_are_closed() -> None:
    async def responses() -> list[bytes]:
        received = []
        async with AsyncExitStack() as opened:

            async def respond(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                opened.callback(writer.close)
                writer.write(b"served")

            port = await opened.enter_async_context(relayed(respond, small_relay()))
            for _ in range(3):
                reader, writer = await asyncio.open_connection(LOOPBACK, port)
                opened.callback(writer.close)
                with suppress(ConnectionResetError):
                    received.append(await reader.read(6))
        return [response for response in received if response]

    assert uvloop.run(responses()) == [b"served"] * 2


def test_a_reset_by_the_server_closes_the_connection_of_an_idle_client() -> None:
    async def respond(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reset_when_closed(writer.get_extra_info("socket"))
        writer.transport.abort()

    async def received() -> bytes:
        async with relayed(respond, small_relay()) as port:
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
            with closing(writer):
                return await reader.read()

    assert uvloop.run(received()) == b""


def test_a_client_that_does_not_read_is_disconnected() -> None:
    async def all_of_it() -> None:
        is_disconnected = asyncio.Event()

        async def respond(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                while not writer.is_closing():
                    writer.write(bytes(65_536))
                    await writer.drain()
            is_disconnected.set()

        async with relayed(respond, small_relay(max_stalled_seconds=0.1)) as port:
            with socket.create_connection((LOOPBACK, port)):
                await is_disconnected.wait()

    uvloop.run(all_of_it())


def test_a_client_that_has_reset_its_connection_is_not_relayed() -> None:
    async def n_relayed() -> int:
        served = []

        async def respond(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            served.append(writer)
            writer.write(b"served")
            writer.close()

        async with relayed(respond, small_relay()) as port:
            with socket.create_connection((LOOPBACK, port)) as client:
                reset_when_closed(client)
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
            with closing(writer):
                assert await reader.read() == b"served"
        return len(served)

    assert uvloop.run(n_relayed()) == 1


def headers(block: bytes, *, flags: int = END_HEADERS, stream: int = 1) -> bytes:
    return frame(HEADERS, block, flags=flags, stream=stream)


def hosts_of(sent: bytes, *, step: int = 10**6) -> list[list[bytes]]:
    reader, sent = RequestHosts(1_000), PREFACE + frame(SETTINGS, b"") + sent
    return [found for at in range(0, len(sent), step) for found in reader.feed(sent[at : at + step])]


@pytest.mark.parametrize("step", [10**6, 1, 7])
def test_each_request_names_its_hosts(step: int) -> None:
    sent = b""
    for stream, block in zip((1, 3, 5), BLOCKS, strict=True):
        sent += headers(bytes.fromhex(block), stream=stream) + frame(DATA, b"\1\4" * 50, stream=stream)
    assert hosts_of(sent, step=step) == [[b"www.example.com"]] * 3


def test_a_block_may_have_padding_a_priority_and_a_continuation_and_trailers_are_none() -> None:
    first, rest = bytes.fromhex(BLOCKS[0])[:5], bytes.fromhex(BLOCKS[0])[5:]
    sent = headers(b"\3" + bytes(5) + first + bytes(3), flags=PADDED_AND_PRIORITY)
    sent += frame(CONTINUATION, rest, flags=END_HEADERS, stream=1)
    sent += headers(b"\0\1a\1b")
    sent += headers(b"\xbe", stream=3)
    assert hosts_of(sent) == [[b"www.example.com"], [b"www.example.com"]]


@pytest.mark.parametrize("earlier", [1, 2, 5])
def test_a_block_that_names_a_host_is_of_a_request_whatever_its_stream(earlier: int) -> None:
    sent = headers(b"\x41\x01a", stream=earlier) + headers(b"\x41\x01b", stream=1)
    assert hosts_of(sent) == [[b"a"], [b"b"]]


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(headers(b"\x80"), id="no field"),
        pytest.param(headers(b"\x41\x05a"), id="end of a text"),
        pytest.param(headers(b"\x3f\xff\x7f"), id="large table"),
        pytest.param(headers(b"\x41\x01h" + b"\xbe" * 23), id="1,032 bytes decoded"),
        pytest.param(headers(b"\x20" * 1_001), id="1,001 bytes"),
        pytest.param(headers(b"", flags=0) + frame(CONTINUATION, b"\x20", stream=1) * 1_001, id="continuations"),
        pytest.param(headers(bytes(2_000))[:9], id="frame of 2,000 bytes"),
        pytest.param(headers(b"\x82", stream=0), id="no stream"),
        pytest.param(headers(b"\5\x82", flags=PADDED), id="padding"),
    ],
)
def test_what_is_no_header_block_or_a_large_one_ends_the_connection(sent: bytes) -> None:
    with pytest.raises(ValueError, match="Expected"):
        hosts_of(sent)


def test_blocks_are_as_large_as_is_allowed() -> None:
    assert hosts_of(headers(b"\x41\x01h" + b"\xbe" * 22)) == [[b"h"] * 23]
    assert hosts_of(headers(b"\x20" * 1_000)) == [[]]


@given(st.lists(st.tuples(st.sampled_from((0, 4, 8, 0x20, 0x2C)), st.binary(max_size=40)), max_size=4))
def test_nothing_else_is_raised_for_what_is_no_header_block(blocks: list[tuple[int, bytes]]) -> None:
    with suppress(ValueError):
        hosts_of(b"".join(headers(block, flags=flags) for flags, block in blocks))


def test_fields_are_not_logged(capfd: pytest.CaptureFixture[str], logging_as_it_was: None) -> None:
    configure_logging("debug")
    logging.getLogger("app.somewhere").debug("logged")
    assert hosts_of(headers(b"\x41\x01h\x40\x0dauthorization\x06secret")) == [[b"h"]]
    logged = capfd.readouterr().err
    assert "logged" in logged
    assert "secret" not in logged
