from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.addresses import Allowance, Target, is_public, read_target
from relevance_bayes.records.errors import InvalidRequestError

INSIDE = (
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.9",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
)
OUTSIDE = ("1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "223.255.255.254")
OUTSIDE_6 = ("2606:4700::1111", "2a00:1450:4001::8a", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8")


@pytest.mark.parametrize("address", INSIDE)
def test_what_is_not_of_the_internet_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", [*OUTSIDE, *OUTSIDE_6])
def test_what_is_of_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_nothing_is_public_that_the_standard_library_knows_to_be_special(address: IPv4Address | IPv6Address) -> None:
    if is_public(address):
        embedded = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        known = embedded or address
        assert known.is_global
        assert not known.is_multicast
        assert not known.is_private


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://hooks.example", Target("https", "hooks.example", 443, "/")),
        ("https://Hooks.Example:8443/a/b?c=d%20e", Target("https", "hooks.example", 8443, "/a/b?c=d%20e")),
        ("http://10.1.2.3/?x", Target("http", "10.1.2.3", 80, "/?x")),
        ("https://[2606:4700::1111]:444/x", Target("https", "2606:4700::1111", 444, "/x")),
        ("https://a_b.example./x", Target("https", "a_b.example.", 443, "/x")),
    ],
)
def test_a_url_is_read_in_its_parts(url: str, target: Target) -> None:
    assert read_target(url) == target


def test_hosts_are_named_to_their_servers_as_they_are_in_urls() -> None:
    assert Target("https", "hooks.example", 443, "/").authority == "hooks.example"
    assert Target("https", "2606:4700::1111", 80, "/").authority == "[2606:4700::1111]:80"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hooks.example",
        "ftp://hooks.example/",
        "file:///etc/passwd",
        "https:///nowhere",
        "https://ada@hooks.example/",
        "https://ada:secret@hooks.example/",
        "https://hooks.example/#there",
        "https://hooks.example/#",
        "https://hooks.example/a b",
        "https://hooks.example/\r\nHost: other",
        "https://hooks.exämple/",
        "https://hooks.example:0/",
        "https://hooks.example:65536/",
        "https://hooks.example:port/",
        "https://2130706433/",
        "https://127.1/",
        "https://0x7f.0.0.1/",
        "https://0177.0.0.1/",
        "https://hooks.example\\@10.0.0.1/",
        "https://[fe80::1%25eth0]/",
        "https://[::1/",
        "https://-hooks.example/",
        "https://" + "a" * 64 + ".example/",
        "https://hooks.example/" + "a" * 2000,
    ],
)
def test_what_is_no_plain_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        Allowance.of("0.0.0.0/0, ::/0, hooks.example").checked(url)
    assert [fault.pointer for fault in refused.value.faults] == ["/url"]


@pytest.mark.parametrize("url", ["https://hooks.example/", "https://8.8.8.8/", "https://[2606:4700::1111]/"])
def test_https_to_the_internet_is_allowed_to_everybody(url: str) -> None:
    Allowance().checked(url)


@pytest.mark.parametrize(
    ("url", "allowing"),
    [
        ("http://hooks.example/", "hooks.example"),
        ("http://8.8.8.8/", "8.8.8.8"),
        ("https://127.0.0.1/", "127.0.0.0/8"),
        ("https://[::1]:8000/", "::1"),
        ("https://localhost/", "localhost"),
        ("http://here.localhost/", "here.localhost"),
        ("http://within.corp/", "10.0.0.0/8"),  # where that leads is seen when it is delivered
    ],
)
def test_anything_else_is_allowed_by_the_operator(url: str, allowing: str) -> None:
    with pytest.raises(InvalidRequestError):
        Allowance().checked(url)
    with pytest.raises(InvalidRequestError):
        Allowance.of("other.example").checked(url)
    Allowance.of(f"other.example, {allowing}").checked(url)


def test_a_name_is_admitted_wherever_it_leads_and_a_network_by_any_name() -> None:
    inside, outside = ip_address("10.1.2.3"), ip_address("8.8.8.8")
    secret, open_to_all = read_target("https://within.corp/"), read_target("http://within.corp/")
    by_name, by_network = Allowance.of("WITHIN.corp."), Allowance.of("10.0.0.0/8")
    assert by_name.admits(open_to_all, inside)
    assert by_network.admits(open_to_all, inside)
    assert by_network.admits(secret, outside)
    assert not by_network.admits(open_to_all, outside)
    assert not by_network.admits(secret, ip_address("192.168.0.1"))
    assert not Allowance().admits(secret, inside)
    assert not Allowance().admits(open_to_all, outside)


@pytest.mark.parametrize("listed", ["10.0.0.1/8", "a b", "http://x", "300.1.1.1", "1.2", "*.example", "a:80"])
def test_what_is_no_list_of_hosts_is_refused(listed: str) -> None:
    with pytest.raises(ValueError, match="expected a network"):
        Allowance.of(f"10.0.0.0/8, {listed}")


def test_nothing_listed_allows_nothing() -> None:
    assert Allowance.of("") == Allowance.of(" , ") == Allowance()
