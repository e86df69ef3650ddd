"""Answers for ``FakeService``: what goes over the socket, and how it is broken on the way.

``fake_service`` documents them and hands them on.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

MODEL = "fake-model"


@dataclass(frozen=True)
class Pause:
    """Nothing is sent for this long."""

    seconds: float


Piece = bytes | Pause


@dataclass(frozen=True)
class Request:
    """One request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes
    connection: int = 0
    """Which connection it came over, from 1."""

    @property
    def body(self) -> dict[str, Any]:
        """The parsed JSON body; empty for a GET."""
        return dict(json.loads(self.raw)) if self.raw else {}

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages sent."""
        return list(self.body.get("messages", []))

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools sent."""
        return [tool.get("function", tool)["name"] for tool in self.body.get("tools", [])]

    @property
    def last_text(self) -> str:
        """The text of the last message."""
        content = self.messages[-1].get("content") or ""
        if isinstance(content, str):
            return content
        return "\n".join(part.get("text", "") for part in content)


@dataclass(frozen=True)
class Wire:
    """What goes over the socket."""

    pieces: tuple[Piece, ...]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunked: bool = False
    delay_seconds: float = 0.0
    ending: str = "end"
    """``end``; ``reset`` (RST) or ``close`` (FIN) inside the body; ``nothing`` at all."""


Answer = Callable[[Request], Wire]
Script = Sequence[Answer] | Answer


def chunk(
    delta: Mapping[str, Any] | None, finish: str | None = None, **more: Any
) -> dict[str, Any]:
    """One ``chat.completion.chunk``; ``delta=None`` makes one without choices."""
    choices = (
        [{"index": 0, "delta": dict(delta), "finish_reason": finish}] if delta is not None else []
    )
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    return {**head, "choices": choices, **more}


def call_delta(
    index: int | None = 0, *, id: str | None = None, name: str | None = None, arguments: str = ""
) -> dict[str, Any]:
    """The delta of a chunk that carries a piece of one tool call; None leaves a field out."""
    function: dict[str, Any] = {"arguments": arguments}
    if name is not None:
        function["name"] = name
    call: dict[str, Any] = {"type": "function", "function": function}
    if index is not None:
        call["index"] = index
    if id is not None:
        call["id"] = id
    return {"tool_calls": [call]}


def text(
    words: str = "",
    *,
    pieces: Sequence[str] | None = None,
    finish: str = "stop",
    usage: Mapping[str, Any] | bool = True,
    **more: Any,
) -> Answer:
    """A reply in words; ``more``: reasoning, refusal, model, headers."""
    said = list(pieces) if pieces is not None else [words]
    return _reply(said, [], finish, usage, more)


def tool_call(
    name: str, arguments: Mapping[str, Any] | str, *, id: str = "call_1", **more: Any
) -> Answer:
    """A reply that asks for one tool; arguments as text are sent as they are."""
    said = more.pop("text", "")
    usage = more.pop("usage", True)
    call = _call(id, name, arguments)
    return _reply([said] if said else [], [call], more.pop("finish", "tool_calls"), usage, more)


def tool_calls(calls: Sequence[tuple[str, Mapping[str, Any] | str]], **more: Any) -> Answer:
    """A reply that asks for several tools at once."""
    made = [_call(f"call_{n}", name, arguments) for n, (name, arguments) in enumerate(calls, 1)]
    said = more.pop("text", "")
    usage = more.pop("usage", True)
    return _reply([said] if said else [], made, more.pop("finish", "tool_calls"), usage, more)


