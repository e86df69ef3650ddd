"""A session over the streams of a process: one message a line."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from cellwright.mcp_server import Send


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
