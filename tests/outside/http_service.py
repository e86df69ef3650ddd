"""A small web server of this machine for tests: answers are set, requests are kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Answered", "HttpService", "Received", "http_service"]


@dataclass(frozen=True)
class Received:
    """A request that came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answered:
    """What is answered."""

    body: Any = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()

    @property
    def mime(self) -> str:
        return "text/plain" if isinstance(self.body, (str, bytes)) else "application/json"


Answer = Answered | Callable[[Received], Answered]


class HttpService:
    """Answers by path; anything else is 404."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: dict[str, Answer] = {}
        self.received: list[Received] = []
        self.go_on = threading.Event()
        """Set when what waits may answer."""

    def answer(self, request: Received) -> Answered:
        self.received.append(request)
        found = self.answers.get(request.path.partition("?")[0])
        if found is None:
            return Answered("nothing here", 404)
        return found if isinstance(found, Answered) else found(request)


@contextmanager
def http_service() -> Iterator[HttpService]:
    """A server on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size) if size else b""
            request = Received(self.command, self.path, dict(self.headers.items()), body)
            answered = service.answer(request)
            try:
                self.send_response(answered.status)
                headers = {"Content-Type": answered.mime, **answered.headers}
                headers["Content-Length"] = str(len(answered.data))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answered.data)
            except OSError:
                return  # whoever asked has gone

        def log_message(self, *_: Any) -> None:
            return

    for method in ("GET", "HEAD", "POST", "PUT", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.handle_any)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    service = HttpService(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()
