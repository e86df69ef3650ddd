"""Which addresses a tool may reach: names are resolved once and what was resolved is connected to.

This machine and private networks only where the person agreed for this tool; addresses that hand
out a machine's own credentials (``169.254.0.0/16``, ``fd00:ec2::/32`` and their like) never.

What this does not protect against: a service that is allowed may itself fetch what it likes.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from cellwright.errors import SetupError, ToolError

Zone = Literal["public", "local", "blocked"]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], tuple[str, ...]]
BLOCKED = tuple(
    ipaddress.ip_network(text)
    for text in ("169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "100.100.100.200/32", "0.0.0.0/8")
)
"""Link-local addresses, those of machines' credentials, and "any" address."""
EMBEDDING = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("::/96"))
"""IPv6 addresses whose last 32 bits are an IPv4 address."""
PORTS = {"http": 80, "https": 443}
LOCAL_HINT = (
    "If you mean it, allow it for this tool: --local on the line, or local = true in its file."
)


@dataclass(frozen=True)
class Origin:
    """Scheme, host and port."""

    scheme: str
    host: str
    port: int


def system_addresses(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a name, as the system resolves it.

    Raises:
        OSError: There are none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True)
class Reach:
    """How far the requests of one tool may go."""

    is_local: bool = False
    timeout_seconds: float = 60.0
    size_limit_bytes: int = 2_000_000
    resolve: Resolver = system_addresses


def origin_of(url: str) -> Origin:
    """The origin of an address.

    Raises:
        SetupError: It is not one that a tool can have.
    """
    parts = _parts(url)
    if parts.scheme not in PORTS or not parts.hostname:
        raise SetupError(
            f"The address {url!r} cannot be used.", hint="It starts with http:// or https://."
        )
    if parts.username or parts.password:
        raise SetupError(
            f"The address of {parts.hostname!r} holds a name or a password.",
            hint="Put it into an environment variable and name that as the key or in a header.",
        )
    return Origin(parts.scheme, parts.hostname, parts.port or PORTS[parts.scheme])


def zone(address: str) -> Zone:
    """Where an address is."""
    kinds = {_zone(each) for each in _meant(ipaddress.ip_address(address.partition("%")[0]))}
    if "blocked" in kinds:
        return "blocked"
    return "local" if "local" in kinds else "public"


def pinned(origin: Origin, reach: Reach) -> tuple[str, ...]:
    """The addresses to connect to, all of them allowed.

    Raises:
        ToolError: There are none, or one is not allowed.
    """
    try:
        addresses = reach.resolve(origin.host, origin.port)
    except (OSError, UnicodeError) as error:
        raise ToolError(f"The host {origin.host!r} was not found: {error}.") from error
    if not addresses:
        raise ToolError(f"The host {origin.host!r} has no address.")
    zones = {zone(address) for address in addresses}
    if "blocked" in zones:
        raise ToolError(
            f"The host {origin.host!r} is at {addresses[0]!r}, which no tool may reach.",
            hint="Such addresses hand out a machine's credentials, or mean any address.",
        )
    if "local" in zones and not reach.is_local:
        raise ToolError(
            f"The host {origin.host!r} is at {addresses[0]!r}, on this machine or in a private "
            "network.",
            hint=LOCAL_HINT,
        )
    return addresses


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        _ = parts.port  # raises where it is no number
    except ValueError as error:
        raise SetupError(f"The address {url!r} cannot be read: {error}.") from error
    return parts


def _meant(address: Address) -> Iterable[Address]:
    """The address and the IPv4 addresses that stand in it."""
    yield address
    if not isinstance(address, ipaddress.IPv6Address):
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if any(address in network for network in EMBEDDING) and int(address) > 1:
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def _zone(address: Address) -> Zone:
    if any(address.version == n.version and address in n for n in BLOCKED):
        return "blocked"
    if address.is_multicast or address.is_unspecified:
        return "blocked"
    return "public" if address.is_global else "local"
