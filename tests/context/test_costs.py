"""What is in the context, part by part."""

from __future__ import annotations

from cellwright.context.assemble import PROJECT_MARK, Quoted, user_message
from cellwright.context.pins import PinnedTurn
from cellwright.context.turns import PICTURE_TOKENS, HistorySummary, total_tokens
from cellwright.context.window import PARTS, context_parts
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Manifest,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

PICTURE = ImagePart("image/png", "QUJD")
MESSAGES: list[Message] = [
    SystemMessage("Work well."),
    HistorySummary("words").message(),
    *PinnedTurn("r", "Keep this.", AssistantMessage("Kept.")).messages,
    UserMessage(
        (TextPart(f"Why?\n\n<context>\n{PROJECT_MARK}a:\n  b\ncell:\n  x\n</context>"), PICTURE)
    ),
    AssistantMessage(tool_calls=(ToolCall("a", "run_cell", '{"code": "x"}'),)),
    ToolMessage("a", "run_cell", (TextPart("1"), PICTURE)),
    AssistantMessage("Because.", (ToolCall("b", "run_cell", "{}"),)),
    AssistantMessage(),
]


def test_every_part_is_named_counted_and_nothing_is_counted_twice() -> None:
    tool = Manifest("run_cell", "Run code.", {"type": "object"})
    parts = {part.name: part for part in context_parts(MESSAGES, [tool])}
    assert tuple(parts) == PARTS
    assert parts["calls"].pieces == 2
    assert parts["answers"].pieces == 2
    assert parts["pictures"].tokens == 2 * PICTURE_TOKENS
    frames = 4  # of the message that has calls and nothing else
    whole = sum(part.tokens for part in parts.values()) - parts["tools"].tokens
    assert whole == total_tokens(MESSAGES) - frames


def test_what_is_not_there_is_not_told() -> None:
    assert [part.name for part in context_parts([UserMessage((TextPart("Hi"),))])] == ["questions"]
    assert context_parts([]) == ()


def test_what_a_project_says_is_counted_apart_from_the_rest_beside_a_question() -> None:
    rules = "Use tabs.\n\nNever use spaces. " * 40
    beside = (Quoted(f"{PROJECT_MARK}1 AGENTS.md", rules), Quoted("cell 1", "x = 1"))
    parts = {part.name: part for part in context_parts([user_message("Why?", context=beside)])}
    told = parts["project instructions"]
    assert told.pieces == 1
    assert len(rules) / 4 <= told.tokens <= len(rules) / 2
    assert 0 < parts["put beside questions"].tokens < 30
