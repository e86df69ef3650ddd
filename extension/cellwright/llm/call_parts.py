"""Tool calls put together from pieces, as the many compatible services send them.

What is known of them: all calls under index 0 (fault M7), no index at all (M8), no id (M9), the
same id twice (M10), id and name repeated in every piece, arguments as an object instead of text
(M3), the older ``function_call``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from cellwright.record.messages import ToolCall
from cellwright.text.cleaning import without_lone_surrogates


@dataclass
class _Call:
    id: str
    name: str
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class _Piece:
    index: int | None
    id: str
    name: str
    arguments: str


class CallCollector:
    """Takes the pieces of one reply and gives its calls."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int | None, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    @property
    def characters(self) -> int:
        """How much the model wrote for its calls."""
        return sum(len(piece) for call in self._calls for piece in call.pieces)

    def add(self, raw: Any) -> None:
        """Take one entry of ``tool_calls``, or a ``function_call``; junk is passed over."""
        if not isinstance(raw, Mapping):
            return
        piece = _piece(raw)
        call = self._by_index.get(piece.index)
        if piece.index is None:
            call = self._with_id(piece.id) or (self._calls[-1] if self._calls else None)
        if call is None or _starts_another(call, piece):
            unnamed = "" if call is None or piece.id else call.name
            call = _Call(piece.id, piece.name or unnamed)
            self._calls.append(call)
        self._by_index[piece.index] = call
        call.id = call.id or piece.id
        call.name = call.name or piece.name
        call.pieces.append(piece.arguments)

    def calls(self, used_ids: Collection[str] = ()) -> tuple[ToolCall, ...]:
        """The calls, each with an id that no other call of the conversation has."""
        seen = set(used_ids)
        made: list[ToolCall] = []
        for call in self._calls:
            if _is_echo(call, made):
                continue
            identifier = call.id if call.id and call.id not in seen else f"call_{uuid4().hex}"
            seen.add(identifier)
            arguments = without_lone_surrogates(call.arguments)
            made.append(ToolCall(identifier, without_lone_surrogates(call.name), arguments))
        return tuple(made)

    def _with_id(self, identifier: str) -> _Call | None:
        if not identifier:
            return None
        return next((call for call in self._calls if call.id == identifier), None)


def _piece(raw: Mapping[str, Any]) -> _Piece:
    function = raw.get("function")
    fields = function if isinstance(function, Mapping) else raw
    index = raw.get("index")
    return _Piece(
        index if isinstance(index, int) else None,
        str(raw.get("id") or ""),
        str(fields.get("name") or "").strip(),
        _as_text(fields.get("arguments")),
    )


def _as_text(arguments: Any) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)


def _starts_another(call: _Call, piece: _Piece) -> bool:
    """Whether a piece that came in the place of ``call`` begins a call of its own."""
    if piece.id and call.id and piece.id != call.id:
        return True
    if piece.name and call.name and piece.name != call.name:
        return True
    named_again = bool(piece.name) and not piece.id
    # No text that goes on after a whole object can be its continuation.
    goes_on = named_again or piece.arguments.lstrip().startswith("{")
    return goes_on and _is_whole(call.arguments)


def _is_echo(call: _Call, before: list[ToolCall]) -> bool:
    """Whether nothing was asked for: no name, or the last one's name said once more."""
    if call.arguments or call.id:
        return False
    return not call.name or bool(before and before[-1].name == call.name)


def _is_whole(arguments: str) -> bool:
    if not arguments.rstrip().endswith("}"):
        return False
    try:
        json.loads(arguments)
    except ValueError:
        return False
    return True
