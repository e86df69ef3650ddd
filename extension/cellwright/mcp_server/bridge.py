"""From the streams of a process to the route of a Jupyter server, for clients that know no HTTP.

What is said goes through as it is: the session is the server's.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO
from urllib.parse import SplitResult, urlencode, urlsplit

from cellwright.errors import SetupError
from cellwright.stopping import WorkerThread

Send = Callable[[Mapping[str, Any]], None]
"""Sends a message of the protocol; from any thread."""
PARSE_ERROR = -32700
INTERNAL_ERROR = -32603
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
NAMED = ("name", "uri")
"""What of a request's params is named in a header, from 2026-07-28 on."""

ROUTE = "cellwright/v2/mcp"
PAGES = ("/lab", "/tree", "/notebooks")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SESSION_HEADER = "Mcp-Session-Id"
EVENT_STREAM = "text/event-stream"
SILENT_SECONDS = 60.0
"""The server says something every quarter of a minute while a call goes on."""
LOST = 404
NOTHING: Mapping[str, str] = {}
REFUSED = (401, 403)


@dataclass(frozen=True)
class Address:
    """Where the server's route is, and what it wants to see."""

    host: str
    port: int | None
    is_encrypted: bool
    path: str
    """With its parameters."""
    token: str

    @property
    def shown(self) -> str:
        """For people."""
        scheme = "https" if self.is_encrypted else "http"
        return f"{scheme}://{self.host}" + (f":{self.port}" if self.port else "")


def address_of(url: str, token: str, parameters: Mapping[str, str]) -> Address:
    """The route below a server's address, or below that of one of its pages.

    Args:
        url: As a person has it from the browser.
        token: The server's.
        parameters: Of the route; empty ones are left out.

    Raises:
        SetupError: A token must not go there.
    """
    parts = urlsplit(url.strip())
    _check(parts, url)
    root = parts.path
    for page in PAGES:
        root = root.partition(page)[0]
    query = urlencode({name: value for name, value in parameters.items() if value})
    path = f"{root.rstrip('/')}/{ROUTE}" + (f"?{query}" if query else "")
    return Address(parts.hostname or "", parts.port, parts.scheme == "https", path, token)


def _check(parts: SplitResult, url: str) -> None:
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SetupError(
            f"{url!r} is not a server's address.", hint="It is like http://127.0.0.1:8888/."
        )
    if "token=" in parts.query:
        raise SetupError(
            "The address has a token in it, which other people on this machine could read.",
            hint="Put the token into a variable and name that with --token-env.",
        )
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise SetupError(
            f"A token is not sent to {parts.hostname!r} without encryption.",
            hint="Use https, or a tunnel to 127.0.0.1.",
        )


class Bridge:
    """Hands messages on; safe to use from any thread.

    Args:
        address: The server's route.
        send: Back to the client.
    """

    def __init__(self, address: Address, send: Send) -> None:
        self._address, self._send = address, send
        self._session = ""
        self._hello = b""
        self._lock = threading.Lock()

    def receive(self, line: bytes) -> None:
        """Hand a message on; what is answered comes back from threads of its own."""
        try:
            message = json.loads(line)
        except ValueError:
            self._send(_error(_RefusedError(PARSE_ERROR, "This is not JSON."), None))
            return
        message = message if isinstance(message, dict) else {}
        is_answered = "method" in message and "id" in message
        if message.get("method") == "initialize":
            self._hello = line
        if is_answered and line != self._hello:
            WorkerThread(self._hand_on, line, message, name="mcp-request").start()
        else:
            self._hand_on(line, message, is_answered=is_answered)

    def close(self) -> None:
        """End the session."""
        if self._session:
            try:
                for _ in self._exchange("DELETE", b""):
                    pass
            except (OSError, http.client.HTTPException, _RefusedError):
                return

    def _hand_on(
        self, line: bytes, message: Mapping[str, Any], *, is_answered: bool = True
    ) -> None:
        send = self._send if is_answered else _drop
        try:
            for answer in self._posted(line, message):
                send(answer)
        except _RefusedError as failure:
            send(_error(failure, message.get("id")))
        except (OSError, http.client.HTTPException, ValueError) as failure:
            words = f"The Jupyter server at {self._address.shown} cannot be reached: {failure}."
            send(_error(_RefusedError(INTERNAL_ERROR, words), message.get("id")))

    def _posted(self, line: bytes, message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        named = _routing_headers(message)
        try:
            yield from self._exchange("POST", line, named)
        except _LostError:
            # The server was started anew: the session is begun again, and the message sent again.
            self._begin_again()
            yield from self._exchange("POST", line, named)

    def _begin_again(self) -> None:
        with self._lock:
            if not self._hello:
                return
            self._session = ""
            for _ in self._exchange("POST", self._hello):
                pass

    def _exchange(
        self, method: str, body: bytes, named: Mapping[str, str] = NOTHING
    ) -> Iterator[dict[str, Any]]:
        """What the server answers, message by message.

        Raises:
            _RefusedError: It refuses.
        """
        connection = self._connection()
        try:
            connection.request(method, self._address.path, body, {**self._headers(), **named})
            response = connection.getresponse()
            self._session = response.getheader(SESSION_HEADER) or self._session
            if response.status >= 400:
                yield from _refused(response.status, response.read(), is_modern=bool(named))
                return
            if (response.getheader("Content-Type") or "").startswith(EVENT_STREAM):
                yield from _events(response)
            elif body := response.read():
                yield json.loads(body)
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        address = self._address
        if not address.is_encrypted:
            return http.client.HTTPConnection(address.host, address.port, timeout=SILENT_SECONDS)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(
            address.host, address.port, timeout=SILENT_SECONDS, context=context
        )

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": f"application/json, {EVENT_STREAM}",
        }
        if self._address.token:
            headers["Authorization"] = f"token {self._address.token}"
        if self._session:
            headers[SESSION_HEADER] = self._session
        return headers


