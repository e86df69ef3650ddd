"""A scripted OpenAI-compatible service on a real socket of 127.0.0.1, for the whole suite.

    with FakeService([tool_call("run_cell", {"code": "x = 1"}), text("Done.")]) as service:
        lm = OpenAILM(service.settings())        # ServiceSettings with short waits
        service.base_url                         # "http://127.0.0.1:41234/v1"
        service.requests[0].body["messages"]     # every request, parsed; .headers .path .raw

The script is a sequence of answers, used up in order, or one function ``Request -> Answer`` for a
model that reacts. An entry of the sequence may be such a function too. When the script is used up
the service says so with status 400; what a function raises is raised again at the end.
``GET /models`` does not use up the script, nor does llama-server's ``GET /props`` (``props=``) or
what else a server has (``others=``, answers by path).

Answers (each streams when the request asks for a stream, and is one JSON body when it does not):
    text("hi")                          pieces=["h", "i"], finish=, usage=, reasoning=, refusal=
    tool_call("run_cell", {...})        id=, text=, finish=
    tool_calls([("a", {...}), ...])     several calls in one reply, ids call_1, call_2 …

On the wire exactly as given:
    raw_sse([chunk({"content": "h"}), ": ping", b"bytes", Pause(1)], done=True)
    json_body({...}, status=200)        html("<html>…")
    status(429, {...}, {"retry-after": "1"})
    error(400, "message", param="temperature", code=…)         hang_up()  (closes, says nothing)

Around any answer:
    cut_after(answer, n_bytes)          resets the connection inside the body (clean=True: closes)
    in_bytes(answer, size=1)            sends the body in pieces of that size
    after(answer, seconds)              waits before the status line
    held(answer, gate)                  waits until the test sets the ``threading.Event``
    spaced(answer, seconds)             waits between two pieces of the body
    pings(seconds, every=0.05)          pieces for raw_sse: comments and nothing else

A request that does not fit OpenAI's published description fails the test at the end of the service
(``service.openai = False``: another company's, whose requests have fields of its own).

``service.connections`` counts the connections opened, ``service.broken_off`` the answers during
which the client closed the connection (waited for with ``service.wait_for_break()``).
"""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

from fake_answers import (
    MODEL,
    Answer,
    Pause,
    Request,
    Script,
    Wire,
    after,
    call_delta,
    chunk,
    cut_after,
    error,
    hang_up,
    held,
    html,
    in_bytes,
    json_body,
    pings,
    raw_sse,
    spaced,
    status,
    text,
    tool_call,
    tool_calls,
)
from openai_description import problems

from cellwright.llm.capabilities import LEARNED, REFUSED_ITEMS, SILENT_SERVERS, TEMPLATES, WINDOWS
from cellwright.settings import ServiceSettings

__all__ = [
    "MODEL",
    "Answer",
    "FakeService",
    "Pause",
    "Request",
    "Script",
    "Wire",
    "after",
    "call_delta",
    "chunk",
    "cut_after",
    "error",
    "hang_up",
    "held",
    "html",
    "in_bytes",
    "json_body",
    "pings",
    "raw_sse",
    "spaced",
    "status",
    "text",
    "tool_call",
    "tool_calls",
]

POLL_SECONDS = 0.02
ASKED = ("/chat/completions", "/responses", "/messages", "GenerateContent", ":generateContent")
"""Where a model is asked."""
TLS_HELLO = b"\x16"


