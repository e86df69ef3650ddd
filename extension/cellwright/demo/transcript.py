"""The messages of a request, read as a conversation: what was asked, what was called, what came."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

BLOCK = re.compile(
    r"<(?P<tag>examples|files|context|variables|notebook-state)>\n(?P<body>.*?)\n</(?P=tag)>", re.S
)

RESULT = re.compile(r"<tool-result>\n?(.*?)\n?</tool-result>", re.S)
"""What a tool gave, in the envelope in which it is sent."""
NOTICE = "Notice: "
"""How words begin that are about the run, such as how many steps are left."""


@dataclass(frozen=True)
class Exchange:
    """One tool call of the model and what came back."""

    tool: str
    arguments: Mapping[str, Any]
    result: str


@dataclass(frozen=True)
class Conversation:
    """What the request tells."""

    prompt: str
    """The person's newest words, without what was attached for them."""
    files: str = ""
    """The block that lists attached files."""
    variables: str = ""
    """The block that lists variables named with ``@``."""
    states: tuple[str, ...] = ()
    """What the notebook was like at each turn, oldest first."""
    exchanges: tuple[Exchange, ...] = ()
    """Calls and results since the prompt."""
    earlier: tuple[Exchange, ...] = ()
    """Calls and results of earlier turns."""
    is_first_reply: bool = True
    """The model has not said anything yet."""


def read_conversation(
    messages: Iterable[Mapping[str, Any]], *, can_call: bool = True
) -> Conversation:
    """The newest turn of ``messages`` and what is known from the turns before.

    Args:
        messages: As a client sends them.
        can_call: Whether the request offers tools. Without them, words that follow a tool's
            result ask for the end of the same turn.
    """
    listed = list(messages)
    start = _turn_start(listed, can_call)
    text = _text(listed[start]) if start >= 0 else ""
    blocks = {found["tag"]: found["body"] for found in BLOCK.finditer(text)}
    users = [_text(m) for m in listed[: start + 1] if m.get("role") == "user"]
    return Conversation(
        prompt=BLOCK.sub("", text).strip(),
        files=blocks.get("files", ""),
        variables=blocks.get("variables", ""),
        states=tuple(
            found["body"]
            for user in users
            for found in BLOCK.finditer(user)
            if found["tag"] == "notebook-state"
        ),
        exchanges=_exchanges(listed[start + 1 :]),
        earlier=_exchanges(listed[: start + 1]),
        is_first_reply=not any(m.get("role") == "assistant" for m in listed),
    )


def _turn_start(messages: list[Mapping[str, Any]], can_call: bool) -> int:
    """The place of the message that began the newest turn; -1 when there is none."""
    places = [i for i, message in enumerate(messages) if message.get("role") == "user"]
    if len(places) > 1 and messages[places[-1] - 1].get("role") == "tool":
        said = _text(messages[places[-1]])
        if not can_call or said.startswith(NOTICE):
            places.pop()
    return places[-1] if places else -1


def _exchanges(messages: list[Mapping[str, Any]]) -> tuple[Exchange, ...]:
    results = {m.get("tool_call_id"): _result(m) for m in messages if m.get("role") == "tool"}
    return tuple(
        Exchange(call["function"]["name"], _arguments(call), results[call["id"]])
        for message in messages
        for call in message.get("tool_calls") or ()
        if call["id"] in results
    )


def _arguments(call: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        found = json.loads(call["function"]["arguments"])
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _result(message: Mapping[str, Any]) -> str:
    return RESULT.sub(r"\1", _text(message))


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
