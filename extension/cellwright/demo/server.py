"""The demo model behind a local OpenAI-compatible HTTP server.

    server = DemoServer()
    base_url = server.start()      # http://127.0.0.1:PORT/v1
    ...
    server.close()

It answers whoever can reach its port, without a key: it holds no data and runs no code.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import socketserver
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from cellwright.demo.analyst import DemoReply, next_answer
from cellwright.demo.steps import DemoCall
from cellwright.demo.wire import (
    MODEL,
    ApiError,
    ChatRequest,
    WireReply,
    call_id,
    chunks,
    completion,
    error_body,
    in_words,
    model_card,
    read_request,
)
from cellwright.stopping import WorkerThread
from cellwright.text.truncation import CHARACTERS_PER_TOKEN, estimate_tokens

# A checked request answered: what the analyst says, in the shape of a reply.


SUBMIT = "submit"
EMPTY_VALUES: Mapping[str, Any] = {
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}


def reply_to(request: ChatRequest, cached_characters: int) -> WireReply:
    """The reply to a request.

    Args:
        request: What was asked.
        cached_characters: How much of the prompt the server has seen before.
    """
    words = in_words(request)
    if words is not None:
        return words.reply(reply_to(words.request, cached_characters))
    answer = next_answer(request.messages, request.tools, request.forced_tool)
    if request.must_call and answer.call is None and request.tools:
        answer = _as_call(answer, request.tools)
    call = answer.call
    reply = WireReply(
        text=answer.text,
        prompt_tokens=estimate_tokens(request.cache_key),
        cached_tokens=cached_characters // CHARACTERS_PER_TOKEN,
    )
    if call is not None:
        reply = replace(
            reply,
            tool=call.tool,
            arguments=fill_arguments(call, request.tools[call.tool]),
            finish_reason="tool_calls",
            call_id=call_id(request),
        )
    return _within_limit(reply, request.token_limit)


def fill_arguments(call: DemoCall, schema: Mapping[str, Any]) -> str:
    """The call's arguments as JSON that fits the tool's schema.

    An argument the schema does not know goes to the first text the schema requires; what else is
    required gets a plain value.
    """
    properties: Mapping[str, Any] = schema.get("properties") or {}
    required = [name for name in schema.get("required") or () if name in properties]
    texts = [name for name in required if properties[name].get("type", "string") == "string"]
    values: dict[str, Any] = {}
    for name, value in call.arguments.items():
        place = name if name in properties or not texts else texts[0]
        values[place] = value
    for name in required:
        values.setdefault(name, _plain_value(properties[name], call.text))
    return json.dumps(values, ensure_ascii=False)


def _plain_value(schema: Mapping[str, Any], text: str) -> Any:
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    return EMPTY_VALUES.get(str(schema.get("type", "string")), text or "demo")


def _as_call(answer: DemoReply, tools: Mapping[str, Any]) -> DemoReply:
    """The answer handed in through a tool, for a request that must have a call."""
    tool = SUBMIT if SUBMIT in tools else next(iter(tools))
    return DemoReply(
        "", DemoCall(answer.text, tool, {"answer": answer.text} if tool == SUBMIT else {})
    )


def _within_limit(reply: WireReply, token_limit: int) -> WireReply:
    room = token_limit * CHARACTERS_PER_TOKEN
    if not room or len(reply.text) + len(reply.arguments) <= room:
        return reply
    # A call that is cut is no call; real services send it broken, which helps nobody.
    return replace(reply, text=reply.text[:room], tool="", arguments="", finish_reason="length")


BODY_LIMIT_BYTES = 64 * 1024 * 1024
IDLE_SECONDS = 300.0
REMEMBERED_REQUESTS = 16


class DemoServer:
    """The demo model, listening on this machine.

    Args:
        host: The interface; the default is reached from this machine only.
        port: 0 takes a free one.
        delay_seconds: Wait before each piece of a streamed reply, so that it can be watched.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0, delay_seconds: float = 0.0) -> None:
        self._host = host
        self._port = port
        self._delay_seconds = delay_seconds
        self._http: _HttpServer | None = None
        self._thread = WorkerThread(int, name="demo-server")

    @property
    def base_url(self) -> str:
        """Where clients connect; empty while it does not listen."""
        if self._http is None:
            return ""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._http.server_address[1]}/v1"

    def start(self) -> str:
        """Listen on a thread of its own and return the base URL; a second start changes nothing.

        Raises:
            OSError: The port is taken.
        """
        if self._http is None:
            self._http = _HttpServer(self._host, self._port, self._delay_seconds)
            self._thread = WorkerThread(self._http.serve_forever, 0.05, name="demo-server")
            self._thread.start()
        return self.base_url

    def serve_forever(self) -> None:
        """Listen until the process is interrupted or another thread closes the server."""
        self.start()
        try:
            while self._thread.is_alive():
                self._thread.join(0.2)
        finally:
            self.close()

    def close(self) -> None:
        """Stop listening and end open connections; closing twice is fine."""
        http, self._http = self._http, None
        if http is None:
            return
        http.shutdown()
        http.server_close()
        self._thread.join(5.0)

    def __enter__(self) -> DemoServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _HttpServer(ThreadingHTTPServer):
    """Threads that end with the server, and a memory of prompts for the cached share."""

    request_queue_size = 64

    def __init__(self, host: str, port: int, delay_seconds: float) -> None:
        if ":" in host:
            self.address_family = socket.AF_INET6
        self.delay_seconds = delay_seconds
        self._prompts: deque[str] = deque(maxlen=REMEMBERED_REQUESTS)
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Bind without asking a name server for this machine's name, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def cached_characters(self, prompt: str) -> int:
        """How much of ``prompt`` an earlier request began with; remembers it."""
        with self._lock:
            shared = [len(os.path.commonprefix([prompt, known])) for known in self._prompts]
            self._prompts.append(prompt)
        return max(shared, default=0)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._connections.add(request)
        # A thread that is known as ours: who copies a kernel asks which threads run in it.
        handle = self.process_request_thread
        WorkerThread(handle, request, client_address, name="demo-request").start()

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; anything else is ours and is printed."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _HttpServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].rstrip("/")
        if path == "/v1/models":
            self._send(200, {"object": "list", "data": [model_card()]})
        elif path == f"/v1/models/{MODEL}":
            self._send(200, model_card())
        elif path in ("", "/v1"):
            self._send(200, {"name": "cellwright demo model", "is_language_model": False})
        else:
            self._send_error(_unknown_path("GET", self.path))

    def do_POST(self) -> None:
        try:
            body = self._json_body()
            if self.path.partition("?")[0].rstrip("/") != "/v1/chat/completions":
                raise _unknown_path("POST", self.path)
            request = read_request(body)
            reply = reply_to(request, self.server.cached_characters(request.cache_key))
        except ApiError as error:
            self._send_error(error)
            return
        reply_id = f"chatcmpl-{uuid.uuid4().hex[:24]}"
        if request.stream:
            self._stream(chunks(reply, reply_id, request.include_usage))
        else:
            self._send(200, completion(reply, reply_id))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Errors of the HTTP layer, in the same shape as ours."""
        self._send_error(ApiError(code, message or explain or "The request cannot be read."))

    def log_message(self, format: str, *arguments: Any) -> None:
        """Requests are not logged."""

    def version_string(self) -> str:
        return "cellwright-demo"

    def _json_body(self) -> Any:
        try:
            return json.loads(self._body())
        except ValueError as error:
            raise ApiError(400, f"The body is not JSON: {error}.") from error

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            self.close_connection = True
            raise ApiError(411, "The request needs a Content-Length.")
        if int(length) > BODY_LIMIT_BYTES:
            self.close_connection = True
            raise ApiError(413, f"The body has {length} bytes; {BODY_LIMIT_BYTES} are the limit.")
        return self.rfile.read(int(length))

    def _send_error(self, error: ApiError) -> None:
        self.close_connection = self.close_connection or error.status >= 500
        self._send(error.status, error_body(error))

    def _send(self, status: int, body: Mapping[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, pieces: Iterable[Mapping[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            self._pause()
            self._chunk(f"data: {json.dumps(piece)}\n\n".encode())
        self._chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _pause(self) -> None:
        if self.server.delay_seconds:
            time.sleep(self.server.delay_seconds)


def _unknown_path(method: str, path: str) -> ApiError:
    return ApiError(404, f"Unknown request URL: {method} {path}.", code="unknown_url")
