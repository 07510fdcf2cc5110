"""Validation of the URLs of webhooks, and the addresses that deliveries may connect to."""

import re
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from relevance_bayes.records.errors import Fault, InvalidRequestError

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

MAX_URL_LENGTH = 2000
HOST_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")
PRINTABLE = re.compile(r"[!-~]+")
PORTS = {"http": 80, "https": 443}
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})

# The registries of special addresses (RFC 6890 and its updates) as of this release: those in `ipaddress` depend on the
# version of Python.
SPECIAL_V4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # carrier-grade NAT
            "127.0.0.0/8",  # loopback
            "169.254.0.0/16",  # link-local, with the metadata services of clouds
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocols
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # relays of 6to4
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
GLOBAL_V6 = IPv6Network("2000::/3")
"""The allocated part of IPv6; addresses outside are loopback, private, link-local, multicast or unallocated."""

SPECIAL_V6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocols, Teredo among them
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "3fff::/20",  # documentation
        ),
    )
)
MAPPED = IPv6Network("::ffff:0:0/96")
TRANSLATED = IPv6Network("64:ff9b::/96")
"""NAT64, by which IPv6-only networks reach IPv4; the address is in the last 32 bits, as in `MAPPED`."""


def is_public(address: Address) -> bool:
    """Return whether an address, or the IPv4 address embedded in it, is a public unicast address."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in SPECIAL_V4)
    if address in MAPPED or address in TRANSLATED:
        return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address in GLOBAL_V6 and not any(address in network for network in SPECIAL_V6)


@dataclass(frozen=True)
class Target:
    """The parts of a URL; `host` is in lower case, without brackets."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    path: str

    @property
    def address(self) -> Address | None:
        """Return the host as an address, None where it is a name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None

    @property
    def authority(self) -> str:
        """Return host and port, as in the header `Host`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


@dataclass(frozen=True)
class Allowance:
    """The targets that are allowed besides https to public addresses: host names, and networks in any scheme."""

    names: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    @classmethod
    def of(cls, listed: str) -> "Allowance":
        """Parse comma-separated names, addresses and networks; raises ValueError."""
        names, networks = set[str](), list[Network]()
        for entry in filter(None, (part.strip().lower() for part in listed.split(","))):
            try:
                networks.append(ip_network(entry))
            except ValueError as error:
                if "/" in entry or ":" in entry or not HOST_NAME.fullmatch(entry) or _ends_in_a_number(entry):
                    raise ValueError(f"expected a network, address or host name, got {entry!r}") from error
                names.add(entry.rstrip("."))
        return cls(frozenset(names), tuple(networks))

    def admits(self, target: Target, address: Address) -> bool:
        """Return whether a request to a target may connect to this address of its host."""
        if target.host.rstrip(".") in self.names or any(address in network for network in self.networks):
            return True
        return target.scheme == "https" and is_public(address)

    def checked(self, url: str) -> Target:
        """Return a URL in its parts, unless it can be refused without resolving its host; deliveries check the address.

        Raises InvalidRequestError.
        """
        target = read_target(url)
        address = target.address
        if address is None:
            listed = bool(self.networks) or target.host.rstrip(".") in self.names
            here = target.host.rstrip(".").rpartition(".")[2] == "localhost"
        else:
            listed, here = self.admits(target, address), not is_public(address)
        if here and not listed:
            raise _refused(f"Expected a public address, got {target.host}, which this service does not allow.")
        if target.scheme == "http" and not listed:
            raise _refused("Expected https://, got http://, which this service allows only for some hosts.")
        return target


def read_target(url: str) -> Target:
    """Return a URL in its parts; raises InvalidRequestError for other than a plain http(s) URL."""
    if len(url) > MAX_URL_LENGTH or not PRINTABLE.fullmatch(url):
        raise _refused(
            f"Expected a URL of at most {MAX_URL_LENGTH} ASCII characters; percent-encode others and spaces."
        )
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise _refused(f"Expected a URL, got one that can't be parsed: {error}.") from error
    scheme: Literal["http", "https"]
    if parts.scheme == "http":
        scheme = "http"
    elif parts.scheme == "https":
        scheme = "https"
    else:
        raise _refused("Expected a URL that begins with https://, got another scheme.")
    if "@" in parts.netloc:
        raise _refused("Expected a URL without credentials: messages are signed instead.")
    if parts.fragment or "#" in url:
        raise _refused("Expected a URL without a fragment, which is never sent.")
    if port == 0:
        raise _refused("Expected a port from 1 to 65535.")
    if not _is_host(host):
        raise _refused(f"Expected a host name or an address, got {host!r}.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(scheme, host, port or PORTS[scheme], path)


def is_secure_url(url: str) -> bool:
    """Return whether a URL is https, or http to this machine, so that nobody else can respond."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK))


def _is_host(host: str) -> bool:
    if ":" in host:
        try:
            return IPv6Address(host).scope_id is None
        except ValueError:
            return False
    if _ends_in_a_number(host):  # an address in standard notation, not octal or shortened
        try:
            IPv4Address(host)
        except ValueError:
            return False
        return True
    return len(host) <= 253 and HOST_NAME.fullmatch(host) is not None


def _ends_in_a_number(host: str) -> bool:
    last = host.rstrip(".").rpartition(".")[2]
    return last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last) is not None


def _refused(detail: str) -> InvalidRequestError:
    return InvalidRequestError(f"The URL can't be used: {detail}", [Fault(detail, pointer="/url")])