def raw_sse(
    events: Sequence[Mapping[str, Any] | str | bytes | Pause],
    *,
    done: bool = True,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """A stream of exactly these events.

    A mapping becomes a ``data:`` line, text a line of its own, bytes are sent as they are.
    """
    pieces: list[Piece] = [_event(event) for event in events]
    if done:
        pieces.append(b"data: [DONE]\n\n")
    head = {"content-type": "text/event-stream", **(headers or {})}
    return lambda request: Wire(tuple(pieces), headers=head, chunked=True)


def pings(seconds: float, *, every: float = 0.05) -> list[str | Pause]:
    """Comments and pauses, for ``raw_sse``."""
    return [event for _ in range(round(seconds / every)) for event in (": ping", Pause(every))]


def status(
    code: int, body: Mapping[str, Any] | str | bytes = b"", headers: Mapping[str, str] | None = None
) -> Answer:
    """A plain HTTP answer."""
    raw, kind = _encoded(body)
    head = {"content-type": kind, **(headers or {})}
    return lambda request: Wire((raw,), code, head)


def error(
    code: int, message: str, /, *, headers: Mapping[str, str] | None = None, **fields: Any
) -> Answer:
    """An error as OpenAI words it; ``fields``: type, param, code."""
    words = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return status(code, {"error": {**words, **fields}}, headers)


def json_body(body: Mapping[str, Any] | Sequence[Any], *, status: int = 200) -> Answer:
    """A JSON body whatever was asked for."""
    raw = json.dumps(body).encode()
    return lambda request: Wire((raw,), status, {"content-type": "application/json"})


def html(page: str = "<html><body>Sign in</body></html>", *, status: int = 200) -> Answer:
    """A page, as a captive portal sends it."""
    return lambda request: Wire((page.encode(),), status, {"content-type": "text/html"})


def hang_up() -> Answer:
    """The connection is reset before any answer."""
    return lambda request: Wire((), ending="nothing")


def cut_after(answer: Answer, n_bytes: int, *, clean: bool = False) -> Answer:
    """The connection ends after so many bytes of the body."""
    ending = "close" if clean else "reset"
    return lambda request: _cut(answer(request), n_bytes, ending)


def in_bytes(answer: Answer, size: int = 1) -> Answer:
    """The body comes in pieces of ``size`` bytes, each a chunk of its own."""

    def split(request: Request) -> Wire:
        wire = answer(request)
        whole = b"".join(piece for piece in wire.pieces if isinstance(piece, bytes))
        pieces = tuple(whole[at : at + size] for at in range(0, len(whole), size))
        return replace(wire, pieces=pieces, chunked=True)

    return split


def after(answer: Answer, seconds: float) -> Answer:
    """The status line comes after a wait."""
    return lambda request: replace(answer(request), delay_seconds=seconds)


def held(answer: Answer, gate: threading.Event, *, seconds: float = 30.0) -> Answer:
    """The answer comes when the test opens the gate."""

    def wait(request: Request) -> Wire:
        assert gate.wait(seconds), "the test never opened the gate"
        return answer(request)

    return wait


def spaced(answer: Answer, seconds: float) -> Answer:
    """A wait follows each piece of the body but the last."""

    def spread(request: Request) -> Wire:
        wire = answer(request)
        pieces = [item for piece in wire.pieces for item in (piece, Pause(seconds))]
        return replace(wire, pieces=tuple(pieces[:-1]))

    return spread


def _reply(
    said: list[str],
    calls: list[dict[str, Any]],
    finish: str,
    usage: Mapping[str, Any] | bool,
    more: Mapping[str, Any],
) -> Answer:
    def answer(request: Request) -> Wire:
        counted = _usage(request, said, calls) if usage is True else usage or None
        model = more.get("model", MODEL)
        if request.body.get("stream"):
            wanted = (request.body.get("stream_options") or {}).get("include_usage")
            chunks = _chunks(said, calls, finish, more)
            if counted and wanted:
                chunks.append(chunk(None, usage=counted))
            events = [{**item, "model": model} for item in chunks]
            return raw_sse(events, headers=more.get("headers"))(request)
        body = _whole(said, calls, finish, more) | {"model": model}
        if counted:
            body["usage"] = counted
        return json_body(body)(request)

    return answer


def _chunks(
    said: list[str], calls: list[dict[str, Any]], finish: str, more: Mapping[str, Any]
) -> list[dict[str, Any]]:
    chunks = [chunk({"role": "assistant", "content": ""})]
    if more.get("reasoning"):
        chunks.append(chunk({"reasoning_content": more["reasoning"]}))
    chunks += [chunk({"content": piece}) for piece in said]
    if more.get("refusal"):
        chunks.append(chunk({"refusal": more["refusal"]}))
    for index, call in enumerate(calls):
        function = call["function"]
        half = len(function["arguments"]) // 2
        first, second = function["arguments"][:half], function["arguments"][half:]
        chunks.append(chunk(call_delta(index, id=call["id"], name=function["name"])))
        chunks += [chunk(call_delta(index, arguments=piece)) for piece in (first, second) if piece]
    return [*chunks, chunk({}, finish)]


def _whole(
    said: list[str], calls: list[dict[str, Any]], finish: str, more: Mapping[str, Any]
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "".join(said) or None}
    if calls:
        message["tool_calls"] = calls
    if more.get("refusal"):
        message["refusal"] = more["refusal"]
    if more.get("reasoning"):
        message["reasoning_content"] = more["reasoning"]
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "choices": [choice]}


def _usage(request: Request, said: list[str], calls: list[dict[str, Any]]) -> dict[str, int]:
    written = len("".join(said)) + sum(len(call["function"]["arguments"]) for call in calls)
    prompt, completion = len(request.raw) // 4 + 1, written // 4 + 1
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _call(id: str, name: str, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": written}}


def _event(event: Mapping[str, Any] | str | bytes | Pause) -> Piece:
    if isinstance(event, (bytes, Pause)):
        return event
    if isinstance(event, str):
        return f"{event}\n\n".encode()
    return f"data: {json.dumps(event)}\n\n".encode()


def _encoded(body: Mapping[str, Any] | str | bytes) -> tuple[bytes, str]:
    if isinstance(body, bytes):
        return body, "text/plain"
    if isinstance(body, str):
        return body.encode(), "text/plain"
    return json.dumps(body).encode(), "application/json"


def _cut(wire: Wire, n_bytes: int, ending: str) -> Wire:
    kept: list[Piece] = []
    for piece in wire.pieces:
        if isinstance(piece, bytes):
            piece = piece[: max(0, n_bytes)]
            n_bytes -= len(piece)
        kept.append(piece)
    # Time for the client to read what came before the connection is reset.
    kept.append(Pause(0.05))
    return replace(wire, pieces=tuple(kept), ending=ending, chunked=True)
