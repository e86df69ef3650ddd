"""The HTTP requests of one service: its headers, its key, checked addresses and limits."""

from __future__ import annotations

import http.client
import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import SplitResult, urljoin, urlsplit

from cellwright._version import __version__
from cellwright.errors import SetupError, ToolError
from cellwright.external import Definition
from cellwright.llm.keys import SignIns
from cellwright.stopping import Inbox, Stop, WorkerThread

# Keys by the names of environment variables: put in when a request is made, never written down.


VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SECRET_HEADER = re.compile("auth|key|token|secret|cookie|pass|credential|session", re.IGNORECASE)
SHORTEST_SECRET = 6
FOR_SIGN_IN = "cellwright_sign_in"
"""Marks a request of a sign-in, which may go to another host."""


def expanded(template: str, environ: Mapping[str, str]) -> str:
    """The text with ``${NAME}`` and ``${NAME:-default}`` put in.

    Raises:
        ToolError: A variable is not set.
    """

    def value(match: re.Match[str]) -> str:
        found = environ.get(match["name"], "")
        if found or match["default"] is not None:
            return found or match["default"]
        raise ToolError(
            f"The environment variable {match['name']!r} is not set.",
            hint="It is to be set where cellwright runs, in a notebook with os.environ.",
        )

    return VARIABLE.sub(value, template)


def variables_in(templates: Iterable[str]) -> tuple[str, ...]:
    """The variables that some texts name."""
    return tuple(sorted({match["name"] for text in templates for match in VARIABLE.finditer(text)}))


