"""An attacker's server that counts what is asked of it, and texts that try to reach it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PAYLOADS: list[str] = json.loads(
    (Path(__file__).parents[2] / "js/test/markdown/payloads.json").read_text("utf-8")
)
"""The same as the unit tests of the renderer have."""


class Sink:
    """A server of an attacker: keeps every path that it is asked for."""

    def __init__(self) -> None:
        self.hits: list[str] = []
        sink = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                sink.hits.append(self.path)
                self.send_response(204)
                self.end_headers()

            def do_POST(self) -> None:
                self.do_GET()

            def do_HEAD(self) -> None:
                self.do_GET()

            def log_message(self, format: str, *arguments: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[Sink]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        yield self
        self._server.shutdown()
        self._server.server_close()
        thread.join(5)
