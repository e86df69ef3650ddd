"""An OpenAI-compatible server that streams a text in pieces and writes down when each one left."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

__all__ = ["StreamingService"]


class StreamingService:
    """The server, for the length of a ``with`` block; it answers every chat with the same pieces.

    ``pieces``, ``pause_seconds`` and ``codes`` may be changed between two answers.
    """

    def __init__(self) -> None:
        self.pieces: Sequence[str] = ("Hello.",)
        self.pause_seconds = 0.0
        """Between two pieces."""
        self.codes: list[str] = []
        """Code that it wants to run first, a cell for each."""
        self.sent: list[float] = []
        """Seconds since the epoch at which each piece of the last answer left."""
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                body = json.dumps({"object": "list", "data": [{"id": "streamed"}]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                service._answer(self)

            def say(self, delta: dict[str, Any], reason: str | None = None) -> None:
                choice = {"index": 0, "delta": delta, "finish_reason": reason}
                head = {"id": "c", "object": "chat.completion.chunk", "created": 1}
                chunk = {**head, "model": "streamed", "choices": [choice]}
                self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

            def log_message(self, format: str, *arguments: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._handler = Handler

    def _answer(self, handler: object) -> None:
        assert isinstance(handler, self._handler)
        if self.codes:
            handler.say({"tool_calls": [_run(self.codes.pop(0), len(self.codes))]})
            handler.say({}, "tool_calls")
            handler.wfile.write(b"data: [DONE]\n\n")
            return
        self.sent = []
        began = time.monotonic()
        for number, piece in enumerate(self.pieces):
            # Against the clock, so that the pace does not depend on how long sending takes.
            time.sleep(max(0.0, began + number * self.pause_seconds - time.monotonic()))
            handler.say({"content": piece})
            self.sent.append(time.time())
        handler.say({}, "stop")
        handler.wfile.write(b"data: [DONE]\n\n")

    def __enter__(self) -> StreamingService:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def _run(code: str, number: int) -> dict[str, Any]:
    """A call that runs this code in a new cell."""
    function = {"name": "run_cell", "arguments": json.dumps({"code": code})}
    return {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
