"""Requests as strict services check them: OpenAI's rules, and a template that wants turns."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.record.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
)

__all__ = ["check_as_openai", "check_as_template"]


def check_as_openai(messages: Sequence[Message]) -> None:
    """Every call answered once and at once, unique ids, nothing empty, one system message first."""
    seen: set[str] = set()
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            assert waiting, "a result without a call"
            assert message.call_id == waiting.pop(0)
            continue
        assert not waiting, "a call without a result"
        assert not isinstance(message, SystemMessage) or index == 0
        if isinstance(message, AssistantMessage):
            assert message.text.strip() or message.tool_calls or message.refusal
            waiting = [c.id for c in message.tool_calls]
            assert not seen & set(waiting)
            assert len(set(waiting)) == len(waiting)
            assert all(waiting)
            seen |= set(waiting)
    assert not waiting


def check_as_template(messages: Sequence[Message]) -> None:
    """vLLM's Mistral template and Gemini: words in turn, the person first, results then words."""
    check_as_openai(messages)
    body = [m for m in messages if not isinstance(m, SystemMessage)]
    assert isinstance(body[0], UserMessage)
    assert isinstance(body[-1], (UserMessage, ToolMessage))
    for last, message in zip(body, body[1:], strict=False):
        pair = (last.role, message.role)
        assert pair in {
            ("user", "assistant"),
            ("assistant", "user"),
            ("assistant", "tool"),
            ("tool", "tool"),
            ("tool", "assistant"),
        }
