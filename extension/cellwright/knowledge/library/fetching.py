"""One document from an address: of this machine, or of a host that the person allowed.

Not covered: a host that was allowed and answers with the address of another machine of its own
network; names are trusted once they are allowed.
"""

from __future__ import annotations

import http.client
import ipaddress
import time
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from email.message import Message
from typing import IO
from urllib.error import HTTPError
from urllib.parse import SplitResult, urlsplit

from cellwright.errors import SetupError

WAIT_SECONDS = 10.0
DEADLINE_SECONDS = 30.0
SIZE_LIMIT_BYTES = 10 * 1024 * 1024
PIECE_BYTES = 64 * 1024
SETTING = "CELLWRIGHT_LIBRARY_HOSTS"


@dataclass(frozen=True)
class Fetched:
    """What an address answered."""

    data: bytes
    mime: str


def is_address(place: str) -> bool:
    """Whether a place is an address and no path."""
    return place.strip().lower().startswith(("http://", "https://"))


def check_address(address: str, hosts: Iterable[str] = ()) -> SplitResult:
    """The parts of an address that may be asked.

    Args:
        address: Where the document is.
        hosts: Allowed beside this machine.

    Raises:
        SetupError: It may not be asked.
    """
    try:
        parts = urlsplit(address.strip())
        host, _port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise SetupError(f"The address {address!r} cannot be read: {error}.") from error
    if parts.username or parts.password:
        raise SetupError("An address with a password is not kept.", hint="Save the page as a file.")
    if not host or not (_is_this_machine(host) or host in {name.lower() for name in hosts}):
        raise SetupError(
            f"The host {host!r} is not allowed.",
            hint=f"Save the page and add the file. {SETTING} allows hosts.",
        )
    return parts


def fetch(address: str, hosts: Iterable[str] = (), wait_seconds: float = WAIT_SECONDS) -> Fetched:
    """What the address answers, within limits of time and size.

    Raises:
        SetupError: It may not be asked, or did not answer with a document.
    """
    allowed = tuple(hosts)
    parts = check_address(address, allowed)
    direct = [urllib.request.ProxyHandler({})] if _is_this_machine(parts.hostname or "") else []
    opener = urllib.request.build_opener(*direct, _SameOrigin(parts))
    request = urllib.request.Request(address.strip(), headers={"Accept": "text/*, */*;q=0.5"})
    try:
        with opener.open(request, timeout=wait_seconds) as answer:
            data = _read(answer, time.monotonic() + DEADLINE_SECONDS)
            return Fetched(data, str(answer.headers.get("Content-Type") or ""))
    except HTTPError as error:
        with error:
            raise SetupError(f"{address!r} answered {error.code}.") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise SetupError(f"{address!r} did not answer: {reason}.") from error


def _read(answer: IO[bytes], deadline: float) -> bytes:
    data = bytearray()
    while piece := answer.read(PIECE_BYTES):
        data += piece
        if len(data) > SIZE_LIMIT_BYTES:
            raise SetupError("The page has more than 10 MB.", hint="Save it as a file.")
        if time.monotonic() > deadline:
            raise SetupError("The page did not come within 30 s.", hint="Save it as a file.")
    return bytes(data)


class _SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follows redirects within one origin alone."""

    def __init__(self, parts: SplitResult) -> None:
        self._origin = (parts.scheme, parts.netloc)

    def redirect_request(  # noqa: PLR0913 (the standard library calls it)
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Message,
        newurl: str,
    ) -> urllib.request.Request | None:
        parts = urlsplit(newurl)
        if (parts.scheme, parts.netloc) != self._origin:
            raise SetupError(f"The page sends on to {parts.hostname!r}.", hint="Add that address.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


def _is_this_machine(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
