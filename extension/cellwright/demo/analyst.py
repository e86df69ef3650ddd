"""The next reply: a plan is chosen by the prompt's words and run as far as results are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.demo.columns import Column, Frame
from cellwright.demo.loading import convert, load
from cellwright.demo.matching import left_over, read_query
from cellwright.demo.plans.cleaning import clean_missing
from cellwright.demo.plans.fixing import fix_last_cell, run_snippet
from cellwright.demo.plans.plots import draw_plot
from cellwright.demo.plans.profile import describe
from cellwright.demo.plans.questions import answer_question
from cellwright.demo.plans.talk import ABILITIES, GREETING, NO_TOOL, NOTICE
from cellwright.demo.sources import find_source
from cellwright.demo.steps import Call, CannotGoOnError, Steps
from cellwright.demo.transcript import Conversation, read_conversation
from cellwright.demo.vocabulary import Task
from cellwright.demo.wishes import Wish, read_wish
from cellwright.demo.work import Work

__all__ = ["Answer", "next_answer"]

STEP_LIMIT = 10
TOOL_NAMED = re.compile(
    r"\b(?:call|use|invoke|run)\s+(?:the\s+)?(?:tool\s+|function\s+)?[`'\"]?(\w+)", re.I
)
FRAME_TASKS: Mapping[Task, Callable[[Work], Steps[str]]] = {
    "clean": clean_missing,
    "profile": describe,
    "question": answer_question,
    "plot": draw_plot,
}


@dataclass(frozen=True)
class Answer:
    """A reply: words, and perhaps one tool call."""

    text: str
    call: Call | None = None


def next_answer(
    messages: Sequence[Mapping[str, Any]], tools: frozenset[str], forced_tool: str = ""
) -> Answer:
    """What the demo model says next.

    Args:
        messages: The conversation, in OpenAI's shape.
        tools: Names of the tools the request offers.
        forced_tool: A tool the request wants called, whatever the words.
    """
    conversation = read_conversation(messages, can_call=bool(tools))
    answer = _answer(conversation, tools, forced_tool)
    if not conversation.is_first_reply:
        return answer
    return Answer(f"{NOTICE}\n\n{answer.text}".strip(), answer.call)


def _answer(conversation: Conversation, tools: frozenset[str], forced_tool: str) -> Answer:
    if forced_tool:
        return Answer("", Call("", forced_tool, {}))
    plan = _plan(conversation, tools)
    try:
        call = next(plan)
        for exchange in conversation.exchanges:
            call = plan.send(exchange.result)
    except StopIteration as stopped:
        return Answer(str(stopped.value))
    except CannotGoOnError as ended:
        return Answer(str(ended))
    if len(conversation.exchanges) >= STEP_LIMIT:
        return Answer(f"I stop here after {STEP_LIMIT} steps; what ran so far stays in the kernel.")
    if call.tool not in tools:
        return Answer(_unfinished(conversation, call))
    return Answer(call.text, call)


def _unfinished(conversation: Conversation, call: Call) -> str:
    steps = len(conversation.exchanges)
    if not steps:
        return NO_TOOL
    many = "1 step" if steps == 1 else f"{steps} steps"
    return f"I had to stop after {many}. Next I would have done this: {call.text}"


def _plan(conversation: Conversation, tools: frozenset[str]) -> Steps[str]:
    wish = read_wish(conversation.prompt)
    named = [name for name in TOOL_NAMED.findall(conversation.prompt) if name in tools]
    if named:
        result = yield Call(f"I call `{named[0]}`.", named[0], {})
        return f"`{named[0]}` answered:\n\n{result}"
    if wish.tasks == ("fix",):
        return (yield from fix_last_cell(tools))
    if wish.tasks == ("run",):
        return (yield from run_snippet(wish.snippet, tools))
    if wish.tasks == ("greet",):
        return GREETING
    if wish.tasks == ("help",) or not conversation.prompt:
        return ABILITIES
    return (yield from _about_data(conversation, wish, tools))


def _about_data(conversation: Conversation, wish: Wish, tools: frozenset[str]) -> Steps[str]:
    if not wish.tasks and not _is_only_data(conversation, wish):
        return ABILITIES
    source = yield from find_source(conversation, tools)
    frame = yield from load(source, tools)
    tasks: tuple[Task, ...] = wish.tasks or ("profile",)
    table = yield from convert(frame, _needed(tasks, wish, frame), copy=bool(source.variable))
    work = Work(wish, table.frame, tools, table.notes)
    parts = []
    for task in tasks:
        parts.append((yield from FRAME_TASKS[task](work)))
    return "\n\n".join([*parts, *(f"- {note}" for note in _notes(work, tasks))])


def _notes(work: Work, tasks: tuple[Task, ...]) -> list[str]:
    unused = left_over(work.wish, work.frame) if {"question", "plot"} & set(tasks) else []
    if not unused:
        return list(work.notes)
    words = ", ".join(repr(word) for word in unused)
    return [*work.notes, f"I took all rows: I cannot pick rows by {words}."]


def _is_only_data(conversation: Conversation, wish: Wish) -> bool:
    """Whether data is named and hardly anything else said."""
    names_data = (
        bool(conversation.files or conversation.variables) or wish.text != conversation.prompt
    )
    return names_data and len(wish.text.split()) <= 3


def _needed(tasks: tuple[Task, ...], wish: Wish, frame: Frame) -> tuple[Column, ...]:
    """The columns whose text has to be read as numbers or dates."""
    if "profile" in tasks or "clean" in tasks:
        return frame.columns
    query = read_query(wish, frame)
    return query.columns if query is not None else frame.columns
