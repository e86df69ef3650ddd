"""An OpenAI-compatible server that answers at once and writes down when: a process of its own.

It asks for ``run_cell`` with ``x = 1`` a number of times and then answers with a text. For each
request it keeps the moment its body was there and the moment the last byte of the answer left.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

__all__ = ["ClockedService", "Exchange"]


@dataclass(frozen=True)
class Exchange:
    """One request and its answer."""

    received: float
    """Monotonic seconds at which the whole request was there."""
    sent: float
    """Monotonic seconds at which the last byte of the answer had left."""
    request_bytes: int


class ClockedService:
    """The server, for the length of a ``with`` block.

    Args:
        steps: How many times it asks for a cell before it answers.
        code: What it asks to run.
        delay_seconds: How long it thinks before each answer.
    """

    def __init__(self, steps: int, code: str = "x = 1", delay_seconds: float = 0.0) -> None:
        self._steps = steps
        self._code = code
        self._delay_seconds = delay_seconds
        self._parent, self._child = multiprocessing.Pipe()

    def __enter__(self) -> ClockedService:
        arguments = (self._child, self._steps, self._code, self._delay_seconds)
        self._process = multiprocessing.get_context("spawn").Process(
            target=_serve, args=arguments, daemon=True
        )
        self._process.start()
        self.base_url = f"http://127.0.0.1:{self._parent.recv()}/v1"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.join()

    def take(self) -> list[Exchange]:
        """The exchanges since the last time."""
        self._parent.send("take")
        return [Exchange(*row) for row in self._parent.recv()]


def _serve(pipe: Connection, steps: int, code: str, delay_seconds: float) -> None:
    import threading

    listener = socket.create_server(("127.0.0.1", 0))
    pipe.send(listener.getsockname()[1])
    exchanges: list[tuple[float, float, int]] = []

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            worker = threading.Thread(
                target=_talk, args=(connection, exchanges, steps, code, delay_seconds), daemon=True
            )
            worker.start()

    threading.Thread(target=accept, daemon=True).start()
    while True:
        pipe.recv()
        pipe.send(list(exchanges))
        exchanges.clear()


def _talk(
    connection: socket.socket,
    exchanges: list[tuple[float, float, int]],
    steps: int,
    code: str,
    delay_seconds: float,
) -> None:
    buffer = b""
    while True:
        while b"\r\n\r\n" not in buffer:
            data = connection.recv(65_536)
            if not data:
                return
            buffer += data
        head, buffer = buffer.split(b"\r\n\r\n", 1)
        length = _content_length(head)
        while len(buffer) < length:
            buffer += connection.recv(65_536)
        body, buffer = buffer[:length], buffer[length:]
        if not length:  # a question about models: this service says nothing of them
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            continue
        received = time.monotonic()
        time.sleep(delay_seconds)
        connection.sendall(_answer(json.loads(body), steps, code))
        exchanges.append((received, time.monotonic(), length))


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0


def _answer(request: dict[str, Any], steps: int, code: str) -> bytes:
    messages = request["messages"]
    last_user = max(i for i, m in enumerate(messages) if m["role"] == "user")
    done = sum(message["role"] == "tool" for message in messages[last_user:])
    events = b"".join(_sse(chunk) for chunk in _chunks(done, steps, code)) + b"data: [DONE]\n\n"
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(events)}\r\n"
    )
    return f"{head}\r\n".encode() + events


def _sse(chunk: dict[str, Any]) -> bytes:
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "clocked"}
    return b"data: " + json.dumps(base | chunk).encode() + b"\n\n"


def _chunks(done: int, steps: int, code: str) -> Iterator[dict[str, Any]]:
    if done < steps:
        call = {
            "index": 0,
            "id": f"call_{done}",
            "type": "function",
            "function": {"name": "run_cell", "arguments": json.dumps({"code": f"{code} # {done}"})},
        }
        delta: dict[str, Any] = {"role": "assistant", "tool_calls": [call]}
        reason = "tool_calls"
    else:
        delta, reason = {"role": "assistant", "content": "Done."}, "stop"
    yield {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    usage = {"prompt_tokens": 900, "completion_tokens": 10, "total_tokens": 910}
    yield {"choices": [], "usage": usage}