class FakeService:
    """The server; a context manager that leaves no thread and no socket behind."""

    def __init__(
        self,
        script: Script = (),
        *,
        models: Sequence[str] | Answer = (MODEL,),
        props: dict[str, Any] | None = None,
        others: Mapping[str, Answer] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.script = script
        self.openai = getattr(script, "openai", True)
        """Whether each request has to fit OpenAI's published description."""
        self.requests: list[Request] = []
        """The requests to a model, in order."""
        self.other_requests: list[Request] = []
        """Requests to ``/models`` and elsewhere."""
        self.connections = 0
        self.broken_off = 0
        self.failures: list[Exception] = []
        """What functions of the script raised; the first one is raised again at the end."""
        self._models = models
        self._others = {**(others or {}), **({"/props": json_body(props)} if props else {})}
        self._tls = tls
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._broken = threading.Event()
        self._threads: list[threading.Thread] = []
        self._sockets: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.host, self.port = self._listener.getsockname()[:2]
        # An earlier test had the same port.
        SILENT_SERVERS.discard(self.base_url)
        for memory in (LEARNED, TEMPLATES, WINDOWS, REFUSED_ITEMS):
            for known in [known for known in memory if f"://{self.host}:{self.port}/" in known[0]]:
                memory.pop(known)

    @property
    def base_url(self) -> str:
        """The address for a client."""
        return f"{'https' if self._tls else 'http'}://{self.host}:{self.port}/v1"

    def settings(self, **changes: Any) -> ServiceSettings:
        """Settings that lead here."""
        made = ServiceSettings(base_url=self.base_url, api_key="no-key", model=MODEL)
        return replace(made, **changes)

    def wait_for_break(self, seconds: float = 5.0) -> bool:
        """Whether a client closes its connection inside an answer within so long."""
        return self._broken.wait(seconds)

    def __enter__(self) -> FakeService:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
        if self.failures and raised is None:
            raise self.failures[0]

    def close(self) -> None:
        """Close every connection and wait for the threads."""
        self._closing.set()
        self._wake_listener()
        with self._lock:
            sockets, threads = list(self._sockets), list(self._threads)
        for sock in sockets:
            _shut(sock)
        for thread in threads:
            thread.join(5)
        self._listener.close()

    def _wake_listener(self) -> None:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()

    def _start(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        with self._lock:
            self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            if self._closing.is_set():
                sock.close()
                return
            with self._lock:
                self.connections += 1
                self._sockets.add(sock)
            self._start(self._talk, sock, self.connections)

    def _talk(self, sock: socket.socket, number: int) -> None:
        raw = sock
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                sock = self._tls.wrap_socket(sock, server_side=True)
            for request in _requests(sock, number):
                if not self._send(sock, self._wire(request)):
                    break
        except OSError:
            pass
        finally:
            with self._lock:
                self._sockets.discard(raw)
            sock.close()

    def _wire(self, request: Request) -> Wire:
        """What the script says, whose functions may hand back functions."""
        try:
            answer: Any = self._answer(request)
            while not isinstance(answer, Wire):
                answer = answer(request)
            return answer
        except Exception as failure:
            self.failures.append(failure)
            return error(400, f"The script failed: {failure!r}")(request)

    def _answer(self, request: Request) -> Answer:
        path = request.path.partition("?")[0]
        if self.openai and (wrong := problems(path, request.body)):
            self.failures.append(AssertionError(f"OpenAI would refuse {path}: {wrong}"))
        if not path.endswith(ASKED):
            self.other_requests.append(request)
            return self._other(request)
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
        if callable(self.script):
            return self.script
        if number > len(self.script):
            return error(400, f"The script has {len(self.script)} answers; this is one more.")
        return self.script[number - 1]

    def _other(self, request: Request) -> Answer:
        if request.path in self._others:
            return self._others[request.path]
        if not request.path.partition("?")[0].endswith("/models"):
            return error(404, f"no such path: {request.path}")
        if callable(self._models):
            return self._models
        listed = [{"id": name, "object": "model", "created": 1} for name in self._models]
        return json_body({"object": "list", "data": listed})

    def _send(self, sock: socket.socket, wire: Wire) -> bool:
        """Send one answer; True when the connection can be used again."""
        if wire.ending == "nothing":
            _reset(sock)
            return False
        if not self._wait(sock, wire.delay_seconds):
            return False
        try:
            return self._send_body(sock, wire)
        except OSError:
            self._note_break()
            return False

    def _send_body(self, sock: socket.socket, wire: Wire) -> bool:
        sock.sendall(_head(wire))
        for piece in wire.pieces:
            if isinstance(piece, Pause):
                if not self._wait(sock, piece.seconds):
                    return False
            elif piece:
                sock.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if wire.chunked else piece)
        if wire.ending == "reset":
            _reset(sock)
        elif wire.ending == "end" and wire.chunked:
            sock.sendall(b"0\r\n\r\n")
        return wire.ending == "end"

    def _wait(self, sock: socket.socket, seconds: float) -> bool:
        """Wait; False when the client or the test has gone in the meantime."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self._closing.is_set():
                return False
            ready, _, _ = select.select([sock], [], [], min(left, POLL_SECONDS))
            if ready:
                self._note_break()
                return False
        return True

    def _note_break(self) -> None:
        if not self._closing.is_set():
            self.broken_off += 1
            self._broken.set()


def _head(wire: Wire) -> bytes:
    headers = dict(wire.headers)
    if wire.chunked:
        headers["transfer-encoding"] = "chunked"
    else:
        size = sum(len(piece) for piece in wire.pieces if isinstance(piece, bytes))
        headers.setdefault("content-length", str(size))
    lines = [f"HTTP/1.1 {wire.status} X", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _requests(sock: socket.socket, number: int) -> Iterator[Request]:
    """The requests of one keep-alive connection."""
    with sock.makefile("rb") as reader:
        if reader.peek(1)[:1] == TLS_HELLO:
            sock.sendall(b"HTTP/1.1 400 X\r\ncontent-length: 0\r\n\r\n")
            return
        while line := reader.readline():
            method, path, _ = line.decode("latin-1").split(" ")
            headers = {}
            while (header := reader.readline()) not in (b"\r\n", b""):
                name, _, value = header.decode("latin-1").partition(":")
                headers[name.strip().lower()] = value.strip()
            raw = reader.read(int(headers.get("content-length", 0)))
            yield Request(method, path, headers, raw, number)


def _reset(sock: socket.socket) -> None:
    """Have close() send RST instead of FIN."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _shut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
