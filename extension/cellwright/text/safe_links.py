"""Addresses that model text may show: only schemes that open on a click, spelled in plain ASCII."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

WEB = ("http", "https")
HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\.?")
MAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+")
INVISIBLE = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]")
URL_LIMIT = 2_000
KEPT = "/:@!'+,;=%~-._"


@dataclass(frozen=True)
class SafeLink:
    """An address that can be shown and clicked."""

    href: str
    """Only ASCII; no blanks, brackets or quotes."""
    host: str
    """The host as it is looked up, so that a look-alike letter shows."""


def safe_link(address: str) -> SafeLink | None:
    """The address made plain, or None when it must not be a link.

    Web addresses and plain mail addresses pass. Everything else (``javascript:``, ``data:``,
    ``file:``, paths) does not: a path would open something on the person's own server.
    """
    cleaned = INVISIBLE.sub("", html.unescape(address))
    if len(cleaned) > URL_LIMIT:
        return None
    scheme, _, rest = cleaned.partition(":")
    if scheme.lower() == "mailto":
        return SafeLink(f"mailto:{rest}", rest) if MAIL.fullmatch(rest) else None
    return _web(cleaned) if scheme.lower() in WEB and rest.startswith("//") else None


def host_of(address: str) -> str:
    """What to call the place an address leads to, in ASCII letters."""
    link = safe_link(address)
    if link is not None:
        return link.host
    scheme = html.unescape(address).partition(":")[0].lower()
    return scheme if scheme in ("data", "javascript", "file") else "a file"


def _web(address: str) -> SafeLink | None:
    try:
        parts = urlsplit(address)
        # A name or password before the host only serves to mislead.
        host = (parts.hostname or "").encode("idna").decode("ascii").lower()
        port = f":{parts.port}" if parts.port is not None else ""
    except (UnicodeError, ValueError):
        return None
    if not HOST.fullmatch(host):
        return None
    query = f"?{quote(parts.query, safe=KEPT + '?&')}" if parts.query else ""
    fragment = f"#{quote(parts.fragment, safe=KEPT + '?&')}" if parts.fragment else ""
    path = quote(parts.path, safe=KEPT)
    href = f"{parts.scheme}://{host}{port}{path}{query}{fragment}"
    # A renderer would read "&copy" in an address as a sign.
    return SafeLink(href.replace("&", "&amp;"), host)
