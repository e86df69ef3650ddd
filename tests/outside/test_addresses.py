"""Which addresses a tool may reach (requirement 002-78)."""

from __future__ import annotations

import pytest

from cellwright.errors import SetupError, ToolError
from cellwright.external.web import Origin, Reach, origin_of, pinned, system_addresses, zone

SITE = Origin("https", "service.example", 443)


def reach(*addresses: str, local: bool = False) -> Reach:
    """One where every name is at these addresses."""
    return Reach(local, resolve=lambda host, port: addresses)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.216.34", "public"),
        ("2606:2800:220:1:248:1893:25c8:1946", "public"),
        ("127.0.0.1", "local"),
        ("10.1.2.3", "local"),
        ("172.16.0.1", "local"),
        ("192.168.1.5", "local"),
        ("100.64.0.1", "local"),
        ("::1", "local"),
        ("fd12::1", "local"),
        ("::ffff:127.0.0.1", "local"),
        ("::127.0.0.1", "local"),
        ("64:ff9b::7f00:1", "local"),
        ("2002:7f00:1::", "local"),
        ("169.254.169.254", "blocked"),
        ("169.254.170.2", "blocked"),
        ("fd00:ec2::254", "blocked"),
        ("fe80::1", "blocked"),
        ("fe80::1%eth0", "blocked"),
        ("::ffff:169.254.169.254", "blocked"),
        ("64:ff9b::a9fe:a9fe", "blocked"),
        ("2002:a9fe:a9fe::", "blocked"),
        ("100.100.100.200", "blocked"),
        ("0.0.0.0", "blocked"),
        ("::", "blocked"),
        ("224.0.0.1", "blocked"),
        ("ff02::1", "blocked"),
    ],
)
def test_002_78_every_address_is_public_local_or_blocked(address: str, expected: str) -> None:
    assert zone(address) == expected


def test_002_78_local_addresses_need_consent_for_this_tool() -> None:
    assert pinned(SITE, reach("93.184.216.34")) == ("93.184.216.34",)
    with pytest.raises(ToolError, match=r"'service\.example' is at '10\.0\.0\.7'.*--local"):
        pinned(SITE, reach("10.0.0.7"))
    with pytest.raises(ToolError, match="private network"):
        pinned(SITE, reach("93.184.216.34", "::1"))
    assert pinned(SITE, reach("10.0.0.7", local=True)) == ("10.0.0.7",)


@pytest.mark.parametrize("address", ["169.254.169.254", "fd00:ec2::254", "0.0.0.0"])
def test_002_78_a_machines_credentials_are_out_of_reach_with_consent_too(address: str) -> None:
    with pytest.raises(ToolError, match="no tool may reach"):
        pinned(SITE, reach("93.184.216.34", address, local=True))


def test_a_host_that_is_not_found_is_a_tool_error() -> None:
    def nothing(host: str, port: int) -> tuple[str, ...]:
        raise OSError("Name or service not known")

    with pytest.raises(ToolError, match="was not found: Name or service"):
        pinned(SITE, Reach(resolve=nothing))
    with pytest.raises(ToolError, match="has no address"):
        pinned(SITE, reach())
    assert "127.0.0.1" in system_addresses("127.0.0.1", 80)


def test_origins_are_read_and_bad_addresses_refused() -> None:
    assert origin_of(" https://a.example/x?y ") == Origin("https", "a.example", 443)
    assert origin_of("http://[::1]:81/") == Origin("http", "::1", 81)
    for url in ("ftp://a.example", "a.example", "http://", ""):
        with pytest.raises(SetupError, match="cannot be used"):
            origin_of(url)
    with pytest.raises(SetupError, match="cannot be read"):
        origin_of("http://a.example:port/")
    with pytest.raises(SetupError, match="holds a name or a password") as failed:
        origin_of("http://me:hidden-word@a.example/")
    assert "hidden-word" not in str(failed.value)
