"""The next reply: a plan is chosen by the prompt's words and run as far as results are known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cellwright.agent.typed_answers import TypedAnswers, typed_answers_in
from cellwright.demo.columns import Column, TableColumns
from cellwright.demo.loading import convert, load
from cellwright.demo.matching import left_over, read_query
from cellwright.demo.own_tools import asked_call
from cellwright.demo.sources import find_source
from cellwright.demo.steps import CannotGoOnError, DemoCall, Steps
from cellwright.demo.tasks import (
    ABILITIES,
    GREETING,
    NO_TOOL,
    NOTICE,
    answer_from_library,
    answer_question,
    asks_library,
    clean_missing,
    describe,
    draw_plot,
    fix_last_cell,
    run_snippet,
)
from cellwright.demo.transcript import DemoConversation, read_conversation, without_footer
from cellwright.demo.wishes import PromptWish, Task, read_wish
from cellwright.demo.work import Work, results_in

STEP_LIMIT = 10
HAND_IN = "hand_in"
SAMPLED = "`{path}` is large: this is about its first {rows:,} rows."
ONLY_RULES = "I have rules for text, numbers, tables and plots only."
FRAME_TASKS: Mapping[Task, Callable[[Work], Steps[str]]] = {
    "clean": clean_missing,
    "profile": describe,
    "question": answer_question,
    "plot": draw_plot,
}


@dataclass(frozen=True)
class DemoReply:
    """A reply: words, and perhaps one tool call."""

    text: str
    call: DemoCall | None = None


def next_answer(
    messages: Sequence[Mapping[str, Any]], tools: Collection[str], forced_tool: str = ""
) -> DemoReply:
    """What the demo model says next.

    Args:
        messages: The conversation, in OpenAI's shape.
        tools: Names of the tools the request offers, or their schemas by name.
        forced_tool: A tool the request wants called, whatever the words.
    """
    conversation = read_conversation(messages, can_call=bool(tools))
    answer = _answer(conversation, tools, forced_tool)
    if not conversation.is_first_reply:
        return answer
    return DemoReply(f"{NOTICE}\n\n{answer.text}".strip(), answer.call)


def _answer(conversation: DemoConversation, tools: Collection[str], forced_tool: str) -> DemoReply:
    if forced_tool:
        return DemoReply("", DemoCall("", forced_tool, {}))
    wanted = typed_answers_in(conversation.prompt) if HAND_IN in tools else None
    if wanted is None:
        plan = _plan(conversation, tools)
    else:
        plan = _typed(replace(conversation, prompt=wanted.body), tools, wanted)
    try:
        call = next(plan)
        for exchange in conversation.exchanges:
            call = plan.send(exchange.result)
    except StopIteration as stopped:
        return DemoReply(str(stopped.value))
    except CannotGoOnError as ended:
        return DemoReply(str(ended))
    if len(conversation.exchanges) >= STEP_LIMIT:
        return DemoReply(
            f"I stop here after {STEP_LIMIT} steps; what ran so far stays in the kernel."
        )
    if call.tool not in tools:
        return DemoReply(_unfinished(conversation, call))
    return DemoReply(call.text, call)


def _unfinished(conversation: DemoConversation, call: DemoCall) -> str:
    steps = len(conversation.exchanges)
    if not steps:
        return NO_TOOL
    many = "1 step" if steps == 1 else f"{steps} steps"
    return f"I had to stop after {many}. Next I would have done this: {call.text}"


def _typed(
    conversation: DemoConversation, tools: Collection[str], wanted: TypedAnswers
) -> Steps[str]:
    """The same work, and what came of it as typed results."""
    answer = yield from _plan(conversation, tools)
    results = results_in(answer, wanted.outputs, [each.result for each in conversation.exchanges])
    if results.missing:
        names = ", ".join(f"`{field.name}: {field.type_name}`" for field in results.missing)
        return (
            f"{answer}\n\nI have rules for text, numbers, tables and plots, and none for {names}."
        )
    refused = yield DemoCall("I hand in the results.", HAND_IN, {"values": results.values})
    return f"My results were not taken: {refused}"


def _plan(conversation: DemoConversation, offered: Collection[str]) -> Steps[str]:
    wish, tools = read_wish(conversation.prompt), frozenset(offered)
    asked = asked_call(conversation.prompt, offered)
    if asked is not None and asked.name == HAND_IN:
        return ONLY_RULES  # reminded of what it said it cannot fill
    if asked is not None:
        if asked.missing:
            names = ", ".join(f"`{name}`" for name in asked.missing)
            written = f"`{asked.name}({asked.missing[0]}=…)`"
            return f"`{asked.name}` needs {names}. Write it like {written}."
        result = yield DemoCall(f"I call `{asked.name}`.", asked.name, asked.arguments)
        return f"`{asked.name}` answered:\n\n{without_footer(result)}"
    if "search_library" in tools and asks_library(conversation.prompt):
        return (yield from answer_from_library(conversation.prompt))
    if wish.tasks == ("fix",):
        return (yield from fix_last_cell(tools))
    if wish.tasks == ("run",):
        return (yield from run_snippet(wish.snippet, tools))
    if wish.tasks == ("greet",):
        return GREETING
    if wish.tasks == ("help",) or not conversation.prompt:
        return ABILITIES
    return (yield from _about_data(conversation, wish, tools))


def _about_data(
    conversation: DemoConversation, wish: PromptWish, tools: frozenset[str]
) -> Steps[str]:
    if not wish.tasks and not _is_only_data(conversation, wish):
        return ABILITIES
    source = yield from find_source(conversation, tools)
    frame = yield from load(source, tools)
    tasks: tuple[Task, ...] = wish.tasks or ("profile",)
    table = yield from convert(frame, _needed(tasks, wish, frame), copy=bool(source.variable))
    sampled = (SAMPLED.format(path=source.path, rows=frame.rows),) if source.is_large else ()
    work = Work(wish, table.frame, tools, (*sampled, *table.notes))
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


def _is_only_data(conversation: DemoConversation, wish: PromptWish) -> bool:
    """Whether data is named and hardly anything else said."""
    names_data = (
        bool(conversation.files or conversation.variables) or wish.text != conversation.prompt
    )
    return names_data and len(wish.text.split()) <= 3


def _needed(tasks: tuple[Task, ...], wish: PromptWish, frame: TableColumns) -> tuple[Column, ...]:
    """The columns whose text has to be read as numbers or dates."""
    if "profile" in tasks or "clean" in tasks:
        return frame.columns
    query = read_query(wish, frame)
    return query.columns if query is not None else frame.columns