class _RefusedError(Exception):
    """The server refuses a message.

    Args:
        code: One of the numbers of JSON-RPC.
        message: Why.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class _LostError(_RefusedError):
    """The server does not know the session."""


def _error(failure: _RefusedError, number: Any) -> dict[str, Any]:
    told = {"code": failure.code, "message": failure.message}
    return {"jsonrpc": "2.0", "id": number, "error": told}


def _routing_headers(message: Mapping[str, Any]) -> dict[str, str]:
    """What a request of 2026-07-28 says in headers, too; nothing for an older one."""
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    if not isinstance(version, str):
        return {}
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": str(message.get("method"))}
    name = next((params[key] for key in NAMED if isinstance(params.get(key), str)), None)
    return headers if name is None else {**headers, "Mcp-Name": name}


def _refused(status: int, body: bytes, *, is_modern: bool) -> Iterator[dict[str, Any]]:
    """An error in the server's own words, where it has some.

    Raises:
        _RefusedError: Always, but for an answer that is one of the protocol's own.
    """
    try:
        told = json.loads(body)
    except ValueError:
        told = {}
    told = told if isinstance(told, dict) else {}
    failure = told.get("error")
    if isinstance(failure, dict):
        if is_modern and told.get("id") is not None:
            # From 2026-07-28 on an error of the protocol has a status, too.
            yield told
            return
        kind = _LostError if status == LOST else _RefusedError
        raise kind(int(failure.get("code", 0)), str(failure.get("message", "")))
    words = " ".join(str(told.get(name) or "") for name in ("message", "hint")).strip()
    if status in REFUSED:
        words = f"{words} Is the token right? It is read from the variable of --token-env.".strip()
    reason = http.client.responses.get(status, "")
    raise _RefusedError(INTERNAL_ERROR, words or f"The server answers {status} {reason}.")


def _drop(message: Mapping[str, Any]) -> None:
    """Nobody waits for an answer to what is no request."""


def _events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    data = b""
    for line in iter(response.readline, b""):
        if line.startswith(b"data:"):
            data += line[5:].strip()
        elif not line.strip() and data:
            yield json.loads(data)
            data = b""


# A session over the streams of a process: one message a line.


def serve(inp: BinaryIO, receive: Callable[[bytes], None]) -> None:
    """Take every message until the client has closed its end."""
    for line in iter(inp.readline, b""):
        if line.strip():
            receive(line)


def writer(out: BinaryIO) -> Send:
    """What writes messages, each whole, from any thread; a client that has gone is not told."""
    lock = threading.Lock()

    def send(message: Mapping[str, Any]) -> None:
        # ASCII, so that no separator that only Unicode knows ends a line.
        data = json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
        with lock:
            try:
                out.write(data)
                out.flush()
            except (OSError, ValueError):
                return

    return send
