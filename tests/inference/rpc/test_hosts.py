"""The hosts of calls over gRPC to a service without keys."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import grpc
import pytest

from app.accounts.authenticator import KeyAuthenticator
from app.addresses import Allowance
from app.errors import MisdirectedError
from app.http.hosts import Hosts
from app.inference.rpc.generated import open_inference_pb2 as messages
from app.inference.rpc.relay import Relay
from app.inference.rpc.request_hosts import CODES, RequestHosts
from app.inference.rpc.server import RpcRules
from tests.applications import SmallParts
from tests.inference.rpc.test_calls import RULES, Client, connected
from tests.inference.rpc.test_limits import END_HEADERS, HEADERS, PREFACE, SETTINGS, frame
from tests.inference.rpc.test_projects import Metadata, calls, key

CONTINUATION, DATA = 9, 0
PADDED_AND_PRIORITY = 0x28

PLAIN = (
    "828684410f7777772e6578616d706c652e636f6d",
    "828684be58086e6f2d6361636865",
    "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
)
CODED = (
    "828684418cf1e3c2e5f23a6ba0ab90f4ff",
    "828684be5886a8eb10649cbf",
    "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
)
"""The header blocks of three requests to www.example.com (RFC 7541, appendices C.3 and C.4)."""


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


def test_a_connection_that_does_not_come_through_the_port_is_refused() -> None:
    with pytest.raises(MisdirectedError, match="through the service's port"):
        Relay(Hosts(), max_block_bytes=1, max_connections=1).check("ipv4:127.0.0.1:1")


def block_frames(blocks: Sequence[str]) -> bytes:
    found = PREFACE + frame(SETTINGS, b"")
    for number, block in enumerate(blocks):
        found += frame(HEADERS, bytes.fromhex(block), flags=END_HEADERS, stream=2 * number + 1)
        found += frame(DATA, b"\1\4" * 50, stream=2 * number + 1)
    return found


def hosts_of(sent: bytes, *, step: int = 10**6, max_block_bytes: int = 1_000) -> list[list[bytes]]:
    reader = RequestHosts(max_block_bytes)
    return [found for at in range(0, len(sent), step) for found in reader.feed(sent[at : at + step])]


@pytest.mark.parametrize("step", [10**6, 1, 7])
@pytest.mark.parametrize("blocks", [PLAIN, CODED], ids=["plain", "coded"])
def test_header_blocks_are_read_as_those_of_the_rfc(blocks: Sequence[str], step: int) -> None:
    assert hosts_of(block_frames(blocks), step=step) == [[b"www.example.com"]] * 3


def test_a_block_may_have_padding_a_priority_and_a_continuation_and_trailers_are_none() -> None:
    first, rest = bytes.fromhex(CODED[0])[:5], bytes.fromhex(CODED[0])[5:]
    padded = b"\3" + bytes(5) + first + bytes(3)
    sent = PREFACE + frame(HEADERS, padded, flags=PADDED_AND_PRIORITY, stream=1)
    sent += frame(CONTINUATION, rest, flags=END_HEADERS, stream=1)
    sent += frame(HEADERS, b"\0\1a\1b", flags=END_HEADERS, stream=1)
    sent += frame(HEADERS, bytes.fromhex("be"), flags=END_HEADERS, stream=3)
    assert hosts_of(sent) == [[b"www.example.com"], [b"www.example.com"]]


def test_the_table_is_as_large_as_the_client_sets_it() -> None:
    entry = b"\x41\x01h"  # of 32 + 10 + 1 bytes
    sizes = {43: [[b"h"], [b"h"]], 42: None}
    for size, expected in sizes.items():
        sent = PREFACE + frame(HEADERS, b"\x3f" + bytes([size - 31]) + entry, flags=END_HEADERS, stream=1)
        sent += frame(HEADERS, b"\xbe", flags=END_HEADERS, stream=3)
        if expected is None:
            with pytest.raises(ValueError, match="no field 62"):
                hosts_of(sent)
        else:
            assert hosts_of(sent) == expected


@pytest.mark.parametrize(
    "block",
    [
        b"\x80",
        b"\xff\xff\xff\xff\xff\xff\xff",
        b"\xc0",
        b"\x41",
        b"\x41\x05a",
        b"\x3f\xff\x7f",
        b"\0",
        b"\0" * 1_001,
        b"\x41\x84" + b"\xff" * 4,
    ],
)
def test_what_is_no_header_block_ends_the_connection(block: bytes) -> None:
    with pytest.raises(ValueError, match=r"Expected|no field"):
        hosts_of(PREFACE + frame(HEADERS, block, flags=END_HEADERS, stream=1))


def test_the_code_is_complete() -> None:
    end_of_string = 2.0**-30
    assert len(CODES) == 256
    assert sum(2.0 ** (1 - code.bit_length()) for code in CODES) + end_of_string == 1.0