def used_values(templates: Iterable[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values of the variables that some texts name, as far as they are set."""
    return tuple(environ[name] for name in variables_in(templates) if environ.get(name))


def literal_secrets(headers: Mapping[str, str]) -> list[str]:
    """Names of headers that hold a key itself, where the name of a variable belongs."""
    return [
        name
        for name, value in headers.items()
        if SECRET_HEADER.search(name) and not VARIABLE.search(value)
    ]


def checked_variable(name: str) -> str:
    """The name of a variable.

    Raises:
        SetupError: It is none; it may be the key itself, so it is not repeated.
    """
    if NAME.fullmatch(name) and len(name) <= 80 and not name.startswith("sk_"):
        return name
    raise SetupError(
        "The key has to be the name of an environment variable.",
        hint="Set a variable to the key, and give the variable's name.",
    )


class Hidden:
    """Takes the keys of one tool out of what its service says.

    Args:
        values: The keys.
    """

    def __init__(self, values: Iterable[str]) -> None:
        known = {value.strip() for value in values if len(value.strip()) >= SHORTEST_SECRET}
        self._known = sorted(known, key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text without them."""
        for value in self._known:
            text = text.replace(value, "[key]")
        return text

    def value(self, value: Any) -> Any:
        """JSON without them."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        return value


# Which addresses a tool may reach: names are resolved once and what was resolved is connected to.
#
# This machine and private networks only where the person agreed for this tool; addresses that hand
# out a machine's own credentials (``169.254.0.0/16``, ``fd00:ec2::/32`` and their like) never.
#
# What this does not protect against: a service that is allowed may itself fetch what it likes.


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


def is_loopback(url: str) -> bool:
    """Whether an address is one of this machine alone."""
    return urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")


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


# One HTTP request of a tool: to an address that was looked at, of a size that can be held.
#
# Written on the standard library, because the address a name was resolved to has to be the one that
# is connected to. No proxy is used and no cookie is kept.


USER_AGENT = f"cellwright/{__version__}"
REDIRECT_LIMIT = 3
REDIRECTS = (301, 302, 303, 307, 308)
KEEPING_METHOD = (307, 308)


@dataclass(frozen=True)
class HttpRequest:
    """What is asked."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = None


@dataclass(frozen=True)
class HttpReply:
    """What was answered."""

    status: int
    mime: str
    """Without parameters, in small letters."""
    body: bytes

    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")


def fetch(request: HttpRequest, reach: Reach, stop: Stop | None = None) -> HttpReply:
    """The answer to a request, whatever its status.

    Raises:
        ToolError: There is none, or it is not allowed.
        RunCancelled: The run was stopped meanwhile.
    """
    origin = origin_of(request.url)
    line = _HttpConnection(origin, reach)
    said: Inbox[HttpReply | Exception] = Inbox()
    thread = WorkerThread(_work, line, request, said, name="web")
    thread.start()
    try:
        return _waited(said, line, stop)
    finally:
        line.close()


def _waited(
    said: Inbox[HttpReply | Exception], line: _HttpConnection, stop: Stop | None
) -> HttpReply:
    try:
        found = said.take(stop or Stop(), line.seconds_left())
    except TimeoutError:
        raise line.too_late() from None
    if isinstance(found, Exception):
        raise found
    return found


def _work(line: _HttpConnection, request: HttpRequest, said: Inbox[HttpReply | Exception]) -> None:
    try:
        said.put(line.ask(request))
    except ToolError as error:
        said.put(error)
    except (OSError, http.client.HTTPException, ValueError) as error:
        said.put(line.failure(error))


class _HttpConnection:
    """The connections of one request and those it is sent on to, all to the same addresses."""

    def __init__(self, origin: Origin, reach: Reach) -> None:
        self._origin = origin
        self._reach = reach
        self._until = time.monotonic() + reach.timeout_seconds
        self._addresses: tuple[str, ...] = ()
        self._connection: _Http | _Https | None = None
        self._response: http.client.HTTPResponse | None = None
        self._is_closed = False

    def ask(self, request: HttpRequest) -> HttpReply:
        self._addresses = pinned(self._origin, self._reach)
        for _ in range(REDIRECT_LIMIT + 1):
            response = self._send(request)
            if response.status not in REDIRECTS or not response.headers.get("Location"):
                return self._read(response)
            request = self._redirected(request, response)
            self._hang_up()
        raise ToolError(f"The host {self._origin.host!r} sends on and on.")

    def seconds_left(self) -> float:
        return self._until - time.monotonic()

    def is_late(self) -> bool:
        return self.seconds_left() < 0

    def too_late(self) -> ToolError:
        seconds = self._reach.timeout_seconds
        return ToolError(f"The host {self._origin.host!r} did not answer within {seconds:g} s.")

    def failure(self, error: Exception) -> ToolError:
        if isinstance(error, TimeoutError) or self.is_late():
            return self.too_late()
        what = str(error) or type(error).__name__
        return ToolError(f"The host {self._origin.host!r} cannot be asked: {what}.")

    def close(self) -> None:
        """End it, from whichever thread: one that still reads wakes up."""
        self._is_closed = True
        self._hang_up()

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        response, self._response = self._response, None
        if connection is not None:
            # wakes a thread that reads; closing alone would wait for it
            _shut(connection.opened)
            connection.close()
        if response is not None:
            response.close()

    def _send(self, request: HttpRequest) -> http.client.HTTPResponse:
        connection = _connection(self._origin, self._addresses, self._reach)
        self._connection = connection
        headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity", **request.headers}
        parts = urlsplit(request.url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request(request.method, target, request.body, headers)
        response = self._response = connection.getresponse()
        if self._is_closed:
            self._hang_up()
        return response

    def _read(self, response: http.client.HTTPResponse) -> HttpReply:
        limit = self._reach.size_limit_bytes
        body = response.read(limit + 1)
        if len(body) > limit:
            raise ToolError(
                f"The answer of {self._origin.host!r} has more than {limit:,} bytes.",
                hint="Ask it for less.",
            )
        mime = response.headers.get_content_type() if response.headers.get("Content-Type") else ""
        return HttpReply(response.status, mime, body)

    def _redirected(self, request: HttpRequest, response: http.client.HTTPResponse) -> HttpRequest:
        location = urljoin(request.url, response.headers["Location"])
        there = urlsplit(location)
        is_same = there.hostname == self._origin.host
        upgrade = there.scheme == "https" and self._origin.scheme == "http"
        if not is_same or not (upgrade or origin_of(location) == self._origin):
            raise ToolError(
                f"The host {self._origin.host!r} sends on to {there.hostname!r}; other places "
                "are not followed.",
                hint="Use the address that it sends on to, if you know it.",
            )
        if upgrade:
            self._origin = origin_of(location)
        if response.status in KEEPING_METHOD or request.method == "GET":
            return replace(request, url=location)
        return replace(request, url=location, method="GET", body=None)


def _shut(sock: socket.socket | None) -> None:
    if sock is None:
        return
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it is closed already


def _connection(origin: Origin, addresses: tuple[str, ...], reach: Reach) -> _Http | _Https:
    made = _Https if origin.scheme == "https" else _Http
    connection = made(origin.host, origin.port, timeout=reach.timeout_seconds)
    connection.addresses = addresses
    return connection


def _opened(connection: Any) -> socket.socket:
    """A socket to the first address that answers."""
    failure: OSError | None = None
    for address in connection.addresses:
        try:
            return socket.create_connection((address, connection.port), connection.timeout)
        except OSError as error:
            failure = error
    raise failure or OSError("it has no address")


class _Http(http.client.HTTPConnection):
    addresses: tuple[str, ...] = ()
    opened: socket.socket | None = None
    """Kept, because the connection gives it away to the response."""

    def connect(self) -> None:
        self.sock = self.opened = _opened(self)


class _Https(http.client.HTTPSConnection):
    addresses: tuple[str, ...] = ()
    opened: socket.socket | None = None

    def connect(self) -> None:
        # the certificate has to be the name's, not the address's
        context = ssl.create_default_context()
        self.opened = context.wrap_socket(_opened(self), server_hostname=self.host)
        self.sock = self.opened


@dataclass(frozen=True)
class ProcessEnvironment:
    """What services need of the process they are used in."""

    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: str = ""
    """Where programs are started that name no folder; empty: where the process is."""
    resolve: Resolver = system_addresses
    sign_ins: SignIns | None = None
    """Where tokens of MCP servers are kept; None: nobody can sign in here."""


class Web:
    """Makes the requests of one service.

    Args:
        definition: The service.
        surroundings: Variables, and how names are resolved.
    """

    def __init__(self, definition: Definition, surroundings: ProcessEnvironment) -> None:
        self._definition = definition
        self._surroundings = surroundings

    def ask(self, request: HttpRequest, stop: Stop | None = None) -> HttpReply:
        """The answer to a request.

        Raises:
            ToolError: There is none, a variable is missing, or it is not allowed.
            RunCancelled: The run was stopped.
        """
        headers = headers_of(self._definition, self._surroundings)
        reach = reach_of(self._definition, self._surroundings)
        try:
            check_secrecy(origin_of(request.url), bool(headers), reach)
            reply = fetch(replace(request, headers={**headers, **request.headers}), reach, stop)
        except SetupError as error:
            raise ToolError(error.message, hint=error.hint) from error
        hidden = hidden_of(self._definition, self._surroundings)
        return replace(reply, body=hidden.text(reply.text()).encode())

    def file_text(self, path: str) -> str:
        """The text of a document that is a file.

        Raises:
            ToolError: It cannot be read, or is too large.
        """
        folder = self._definition.folder or self._surroundings.folder
        place = Path(folder, Path(path).expanduser())
        limit = reach_of(self._definition, self._surroundings).size_limit_bytes
        try:
            if place.stat().st_size > limit:
                raise ToolError(f"The document {path!r} has more than {limit:,} bytes.")
            return place.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ToolError(f"The document {path!r} cannot be read: {error}.") from error


def check_host(url: str, definition: Definition) -> None:
    """Refuse calls that go elsewhere than the document came from, unless the person agreed.

    Raises:
        ToolError: They would.
    """
    if "://" not in definition.url:
        return  # the document is a file of the person's own
    try:
        host, own = origin_of(url).host, origin_of(definition.url).host
    except SetupError as error:
        raise ToolError(error.message, hint=error.hint) from error
    if host not in (own, *definition.hosts):
        raise ToolError(
            f"Calls of {definition.name!r} would go to {host!r}, and its document is from {own!r}.",
            hint=f"If you mean it, allow that host: --host {host}, or hosts = [{host!r}].",
        )


def check_secrecy(origin: Origin, has_headers: bool, reach: Reach) -> None:
    """Refuse to send a key in the clear to another machine.

    Raises:
        ToolError: It would be.
    """
    if not has_headers or origin.scheme == "https" or reach.is_local:
        return
    raise ToolError(
        f"The key of {origin.host!r} would be sent without encryption.",
        hint="Use an https address, or allow a local one with local = true.",
    )


def reach_of(definition: Definition, surroundings: ProcessEnvironment) -> Reach:
    """How far its requests may go."""
    return Reach(definition.is_local, definition.timeout_seconds, resolve=surroundings.resolve)


def headers_of(definition: Definition, surroundings: ProcessEnvironment) -> dict[str, str]:
    """Its headers with the keys put in.

    Raises:
        ToolError: A variable is not set, or a value cannot be sent.
    """
    environ = surroundings.environ
    made = {name: expanded(value, environ) for name, value in definition.headers.items()}
    if definition.key:
        made["Authorization"] = "Bearer " + expanded(f"${{{definition.key}}}", environ)
    for name, value in made.items():
        if not (value.isascii() and value.isprintable()):
            raise ToolError(f"The header {name!r} of {definition.name!r} cannot be sent.")
    return made


def hidden_of(definition: Definition, surroundings: ProcessEnvironment) -> Hidden:
    """Takes the keys of a service out of what it says."""
    environ = surroundings.environ
    templates = [*definition.headers.values(), *definition.environment.values()]
    named = filter(None, (definition.key, definition.client_secret))
    templates += [f"${{{name}}}" for name in named]
    templates += definition.arguments
    written = {**definition.headers, **definition.environment}
    literal = [written[name] for name in literal_secrets(written)]
    literal += [part for value in literal for part in value.split() if len(part) > 12]
    tokens = surroundings.sign_ins.secrets().values() if surroundings.sign_ins else ()
    return Hidden((*used_values(templates, environ), *literal, *tokens))
