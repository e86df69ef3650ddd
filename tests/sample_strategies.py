"""Samples of every shape a run can leave, for tests that hold for each of them."""

from __future__ import annotations

import string
from dataclasses import replace
from typing import Any

from event_strategies import json_values, values_of
from hypothesis import strategies as st

from cellwright.exports.sample import (
    NoticeGiven,
    ReplyGiven,
    SampleCell,
    SampleRecord,
    SampleTask,
    SampleTime,
    Score,
    ToolCalled,
    WrittenCell,
    format_messages,
)
from cellwright.record.content import Content
from cellwright.record.messages import AssistantMessage, ImagePart, Message, TextPart, ToolCall
from cellwright.record.outputs import Output, to_nbformat

__all__ = ["messages", "samples"]

words = st.text(st.characters(codec="utf-8"), max_size=8)
numbers = st.floats(0, 1e6, allow_nan=False, width=32)
base64_text = st.text(string.ascii_letters, max_size=8)
parts = st.builds(TextPart, words) | st.builds(
    ImagePart, st.sampled_from(["image/png", "image/jpeg"]), base64_text, words
)


def _with_parts(message: Any, given: tuple[Any, ...]) -> Any:
    return replace(message, parts=given) if hasattr(message, "parts") else message


calls = st.builds(ToolCall, words, words, st.sampled_from(["{}", '{"code": "x"}', "[1]", "{bro"]))
said = st.builds(AssistantMessage, words, st.lists(calls, max_size=2).map(tuple), words, words)
others = st.builds(_with_parts, values_of(Message), st.lists(parts, max_size=2).map(tuple))
messages = st.lists(said | others, max_size=3).map(tuple)


def _shown(output: Output) -> dict[str, Any]:
    """An output as nbformat has it, with a count that a kernel can have given."""
    plain = to_nbformat(output)
    return plain | ({"execution_count": 1} if "execution_count" in plain else {})


outputs = values_of(Output).map(_shown)
cells = st.builds(
    SampleCell,
    words,
    st.sampled_from(["agent", "user"]),
    words,
    st.sampled_from(["", "ok", "error"]),
    outputs=st.lists(outputs, max_size=2).map(tuple),
    seconds=numbers,
    at=numbers,
    call_id=words,
)
tasks = st.builds(
    SampleTask, words, st.integers(-9, 9) | words, epoch=st.integers(1, 3), group=words
)
tools = st.fixed_dictionaries(
    {"name": words, "description": words, "parameters": st.just({"type": "object"})}
)
usages = st.dictionaries(
    st.sampled_from(["prompt_tokens", "completion_tokens", "cached_tokens"]), st.integers(1, 99)
)
scores = st.builds(Score, words, st.none() | st.floats(0, 1), st.booleans(), words, words)


replies = st.builds(
    ReplyGiven, numbers, st.none(), st.integers(1, 9), words, words, usages, attempts=st.just(2)
)
pieces = st.lists(words.map(lambda text: Content("text", {"info": text})), max_size=2).map(tuple)
called = st.builds(
    ToolCalled,
    numbers,
    words,
    words,
    st.sampled_from(["ok", "refused"]),
    words,
    numbers,
    contents=pieces,
)
events = replies | called | st.builds(NoticeGiven, words)


def _several(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=2).map(tuple)


samples: st.SearchStrategy[SampleRecord] = st.builds(
    SampleRecord,
    words,
    run_id=words,
    suite=words,
    agent=words,
    task=tasks,
    input=words,
    target=words,
    setup=_several(words),
    cells=_several(cells),
    written=_several(st.builds(WrittenCell, words, st.just("code"), words)),
    events=_several(events),
    status=st.sampled_from(["completed", "cancelled", "task error", "agent context limit"]),
    error=words,
    limit=st.sampled_from(["", "step_limit", "cell_limit"]),
    retries=st.integers(0, 3),
    result=json_values,
    tools=_several(tools),
    scores=_several(scores),
    usage=usages,
    cost_dollars=st.none() | numbers,
    files=st.dictionaries(words, words, max_size=2),
    model=st.fixed_dictionaries({"model": words}),
    time=st.builds(SampleTime, numbers, numbers),
    env=st.just({"version": "1"}) | st.just({}),
    run=st.just({"lane": "bench", "limits": {"step_limit": 3}}) | st.just({}),
    messages=messages.map(format_messages),
)
